#include "ops/admin/index_named.hpp"
#include "ops/define.hpp"
#include "ops/operations.hpp"
#include "ops/retrieval.hpp"

namespace indx {
namespace vault_reindex_op {

struct Input {
  bool rebuild = false, reset_db = false;
  std::vector<std::string> paths;
};
struct Output {
  JsonObject counts;
};

/// A command is told at once that a part of the index is of no use (R20); a server goes on by words
/// and warns.
Status check_model(Context& ctx, const Input& in) {
  if (in.reset_db || ctx.principal().surface != Surface::Cli) return {};
  if (INDX_TRY(ctx.retrieval().vectors()) != Vectors::OtherModel) return {};
  return make_error(Reason::Conflict,
                    "The vectors of the index are of another model than " +
                        ctx.retrieval().model() +
                        ". Index with --reset-db, or make them anew: indx vault embed --reset.",
                    Json{{"model", ctx.retrieval().model()}});
}

Result<Output> run(Context& ctx, const Input& in) {
  if (in.reset_db && !in.paths.empty())
    return invalid("`reset_db` empties the whole index, so it cannot be limited to `paths`.",
                   Json{{"path", "paths"}});
  INDX_TRY(check_model(ctx, in));
  if (!in.paths.empty()) {
    const auto patterns = INDX_TRY(vault_patterns(in.paths));
    return Output{JsonObject{INDX_TRY(index_named(ctx, "", patterns, in.rebuild))}};
  }
  const Json inputs{{"rebuild", in.rebuild}, {"reset_db", in.reset_db}};
  Index::Reindex request{.rebuild = in.rebuild, .reset_db = in.reset_db};
  request.once = [&](const std::function<Result<Json>()>& empty) {
    return ctx.step("empty", inputs, empty);
  };
  const Json counts =
      INDX_TRY(ctx.step("reindex", inputs, [&] { return ctx.index().reindex(request); }));
  return Output{JsonObject{counts}};
}

}  // namespace vault_reindex_op

Operation vault_reindex() {
  using namespace vault_reindex_op;
  return define<Input, Output>({
      .name = "vault_reindex",
      .title = "Update the index",
      .summary = "Bring the index up to date with the files, or rebuild it.",
      .guidance = "Seldom needed: the index follows changes by itself. Runs as a job and tells its "
                  "progress. `paths` leaves every other file's rows as they are.",
      .scopes = {Scope::VaultAdmin},
      .route = {"POST", "/v1/vault/reindex"},
      .cli = "vault index",
      .execution = Execution::Job,
      .effect = Effect::Writes,
      .is_idempotent = true,
      .input = {field("rebuild", &Input::rebuild, "Read unchanged files again too.", optional),
                field("reset_db", &Input::reset_db,
                      "Throw index.db away and make it anew; nothing is lost but time.", optional),
                field("paths", &Input::paths,
                      "Only these files, folders or globs; left out: the whole vault.", optional,
                      vault_path, length(0, 100000))},
      .output = {field("counts", &Output::counts, "What was looked at and changed.")},
      .failures = {{Reason::Conflict,
                    "Indexing is already running; or, for a command, the vectors are of another "
                    "model than the configured one."}},
      .handler = run,
  });
}

}  // namespace indx
