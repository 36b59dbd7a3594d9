#include "ops/admin/token_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace token_list_op {

struct Input {};
struct Output {
  std::vector<TokenView> tokens;
};

Result<Output> run(Context& ctx, const Input&) {
  const auto rows = INDX_TRY(ctx.tokens().list());
  Output out;
  for (const auto& row : rows) Codec<TokenView>::decode(row, out.tokens.emplace_back());
  return out;
}

}  // namespace token_list_op

Operation token_list() {
  using namespace token_list_op;
  return define<Input, Output>({
      .name = "token_list",
      .summary = "List the access tokens, without their secrets.",
      .scopes = {Scope::VaultAdmin},
      .route = {"GET", "/v1/tokens"},
      .is_idempotent = true,
      .tool_group = "vault_lists",
      .output = {field("tokens", &Output::tokens, "All tokens, revoked ones too.")},
      .list = "tokens",
      .handler = run,
  });
}

}  // namespace indx
