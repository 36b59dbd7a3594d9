#include "ops/links.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace graph_edges_op {

struct Input {
  int limit = 500;
  std::string cursor;
};
struct Edge {
  std::string source, target;
  std::int64_t count = 0;
  static Fields<Edge> fields() {
    return {field("source", &Edge::source, "The file that links."),
            field("target", &Edge::target, "The file that is reached; it may be the source."),
            field("count", &Edge::count, "Links from the one to the other.")};
  }
};
struct Output {
  std::vector<Edge> edges;
  std::optional<std::string> next_cursor;
};

Result<Output> run(Context& ctx, const Input& in) {
  auto page = INDX_TRY(ctx.links().edges(in.limit, in.cursor));
  Output out{{}, std::move(page.next_cursor)};
  for (auto& edge : page.rows)
    out.edges.push_back({std::move(edge.source), std::move(edge.target), edge.count});
  return out;
}

}  // namespace graph_edges_op

Operation graph_edges() {
  using namespace graph_edges_op;
  return define<Input, Output>({
      .name = "graph_edges",
      .summary = "List the links between all files of the vault.",
      .guidance = "The whole link graph, for drawing or counting. For what is near one note use "
                  "graph_neighbors; links that reach no file are listed by link_unresolved.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/graph"},
      .is_idempotent = true,
      .reads_index = true,
      .tool_group = "vault_lists",
      .input = {limit_field(&Input::limit), cursor_field(&Input::cursor)},
      .output = {field("edges", &Output::edges, "By source, then target."),
                 next_cursor_field(&Output::next_cursor)},
      .failures = {{Reason::ValidationFailed, "The cursor is not one of ours."}},
      .handler = run,
  });
}

}  // namespace indx
