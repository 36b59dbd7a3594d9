#include "ops/links.hpp"
#include "ops/links/link_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace link_unresolved_op {

struct Input {
  int limit = 100;
  std::string cursor;
};
struct Source {
  std::string path;
  LinkView link;
  static Fields<Source> fields() {
    return with_link_fields<Source>({field("path", &Source::path, "The file that links.")});
  }
};
struct Row {
  std::string target;
  std::int64_t count = 0, source_count = 0;
  std::vector<Source> sources;
  std::vector<std::string> alias_of;
  static Fields<Row> fields() {
    return {field("target", &Row::target, "As first written, without the subpath."),
            field("count", &Row::count, "Links to it."),
            field("source_count", &Row::source_count, "Files with such a link."),
            field("sources", &Row::sources, "The first 100 links, by path."),
            field("alias_of", &Row::alias_of,
                  "Notes that have the target as an alias; a link to them needs their name.")};
  }
};
struct Output {
  std::vector<Row> unresolved;
  std::optional<std::string> next_cursor;
};

Result<Output> run(Context& ctx, const Input& in) {
  auto found = INDX_TRY(ctx.links().unresolved(in.limit, in.cursor));
  Output out{{}, std::move(found.next_cursor)};
  for (auto& row : found.rows) {
    Row& view = out.unresolved.emplace_back();
    view.target = std::move(row.target);
    view.count = row.count;
    view.source_count = row.source_count;
    view.alias_of = std::move(row.alias_of);
    for (auto& use : row.uses) view.sources.push_back({std::move(use.path), view_link(use.link)});
  }
  return out;
}

}  // namespace link_unresolved_op

Operation link_unresolved() {
  using namespace link_unresolved_op;
  return define<Input, Output>({
      .name = "link_unresolved",
      .title = "List broken links",
      .summary = "List link targets that no file answers to, with the places that link there.",
      .guidance = "Use it to find what to mend. To try one target use note_explore with action "
                  "link_resolve.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/links/unresolved"},
      .is_idempotent = true,
      .reads_index = true,
      .input = {limit_field(&Input::limit), cursor_field(&Input::cursor)},
      .output = {field("unresolved", &Output::unresolved, "By target."),
                 next_cursor_field(&Output::next_cursor)},
      .failures = {{Reason::ValidationFailed, "The cursor is not one of ours."}},
      .handler = run,
  });
}

}  // namespace indx
