#include "ops/notes/note_view.hpp"
#include "ops/notes/version_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace note_history_op {

struct Input {
  std::string path;
  int limit = 50;
  std::string cursor;
};
struct Output {
  std::string path;
  bool exists = false;
  std::optional<std::string> etag;
  std::vector<VersionView> versions;
  std::optional<std::string> next_cursor;
};

Result<Output> run(Context& ctx, const Input& in) {
  const NotePath path = INDX_TRY(NotePath::parse(in.path));
  const auto file = ctx.notes().read(path);
  if (!file && file.error().reason != Reason::NotFound) return file.error();
  auto page = INDX_TRY(ctx.versions().list(path, in.limit, in.cursor));
  if (!file && page.rows.empty() && in.cursor.empty()) return file.error();
  Output out{path.str(), file.has_value(), {}, {}, std::move(page.next_cursor)};
  if (file) out.etag = file->etag;
  for (const VersionRow& row : page.rows) out.versions.push_back(view_version(row));
  return out;
}

}  // namespace note_history_op

Operation note_history() {
  using namespace note_history_op;
  return define<Input, Output>({
      .name = "note_history",
      .summary = "List the kept versions of a note, newest first.",
      .guidance = "Every write keeps what it replaces. note_diff shows what a version held, "
                  "note_restore brings one back, also of a deleted note.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/history/{path}"},
      .cli_positional = {"path"},
      .is_idempotent = true,
      .tool_group = "note_explore",
      .input = {path_field(&Input::path), limit_field(&Input::limit), cursor_field(&Input::cursor)},
      .output = {field("path", &Output::path, "Vault-relative path."),
                 field("exists", &Output::exists, "False: the note is deleted."),
                 field("etag", &Output::etag, "Etag of the note as it is now."),
                 field("versions", &Output::versions, "What the note held before."),
                 next_cursor_field(&Output::next_cursor)},
      .failures = {{Reason::NotFound, "No note has that path, and none ever had."},
                   {Reason::Forbidden, "The path is outside your globs."}},
      .handler = run,
  });
}

}  // namespace indx
