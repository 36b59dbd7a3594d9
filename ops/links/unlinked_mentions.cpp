#include "ops/links.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace unlinked_mentions_op {

struct Input {
  std::string path;
  int limit = 50;
  std::string cursor;
};
struct Place {
  std::string text, context;
  int line = 0, column = 0;
  static Fields<Place> fields() {
    return {field("text", &Place::text, "The name as it stands there."),
            field("line", &Place::line, "1-based line."),
            field("column", &Place::column, "1-based byte column."),
            field("context", &Place::context, "The line that holds it.")};
  }
};
struct Row {
  std::string path, title;
  std::int64_t count = 0;
  std::vector<Place> occurrences;
  static Fields<Row> fields() {
    return {field("path", &Row::path, "The note that names it."),
            field("title", &Row::title, "Its title."),
            field("count", &Row::count, "Mentions in it."),
            field("occurrences", &Row::occurrences, "The first 100 of them, in order.")};
  }
};
struct Output {
  std::string path;
  std::vector<Row> mentions;
  std::optional<std::string> next_cursor;
};

Result<Output> run(Context& ctx, const Input& in) {
  const NotePath path = INDX_TRY(NotePath::parse(in.path));
  auto found = INDX_TRY(ctx.links().mentions(path, in.limit, in.cursor));
  Output out{path.str(), {}, std::move(found.next_cursor)};
  for (auto& row : found.rows) {
    Row& view = out.mentions.emplace_back();
    view.path = std::move(row.path);
    view.title = std::move(row.title);
    view.count = row.count;
    for (auto& use : row.occurrences)
      view.occurrences.push_back(
          {std::move(use.name), std::move(use.context), use.line, use.column});
  }
  return out;
}

}  // namespace unlinked_mentions_op

Operation unlinked_mentions() {
  using namespace unlinked_mentions_op;
  return define<Input, Output>({
      .name = "unlinked_mentions",
      .summary = "List places in other notes that name a note, or an alias of it, without a link.",
      .guidance =
          "Whole words in any case, outside of code and links. A page may hold fewer rows than "
          "`limit`; go on while there is a `next_cursor`.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/links/{path}/mentions"},
      .cli = "link mentions",
      .cli_positional = {"path"},
      .is_idempotent = true,
      .reads_index = true,
      .tool_group = "note_explore",
      .input = {path_field(&Input::path),
                field("limit", &Input::limit, "Most rows in one answer.", between(1, 200),
                      optional),
                cursor_field(&Input::cursor)},
      .output = {field("path", &Output::path, "The note asked for."),
                 field("mentions", &Output::mentions, "In the order of the index."),
                 next_cursor_field(&Output::next_cursor)},
      .failures = {{Reason::NotFound, "No note has that path."},
                   {Reason::ValidationFailed, "The path or the cursor cannot be used."},
                   {Reason::Forbidden, "The path is outside your globs."}},
      .handler = run,
  });
}

}  // namespace indx
