#include "base/edit_distance.hpp"
#include "base/text.hpp"
#include "ops/admin/vault_config.hpp"
#include "ops/operations.hpp"

#include <algorithm>

namespace indx {

Fields<ConfigKeyView> ConfigKeyView::fields() {
  return {field("key", &ConfigKeyView::key, "Name, such as `http.workers`."),
          field("value", &ConfigKeyView::value,
                "In force at the next start; of a secret only whether it is set."),
          field("source", &ConfigKeyView::source, "Where it is set.",
                one_of({"default", "file", "environment"})),
          field("is_settable", &ConfigKeyView::is_settable,
                "Whether vault_config_set can set it; else the environment does."),
          field("variable", &ConfigKeyView::variable,
                "The environment variable that sets it too; empty: none."),
          field("about", &ConfigKeyView::about, "What it does.")};
}

Result<std::vector<ConfigKeyView>> view_config(Context& ctx) {
  const Json effective = INDX_TRY(effective_config(ctx.config().vault_dir, process_environment()));
  std::vector<ConfigKeyView> keys;
  for (const auto& [key, row] : effective.items())
    keys.push_back({key, row["value"], row["source"].get<std::string>(),
                    row["is_settable"].get<bool>(), row["variable"].get<std::string>(),
                    row["about"].get<std::string>()});
  std::sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  return keys;
}

namespace vault_config_get_op {

struct Input {
  std::string key;
};
struct Output {
  std::vector<ConfigKeyView> config;
};

Result<Output> run(Context& ctx, const Input& in) {
  Output out{INDX_TRY(view_config(ctx))};
  if (in.key.empty()) return out;
  std::string nearest;
  std::size_t best = 4;
  for (const auto& row : out.config)
    if (const auto d = edit_distance(in.key.substr(0, 64), row.key); d < best)
      best = d, nearest = row.key;
  std::erase_if(out.config, [&](const auto& row) {
    return row.key != in.key && !row.key.starts_with(in.key + ".");
  });
  if (!out.config.empty()) return out;
  return not_found(cat("`", in.key, "` is no key of the configuration.",
                       nearest.empty() ? "" : cat(" Did you mean `", nearest, "`?")),
                   Json{{"key", in.key}});
}

}  // namespace vault_config_get_op

Operation vault_config_get() {
  using namespace vault_config_get_op;
  return define<Input, Output>({
      .name = "vault_config_get",
      .title = "Show the configuration",
      .summary = "Show the configuration as it is in force, and where each key is set.",
      .guidance =
          "Use it before vault_config_set; for how the vault is use vault_status. Secrets are "
          "not shown.",
      .scopes = {Scope::VaultAdmin},
      .route = {"GET", "/v1/vault/config"},
      .cli_positional = {"key"},
      .example = "http.workers",
      .needs = Needs::Files,
      .is_idempotent = true,
      .input = {field("key", &Input::key, "Only this key, or the keys below it.", optional,
                      length(0, 128))},
      .output = {field("config", &Output::config, "By key.")},
      .failures = {{Reason::NotFound, "There is no such key."}},
      .handler = run,
  });
}

}  // namespace indx
