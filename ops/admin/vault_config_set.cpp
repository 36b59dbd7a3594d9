#include "ops/admin/vault_config.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace vault_config_set_op {

struct Input {
  JsonObject values;
};
struct Output {
  std::vector<ConfigKeyView> config;
  bool needs_restart = true;
};

Result<Output> run(Context& ctx, const Input& in) {
  INDX_TRY(change_config_file(ctx.config().index_dir, in.values.value));
  Output out{INDX_TRY(view_config(ctx)), true};
  std::erase_if(out.config, [&](const auto& row) { return !in.values.value.contains(row.key); });
  return out;
}

}  // namespace vault_config_set_op

Operation vault_config_set() {
  using namespace vault_config_set_op;
  return define<Input, Output>({
      .name = "vault_config_set",
      .title = "Set the configuration",
      .summary = "Set keys of the vault's configuration.",
      .guidance = "Only when the user asks for it, after vault_config_get. Secrets are refused: "
                  "they belong into the environment. A running server takes "
                  "the values at its next start.",
      .scopes = {Scope::VaultAdmin},
      .route = {"PUT", "/v1/vault/config"},
      .cli_positional = {"values"},
      .example = "http.workers=16",
      .effect = Effect::Writes,
      .is_idempotent = true,
      .input = {field(
          "values", &Input::values,
          "Key and value each, such as `{\"http.workers\": 16}`; null takes one away.")},
      .output = {field("config", &Output::config, "The keys that were given, as they are now."),
                 field("needs_restart", &Output::needs_restart,
                       "True: a running server goes on with what it has.")},
      .failures = {{Reason::ValidationFailed,
                    "A key is not known, is a secret, or has a value that it cannot have; nothing "
                    "was written."}},
      .handler = run,
  });
}

}  // namespace indx
