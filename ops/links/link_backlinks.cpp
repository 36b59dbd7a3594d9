#include "ops/links.hpp"
#include "ops/links/link_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace link_backlinks_op {

struct Input {
  std::string path;
  int limit = 100;
  std::string cursor;
};
struct Row {
  std::string path, title;
  std::int64_t count = 0;
  std::vector<LinkUseView> occurrences;
  static Fields<Row> fields() {
    return {field("path", &Row::path, "The file that links here."),
            field("title", &Row::title, "Its title."),
            field("count", &Row::count, "Its links to the note."),
            field("occurrences", &Row::occurrences, "The first 100 of them, in order.")};
  }
};
struct Output {
  std::string path;
  std::int64_t total = 0;
  std::vector<Row> backlinks;
  std::optional<std::string> next_cursor;
};

Result<Output> run(Context& ctx, const Input& in) {
  const NotePath path = INDX_TRY(NotePath::parse(in.path));
  auto found = INDX_TRY(ctx.links().backlinks(path, in.limit, in.cursor));
  Output out{path.str(), found.total, {}, std::move(found.page.next_cursor)};
  for (auto& row : found.page.rows) {
    Row& view = out.backlinks.emplace_back();
    view.path = std::move(row.path);
    view.title = std::move(row.title);
    view.count = row.count;
    for (const auto& use : row.occurrences) view.occurrences.push_back(view_use(use));
  }
  return out;
}

}  // namespace link_backlinks_op

Operation link_backlinks() {
  using namespace link_backlinks_op;
  return define<Input, Output>({
      .name = "link_backlinks",
      .title = "List links to a note",
      .summary = "List the files that link to a note or attachment, with every place.",
      .guidance =
          "One row a file: its links, embeds, property links and canvas nodes. A note's links "
          "to itself are left out; for those use link_forward.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/links/{path}/backlinks"},
      .cli_positional = {"path"},
      .is_idempotent = true,
      .reads_index = true,
      .input = {path_field(&Input::path), limit_field(&Input::limit), cursor_field(&Input::cursor)},
      .output = {field("path", &Output::path, "The file asked for."),
                 field("total", &Output::total, "All files that link to it."),
                 field("backlinks", &Output::backlinks, "By path."),
                 next_cursor_field(&Output::next_cursor)},
      .failures = {{Reason::NotFound, "No file has that path."},
                   {Reason::ValidationFailed, "The path or the cursor cannot be used."},
                   {Reason::Forbidden, "The path is outside your globs."}},
      .handler = run,
  });
}

}  // namespace indx
