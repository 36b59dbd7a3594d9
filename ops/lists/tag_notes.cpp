#include "ops/notes/note_row.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace tag_notes_op {

struct Input {
  std::string tag;
  int limit = 100;
  std::string cursor;
};
struct Output {
  std::vector<NoteRowView> notes;
  std::optional<std::string> next_cursor;
};

Result<Output> run(Context& ctx, const Input& in) {
  NoteFilter filter;
  filter.tags = {plain_tag(in.tag)};
  if (filter.tags.front().empty())
    return invalid("`tag` is empty; give one as tag_list shows it.", Json{{"path", "tag"}});
  const Page<NoteRow> page = INDX_TRY(ctx.index().list(filter, in.limit, in.cursor));
  return Output{view_rows(page.rows), page.next_cursor};
}

}  // namespace tag_notes_op

Operation tag_notes() {
  using namespace tag_notes_op;
  return define<Input, Output>({
      .name = "tag_notes",
      .title = "List notes with a tag",
      .summary = "List the notes that have a tag, or one below it.",
      .guidance = "`a` also gives the notes of `a/b`. For other conditions as well use note_list.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/tags/{tag}/notes"},
      .cli_positional = {"tag"},
      .example = "work",
      .is_idempotent = true,
      .reads_index = true,
      .input = {field("tag", &Input::tag, "The tag, with or without `#`.", length(1, 256)),
                limit_field(&Input::limit), cursor_field(&Input::cursor)},
      .output = {field("notes", &Output::notes, "In path order."),
                 next_cursor_field(&Output::next_cursor)},
      .failures = {{Reason::ValidationFailed, "The cursor is not one of ours."}},
      .handler = run,
  });
}

}  // namespace indx
