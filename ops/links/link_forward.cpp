#include "ops/links.hpp"
#include "ops/links/link_view.hpp"
#include "ops/operations.hpp"

#include <algorithm>

namespace indx {
namespace link_forward_op {

struct Input {
  std::string path;
  int limit = 1000;
  std::string cursor;
};
struct Row {
  LinkView link;
  std::string context;
  std::optional<std::string> path;
  bool resolved = false, subpath_resolved = true;
  std::vector<std::string> alias_of;
  static Fields<Row> fields() {
    return with_link_fields<Row>(
        {field("path", &Row::path, "The file that is reached; none when unresolved."),
         field("resolved", &Row::resolved, "Whether a file is reached."),
         field("subpath_resolved", &Row::subpath_resolved,
               "Whether the heading or block is there too."),
         field("alias_of", &Row::alias_of,
               "Notes that have the target as an alias, which does not make it a link to them."),
         field("context", &Row::context, "The line that holds it.")});
  }
};
struct Output {
  std::string path, etag;
  std::int64_t total = 0;
  std::vector<Row> links;
  std::optional<std::string> next_cursor;
};

/// What a cursor knows of the link given last, so that it is found again in a note that changed.
Json position_of(const NoteLinks& links, std::size_t at) {
  const auto same = [&](const ResolvedLink& other) {
    return other.link.target == links.links[at].link.target &&
           other.link.subpath == links.links[at].link.subpath;
  };
  const auto end = links.links.begin() + static_cast<std::ptrdiff_t>(at) + 1;
  return {{"e", links.etag},
          {"n", at},
          {"t", links.links[at].link.target},
          {"s", links.links[at].link.subpath},
          {"i", std::count_if(links.links.begin(), end, same)}};
}

/// The first link to give. In a changed note: the one behind the link given last, wherever it is
/// now; when that is gone, the one at its old place.
Result<std::size_t> first_link(const std::string& cursor, const NoteLinks& links) {
  if (cursor.empty()) return std::size_t{0};
  const Json position = INDX_TRY(read_cursor(cursor));
  const bool is_ours =
      position.is_object() && position.contains("e") && position["e"].is_string() &&
      position.contains("n") && position["n"].is_number_unsigned() && position.contains("t") &&
      position["t"].is_string() && position.contains("s") && position["s"].is_string() &&
      position.contains("i") && position["i"].is_number_integer();
  if (!is_ours) return invalid("`cursor` is not one of link_forward.", Json{{"path", "cursor"}});
  const auto last = position["n"].get<std::size_t>();
  if (position["e"] == links.etag) return last + 1;
  auto left = position["i"].get<std::int64_t>();
  for (std::size_t at = 0; at < links.links.size(); ++at) {
    const auto& link = links.links[at].link;
    if (link.target == position["t"] && link.subpath == position["s"] && --left == 0) return at + 1;
  }
  return last;
}

Result<Output> run(Context& ctx, const Input& in) {
  const NotePath path = INDX_TRY(NotePath::parse(in.path));
  const auto links = INDX_TRY(ctx.links().forward(path));
  Output out;
  out.path = path.str();
  out.etag = links.etag;
  out.total = static_cast<std::int64_t>(links.links.size());
  std::size_t at = INDX_TRY(first_link(in.cursor, links));
  for (; at < links.links.size() && out.links.size() < static_cast<std::size_t>(in.limit); ++at) {
    const ResolvedLink& link = links.links[at];
    out.links.push_back({view_link(link.link), link.context, link.path, link.path.has_value(),
                         link.subpath_resolved, link.alias_of});
  }
  if (at < links.links.size()) out.next_cursor = make_cursor(position_of(links, at - 1));
  return out;
}

}  // namespace link_forward_op

Operation link_forward() {
  using namespace link_forward_op;
  return define<Input, Output>({
      .name = "link_forward",
      .title = "List links of a note",
      .summary = "List the links of a note and the files they reach.",
      .guidance =
          "Wikilinks, Markdown links, embeds, references and properties; external ones have "
          "`external: true`, unresolved ones no `path`. For links to a note use link_backlinks.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/links/{path}/forward"},
      .cli_positional = {"path"},
      .is_idempotent = true,
      .reads_index = true,
      .input = {path_field(&Input::path), limit_field(&Input::limit), cursor_field(&Input::cursor)},
      .output = {field("path", &Output::path, "The note."),
                 field("etag", &Output::etag, "Version of the note that the positions belong to."),
                 field("total", &Output::total, "All its links."),
                 field("links", &Output::links, "Links in order."),
                 next_cursor_field(&Output::next_cursor)},
      .failures = {{Reason::NotFound, "No note has that path."},
                   {Reason::ValidationFailed, "The path or the cursor cannot be used."},
                   {Reason::Forbidden, "The path is outside your globs."}},
      .handler = run,
  });
}

}  // namespace indx
