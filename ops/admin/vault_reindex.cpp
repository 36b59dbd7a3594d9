#include "ops/define.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace vault_reindex_op {

struct Input {
  bool rebuild = false;
  std::vector<std::string> paths;
};
struct Output {
  JsonObject counts;
};

Result<Output> run(Context& ctx, const Input& in) {
  const Json inputs{{"rebuild", in.rebuild}, {"paths", in.paths}};
  const Json counts = INDX_TRY(
      ctx.step("reindex", inputs, [&] { return ctx.index().reindex(in.rebuild, in.paths); }));
  return Output{JsonObject{counts}};
}

}  // namespace vault_reindex_op

Operation vault_reindex() {
  using namespace vault_reindex_op;
  return define<Input, Output>({
      .name = "vault_reindex",
      .summary = "Bring the index up to date with the files, or rebuild it.",
      .guidance = "Seldom needed: the index follows changes by itself. Runs as a job.",
      .scopes = {Scope::VaultAdmin},
      .route = {"POST", "/v1/vault/reindex"},
      .cli = "vault index",
      .execution = Execution::Job,
      .effect = Effect::Writes,
      .is_idempotent = true,
      .input = {field("rebuild", &Input::rebuild, "Start from nothing.", optional),
                field("paths", &Input::paths, "Only these paths; left out: the whole vault.",
                      optional, length(0, 100000))},
      .output = {field("counts", &Output::counts, "What was looked at and changed.")},
      .handler = run,
  });
}

}  // namespace indx
