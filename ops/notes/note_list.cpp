#include "ops/notes/note_row.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace note_list_op {

struct Input {
  std::string path_glob, tag;
  JsonObject frontmatter;
  int limit = 50;
  std::string cursor;
};
struct Output {
  std::vector<NoteRowView> notes;
  std::optional<std::string> next_cursor;
};

Result<Output> run(Context& ctx, const Input& in) {
  NoteFilter filter;
  filter.path_glob = in.path_glob;
  if (!in.tag.empty()) filter.tags = {plain_tag(in.tag)};
  filter.frontmatter = in.frontmatter.value;
  const Page<NoteRow> page = INDX_TRY(ctx.index().list(filter, in.limit, in.cursor));
  Output out;
  out.notes = view_rows(page.rows);
  out.next_cursor = page.next_cursor;
  return out;
}

}  // namespace note_list_op

Operation note_list() {
  using namespace note_list_op;
  return define<Input, Output>({
      .name = "note_list",
      .title = "List notes",
      .summary = "List notes by folder, tag or property, in path order.",
      .guidance = "For words in the text use vault_search. Filters given together must all match.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/notes"},
      .cli = "note list",
      .is_idempotent = true,
      .reads_index = true,
      .input = {field("path_glob", &Input::path_glob,
                      "Only paths that match, such as `Projects/**`.", optional, length(0, 1024)),
                field("tag", &Input::tag, "Only notes with this tag or one below it.", optional,
                      length(0, 256)),
                field("frontmatter", &Input::frontmatter,
                      "Only notes whose properties have these values.", optional),
                limit_field(&Input::limit), cursor_field(&Input::cursor)},
      .output = {field("notes", &Output::notes, "Notes in path order."),
                 next_cursor_field(&Output::next_cursor)},
      .failures = {{Reason::ValidationFailed, "The cursor is not one of ours."}},
      .handler = run,
  });
}

}  // namespace indx
