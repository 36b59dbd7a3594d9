#include "base/hash.hpp"
#include "base/text.hpp"
#include "store/link_index.hpp"
#include "store/note_filter.hpp"

#include <tuple>
#include <utility>

namespace indx {
namespace {

constexpr int kMaxEdgeLimit = 1000;

/// Source and target of the edge given last, as one text; no path holds a NUL.
std::string edge_key(const GraphEdge& edge) { return cat(edge.source, '\0', edge.target); }

GraphEdge edge_of_key(const std::string& key) {
  const auto middle = key.find('\0');
  return {key.substr(0, middle), middle == key.npos ? "" : key.substr(middle + 1), 0};
}

/// The edges of one file, by target.
Result<std::vector<GraphEdge>> edges_from(Database& db, std::int64_t id,
                                          const std::string& source) {
  std::vector<GraphEdge> edges;
  auto query = db.prepare(
      "SELECT t.path, count(*) FROM links l JOIN files t ON t.id=l.target_id WHERE l.source_id=?1 "
      "GROUP BY t.path ORDER BY t.path");
  query.bind(id);
  while (INDX_TRY(query.step())) edges.push_back({source, query.text(0), query.integer(1)});
  return edges;
}

}  // namespace

// File by file instead of one query with a sort, so that a page costs no more than what it holds.
Result<Page<GraphEdge>> LinkIndex::edges(const PathScope& scope, int limit,
                                         const std::string& cursor) {
  INDX_TRY(check_limit(limit, kMaxEdgeLimit));
  const auto hash = canonical_hash({{"edges", true}});
  const GraphEdge after = edge_of_key(INDX_TRY(cursor_key(cursor, hash)));
  const auto db = INDX_TRY(pool_.take());
  Page<GraphEdge> page;
  auto sources = db->prepare("SELECT id, path FROM files WHERE path>=?1 ORDER BY path");
  sources.bind(after.source);
  while (INDX_TRY(sources.step())) {
    const auto source = sources.text(1);
    if (!scope.allows(source)) continue;
    for (auto& edge : INDX_TRY(edges_from(*db, sources.integer(0), source))) {
      const bool is_given =
          std::tie(edge.source, edge.target) <= std::tie(after.source, after.target);
      if (is_given || !scope.allows(edge.target)) continue;
      if (page.rows.size() == static_cast<std::size_t>(limit)) {
        page.next_cursor = encode_cursor({{"k", edge_key(page.rows.back())}}, hash);
        return page;
      }
      page.rows.push_back(std::move(edge));
    }
  }
  return page;
}

}  // namespace indx
