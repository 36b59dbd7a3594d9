#include "ops/links.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace graph_neighbors_op {

struct Input {
  std::string path;
  int depth = 1;
  std::string direction = "both";
  bool include_attachments = false;
  int limit = 100;
  std::string cursor;
};
struct Node {
  std::string path, title;
  int distance = 0;
  static Fields<Node> fields() {
    return {field("path", &Node::path, "The file."), field("title", &Node::title, "Its title."),
            field("distance", &Node::distance, "Links away from the start; 0 is the start.")};
  }
};
struct Edge {
  std::string source, target;
  std::int64_t count = 0;
  static Fields<Edge> fields() {
    return {field("source", &Edge::source, "The file that links."),
            field("target", &Edge::target, "The file that is reached."),
            field("count", &Edge::count, "Links between the two in this direction.")};
  }
};
struct Output {
  std::string path;
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  bool truncated = false;
  std::optional<std::string> next_cursor;
};

Result<Output> run(Context& ctx, const Input& in) {
  const NotePath path = INDX_TRY(NotePath::parse(in.path));
  NeighborQuestion question;
  question.depth = in.depth;
  question.direction = in.direction == "outgoing"   ? LinkDirection::Outgoing
                       : in.direction == "incoming" ? LinkDirection::Incoming
                                                    : LinkDirection::Both;
  question.include_attachments = in.include_attachments;
  question.limit = in.limit;
  question.cursor = in.cursor;
  auto found = INDX_TRY(ctx.links().neighbors(path, question));
  Output out;
  out.path = path.str();
  out.truncated = found.is_truncated;
  out.next_cursor = std::move(found.page.next_cursor);
  for (auto& row : found.page.rows)
    out.nodes.push_back({std::move(row.path), std::move(row.title), row.distance});
  for (auto& edge : found.edges)
    out.edges.push_back({std::move(edge.source), std::move(edge.target), edge.count});
  return out;
}

}  // namespace graph_neighbors_op

Operation graph_neighbors() {
  using namespace graph_neighbors_op;
  return define<Input, Output>({
      .name = "graph_neighbors",
      .summary = "List the notes within a few links of a note, and the links between them.",
      .guidance =
          "Nearest first, the note itself at distance 0. A walk looks at no more than 5,000 "
          "files; `truncated` says that there are more.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/graph/{path}"},
      .cli_positional = {"path"},
      .is_idempotent = true,
      .reads_index = true,
      .tool_group = "note_explore",
      .input = {path_field(&Input::path),
                field("depth", &Input::depth, "Links to follow.", between(0, 10), optional),
                field("direction", &Input::direction, "Which links to follow.", optional,
                      one_of({"both", "outgoing", "incoming"})),
                field("include_attachments", &Input::include_attachments,
                      "Also walk through files that are no notes.", optional),
                limit_field(&Input::limit), cursor_field(&Input::cursor)},
      .output = {field("path", &Output::path, "The start."),
                 field("nodes", &Output::nodes, "By distance, then path."),
                 field("edges", &Output::edges,
                       "Links of these nodes with each other and with nodes of earlier pages."),
                 field("truncated", &Output::truncated, "The walk ended early."),
                 next_cursor_field(&Output::next_cursor)},
      .failures = {{Reason::NotFound, "No file has that path."},
                   {Reason::ValidationFailed, "The path or the cursor cannot be used."},
                   {Reason::Forbidden, "The path is outside your globs."}},
      .handler = run,
  });
}

}  // namespace indx
