#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace link_forward_op {

struct Input {
  std::string path;
  int limit = 1000;
  std::string cursor;
};
struct Row {
  LinkView link;
  std::optional<std::string> path;
  bool resolved = false, subpath_resolved = true;
  std::vector<std::string> alias_of;
  static Fields<Row> fields() {
    Fields<Row> list = {
        field("path", &Row::path, "The file that is reached; none when unresolved."),
        field("resolved", &Row::resolved, "Whether a file is reached."),
        field("subpath_resolved", &Row::subpath_resolved,
              "Whether the heading or block is there too."),
        field("alias_of", &Row::alias_of,
              "Notes that have the target as an alias, which does not make it a link to them.")};
    for (const auto& f : LinkView::fields())
      list.push_back({f.property, [f](const Json& json, Row& row) { f.decode(json, row.link); },
                      [f](const Row& row) { return f.encode(row.link); }});
    return list;
  }
};
struct Output {
  std::string path;
  std::vector<Row> links;
  std::optional<std::string> next_cursor;
};

/// Position of the first link to give.
Result<std::size_t> first_link(const Input& in) {
  if (in.cursor.empty()) return std::size_t{0};
  const Json position = INDX_TRY(read_cursor(in.cursor));
  if (!position.is_number_unsigned())
    return invalid("`cursor` is not one of link_forward.", Json{{"path", "cursor"}});
  return position.get<std::size_t>();
}

Result<Output> run(Context& ctx, const Input& in) {
  const NotePath path = INDX_TRY(NotePath::parse(in.path));
  const std::size_t first = INDX_TRY(first_link(in));
  const auto links = INDX_TRY(ctx.index().forward_links(path));
  Output out;
  out.path = path.str();
  std::size_t at = first;
  for (; at < links.size() && out.links.size() < static_cast<std::size_t>(in.limit); ++at) {
    const ResolvedLink& link = links[at];
    out.links.push_back({view_link(link.link), link.path, link.path.has_value(),
                         link.subpath_resolved, link.alias_of});
  }
  if (at < links.size()) out.next_cursor = make_cursor(Json(at));
  return out;
}

}  // namespace link_forward_op

Operation link_forward() {
  using namespace link_forward_op;
  return define<Input, Output>({
      .name = "link_forward",
      .summary = "List the links of a note and the files they reach.",
      .guidance = "Links out of the vault have `external: true`; unresolved ones have no `path`.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/links/{path}/forward"},
      .cli_positional = {"path"},
      .is_idempotent = true,
      .input = {path_field(&Input::path), limit_field(&Input::limit), cursor_field(&Input::cursor)},
      .output = {field("path", &Output::path, "The note."),
                 field("links", &Output::links, "Links in order."),
                 next_cursor_field(&Output::next_cursor)},
      .failures = {{Reason::NotFound, "No note has that path."},
                   {Reason::Forbidden, "The path is outside your globs."}},
      .handler = run,
  });
}

}  // namespace indx
