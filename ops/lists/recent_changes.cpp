#include "base/text.hpp"
#include "ops/lists.hpp"
#include "ops/notes/note_row.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace recent_changes_op {

struct Input {
  std::string since, until, path_glob, tag;
  int limit = 50;
  std::string cursor;
};
struct Output {
  std::vector<NoteRowView> notes;
  std::optional<std::string> next_cursor;
};

/// `2026-03-16T10:00:00.000Z`, without the millis, or a day.
Result<Timestamp> read_time(std::string text, const char* name, Timestamp left_out) {
  if (text.empty()) return left_out;
  if (text.size() == 10) text += "T00:00:00Z";
  if (text.size() == 20 && text.ends_with('Z')) text.insert(19, ".000");
  if (const auto time = parse_time(text)) return *time;
  return invalid(cat("`", name, "` is a UTC time such as 2026-03-16T10:00:00Z, or a day."),
                 Json{{"path", name}});
}

Result<Output> run(Context& ctx, const Input& in) {
  NoteFilter filter;
  filter.path_glob = in.path_glob;
  if (const auto tag = plain_tag(in.tag); !tag.empty()) filter.tags = {tag};
  TimeSpan span;
  span.since = INDX_TRY(read_time(in.since, "since", span.since));
  span.until = INDX_TRY(read_time(in.until, "until", span.until));
  auto page = INDX_TRY(ctx.lists().recent(filter, span, in.limit, in.cursor));
  return Output{view_rows(page.rows), std::move(page.next_cursor)};
}

}  // namespace recent_changes_op

Operation recent_changes() {
  using namespace recent_changes_op;
  return define<Input, Output>({
      .name = "recent_changes",
      .summary = "List the notes that changed last, newest first.",
      .guidance = "Use it to see what is new. Times are those of the files, whoever changed them.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/recent"},
      .is_idempotent = true,
      .reads_index = true,
      .tool_group = "vault_lists",
      .input = {field("since", &Input::since, "Only changes at or after this UTC time or day.",
                      optional, length(0, 32)),
                field("until", &Input::until, "Only changes before this UTC time or day.", optional,
                      length(0, 32)),
                field("path_glob", &Input::path_glob,
                      "Only paths that match, such as `Projects/**`.", optional, length(0, 1024)),
                field("tag", &Input::tag, "Only notes with this tag or one below it.", optional,
                      length(0, 256)),
                limit_field(&Input::limit), cursor_field(&Input::cursor)},
      .output = {field("notes", &Output::notes, "Newest first."),
                 next_cursor_field(&Output::next_cursor)},
      .failures = {{Reason::ValidationFailed, "`since`, `until` or the cursor cannot be read."}},
      .handler = run,
  });
}

}  // namespace indx
