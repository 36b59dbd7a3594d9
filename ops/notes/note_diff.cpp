#include "base/hash.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"
#include "ops/versions.hpp"

namespace indx {
namespace note_diff_op {

struct Input {
  std::string path;
  std::int64_t from = 0, to = 0;
};
struct Output {
  std::string path, diff;
  std::optional<std::string> from_etag, to_etag;
  std::size_t from_size = 0, to_size = 0;
  bool is_same = false;
};

/// A version's bytes; 0: what the note holds now, nothing when it is deleted.
Result<std::optional<std::string>> bytes_of(Context& ctx, const NotePath& path, std::int64_t id) {
  if (id > 0) {
    KeptVersion kept = INDX_TRY(ctx.versions().read(path, id));
    return std::optional(std::move(kept.bytes));
  }
  auto file = ctx.notes().read(path);
  if (file) return std::optional(std::move(file->bytes));
  if (file.error().reason == Reason::NotFound) return std::optional<std::string>();
  return file.error();
}

Result<Output> run(Context& ctx, const Input& in) {
  const NotePath path = INDX_TRY(NotePath::parse(in.path));
  const auto from = INDX_TRY(bytes_of(ctx, path, in.from));
  const auto to = INDX_TRY(bytes_of(ctx, path, in.to));
  Output out{.path = path.str()};
  if (from) out.from_etag = etag_of(*from), out.from_size = from->size();
  if (to) out.to_etag = etag_of(*to), out.to_size = to->size();
  out.diff = unified_diff(path.str(), from.value_or(""), to.value_or(""));
  out.is_same = from == to;
  return out;
}

}  // namespace note_diff_op

Operation note_diff() {
  using namespace note_diff_op;
  return define<Input, Output>({
      .name = "note_diff",
      .summary = "Show what changed between two versions of a note, or a version and now.",
      .guidance = "Version numbers come from note_history. To see what restoring would do, use "
                  "note_restore with `dry_run`.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/diff/{path}"},
      .cli_positional = {"path"},
      .example = "Projects/Plan.md --from 3",
      .is_idempotent = true,
      .tool_group = "note_explore",
      .input = {path_field(&Input::path),
                field("from", &Input::from, "The older version.", at_least(1)),
                field("to", &Input::to, "The newer version; 0: the note as it is now.", optional,
                      at_least(0))},
      .output = {field("path", &Output::path, "Vault-relative path."),
                 field("diff", &Output::diff, "A unified diff; empty when nothing differs."),
                 field("from_etag", &Output::from_etag, "Etag of the older version."),
                 field("to_etag", &Output::to_etag, "Etag of the newer one; none when deleted."),
                 field("from_size", &Output::from_size, "Bytes of the older version."),
                 field("to_size", &Output::to_size, "Bytes of the newer one."),
                 field("is_same", &Output::is_same, "Whether both hold the same bytes.")},
      .failures = {{Reason::NotFound, "The note has no such version."},
                   {Reason::Forbidden, "The path is outside your globs."}},
      .handler = run,
  });
}

}  // namespace indx
