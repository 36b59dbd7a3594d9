#include "ops/define.hpp"
#include "ops/operations.hpp"

#include <algorithm>

namespace indx {
namespace token_create_op {

struct Input {
  std::string name;
  std::vector<std::string> scopes = {"vault:read"};
  std::vector<std::string> path_globs;
};
struct Output {
  std::string id, token, name;
  std::vector<std::string> scopes, path_globs;
};

/// A token that is bound to globs may only hand on some of its own.
Status check_globs(const Principal& principal, const std::vector<std::string>& globs) {
  if (principal.path_globs.empty()) return {};
  const bool narrower =
      !globs.empty() && std::all_of(globs.begin(), globs.end(), [&](const std::string& glob) {
        return std::find(principal.path_globs.begin(), principal.path_globs.end(), glob) !=
               principal.path_globs.end();
      });
  if (narrower) return {};
  return make_error(
      Reason::Forbidden,
      "A new token must not reach more than the token that makes it: give some of its path_globs.",
      Json{{"path_globs", principal.path_globs}});
}

Result<Output> run(Context& ctx, const Input& in) {
  INDX_TRY(check_globs(ctx.principal(), in.path_globs));
  const NewToken made = INDX_TRY(ctx.tokens().create(in.name, in.scopes, in.path_globs));
  return Output{made.id, made.secret, in.name, in.scopes, in.path_globs};
}

}  // namespace token_create_op

Operation token_create() {
  using namespace token_create_op;
  return define<Input, Output>({
      .name = "token_create",
      .summary = "Make an access token; its secret is shown once.",
      .guidance = "Give the least scopes and the narrowest globs that do.",
      .scopes = {Scope::VaultAdmin},
      .route = {"POST", "/v1/tokens"},
      .cli_positional = {"name"},
      .example = "laptop --scopes vault:read",
      .effect = Effect::Writes,
      .wants_consent = [](const Input&) { return true; },
      .tool_group = "vault_manage",
      .input = {field("name", &Input::name, "What it is for.", length(1, 200)),
                field("scopes", &Input::scopes,
                      "What it may do; each scope includes those before it.", optional,
                      length(1, 3), one_of({"vault:read", "vault:write", "vault:admin"})),
                field("path_globs", &Input::path_globs, "Where; left out: the whole vault.",
                      optional, length(0, 100))},
      .output = {field("id", &Output::id, "Public name of the token."),
                 field("token", &Output::token, "The secret. Keep it now: it is not stored.",
                       secret),
                 field("name", &Output::name, "What it is for."),
                 field("scopes", &Output::scopes, "What it may do."),
                 field("path_globs", &Output::path_globs, "Where; empty: the whole vault.")},
      .failures = {{Reason::Forbidden, "The new token would reach more than yours."}},
      .success_status = 201,
      .handler = run,
  });
}

}  // namespace indx
