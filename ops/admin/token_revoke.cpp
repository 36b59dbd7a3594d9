#include "base/text.hpp"
#include "ops/define.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace token_revoke_op {

struct Input {
  std::string id;
};
struct Output {
  std::string id;
  bool revoked = true;
};

Result<Output> run(Context& ctx, const Input& in) {
  const bool was_live = INDX_TRY(ctx.tokens().revoke(in.id));
  if (!was_live)
    return not_found(cat("No live token has the id `", in.id, "`; token_list shows them."),
                     Json{{"id", in.id}});
  return Output{in.id, true};
}

}  // namespace token_revoke_op

Operation token_revoke() {
  using namespace token_revoke_op;
  return define<Input, Output>({
      .name = "token_revoke",
      .summary = "End an access token at once, and its streams and jobs with it.",
      .scopes = {Scope::VaultAdmin},
      .route = {"DELETE", "/v1/tokens/{id}"},
      .cli_positional = {"id"},
      .example = "tok_4kq2x7",
      .effect = Effect::Destructive,
      .tool_group = "vault_manage",
      .input = {field("id", &Input::id, "Public name of the token.", length(1, 200))},
      .output = {field("id", &Output::id, "Public name of the token."),
                 field("revoked", &Output::revoked, "Always true.")},
      .failures = {{Reason::NotFound, "No live token has that id."}},
      .handler = run,
  });
}

}  // namespace indx
