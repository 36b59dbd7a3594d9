#include "ops/admin/index_named.hpp"
#include "ops/define.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace vault_index_paths_op {

struct Input {
  std::vector<std::string> paths;
  bool rebuild = false;
};
struct Output {
  std::int64_t created = 0, updated = 0, deleted = 0, unchanged = 0, failed = 0, took_ms = 0;
  std::vector<std::string> unmatched;
};

Result<Output> run(Context& ctx, const Input& in) {
  const auto patterns = INDX_TRY(vault_patterns(in.paths));
  const Json counts = INDX_TRY(index_named(ctx, "", patterns, in.rebuild));
  return Output{counts["created"], counts["updated"], counts["deleted"],  counts["unchanged"],
                counts["failed"],  counts["took_ms"], counts["unmatched"]};
}

}  // namespace vault_index_paths_op

Operation vault_index_paths() {
  using namespace vault_index_paths_op;
  return define<Input, Output>({
      .name = "vault_index_paths",
      .summary = "Bring the index up to date with named files, folders or globs.",
      .guidance =
          "Seldom needed: the index follows changes by itself. Leaves every other file's rows as "
          "they are. A job that goes on where it was, also with a long list.",
      .scopes = {Scope::VaultAdmin},
      .route = {"POST", "/v1/vault/index-paths"},
      .cli = "vault index-paths",
      .example = "--paths Projects 'Inbox/**'",
      .execution = Execution::Job,
      .effect = Effect::Writes,
      .is_idempotent = true,
      .tool_group = "vault_manage",
      .input = {field("paths", &Input::paths, "Vault-relative files, folders or globs.", vault_path,
                      length(1, 100000)),
                field("rebuild", &Input::rebuild, "Read unchanged files again too.", optional)},
      .output = {field("created", &Output::created, "Files that the index did not know."),
                 field("updated", &Output::updated, "Files that it knew otherwise."),
                 field("deleted", &Output::deleted, "Files that are gone."),
                 field("unchanged", &Output::unchanged, "Files that it knew as they are."),
                 field("failed", &Output::failed, "Files that could not be read."),
                 field("took_ms", &Output::took_ms, "Milliseconds of indexing."),
                 field("unmatched", &Output::unmatched, "Of `paths`, what names no file.")},
      .failures = {{Reason::ValidationFailed, "A path leads out of the vault."},
                   {Reason::Conflict, "The whole vault is being indexed."}},
      .handler = run,
  });
}

}  // namespace indx
