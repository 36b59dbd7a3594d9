#include "base/hash.hpp"
#include "base/text.hpp"
#include "store/link_index.hpp"
#include "store/note_filter.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace indx {
namespace {

constexpr std::size_t kMaxWalked = 5000;
constexpr int kMaxNeighborLimit = 1000;

/// A walk over links, nearest files first (breadth-first search).
class Walk {
 public:
  Walk(Database& db, const PathScope& scope, const NeighborQuestion& question)
      : db_(db), scope_(scope), question_(question) {}

  Status run(std::int64_t start) {
    std::vector<std::int64_t> ring = {start};
    INDX_TRY(look_at(start));
    distance_[start] = 0;
    for (int distance = 1; distance <= question_.depth && !ring.empty(); ++distance) {
      std::vector<std::int64_t> next;
      for (const auto id : ring) {
        for (const auto other : INDX_TRY(linked_with(id))) {
          if (distance_.contains(other)) continue;
          if (distance_.size() >= kMaxWalked) {
            is_truncated_ = true;
            continue;
          }
          distance_[other] = distance;
          next.push_back(other);
        }
      }
      ring = std::move(next);
    }
    return {};
  }

  std::vector<std::pair<Neighbor, std::int64_t>> sorted() const {
    std::vector<std::pair<Neighbor, std::int64_t>> rows;
    for (const auto& [id, distance] : distance_) {
      const auto& file = files_.at(id);
      rows.push_back({{file.path, file.title, distance}, id});
    }
    std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
      return std::tie(a.first.distance, a.first.path) < std::tie(b.first.distance, b.first.path);
    });
    return rows;
  }

  /// Links with one end in `page` and the other in it or in an earlier page.
  std::vector<GraphEdge> edges(const std::set<std::int64_t>& page,
                               const std::set<std::int64_t>& earlier) const {
    std::vector<GraphEdge> all;
    for (const auto& [ends, count] : edges_) {
      const auto& [source, target] = ends;
      const bool touches = page.contains(source) || page.contains(target);
      const auto is_told = [&](std::int64_t id) {
        return page.contains(id) || earlier.contains(id);
      };
      if (touches && is_told(source) && is_told(target))
        all.push_back({files_.at(source).path, files_.at(target).path, count});
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  bool is_truncated() const { return is_truncated_; }

 private:
  struct File {
    std::string path, title;
    bool is_shown = false;
  };

  Result<bool> look_at(std::int64_t id) {
    if (const auto known = files_.find(id); known != files_.end()) return known->second.is_shown;
    auto query = db_.prepare("SELECT path, title, kind FROM files WHERE id=?1");
    File file;
    if (INDX_TRY(query.bind(id).step())) {
      file = {query.text(0), query.text(1), false};
      file.is_shown =
          scope_.allows(file.path) && (query.integer(2) == 1 || question_.include_attachments ||
                                       file.path.ends_with(".canvas"));
    }
    const bool is_shown = file.is_shown;
    files_.emplace(id, std::move(file));
    return is_shown;
  }

  Result<std::vector<std::int64_t>> linked_with(std::int64_t id) {
    std::vector<std::int64_t> others;
    const auto collect = [&](const char* sql, bool is_outgoing) -> Status {
      std::vector<std::pair<std::int64_t, std::int64_t>> rows;
      {
        auto query = db_.prepare(sql);
        query.bind(id);
        while (INDX_TRY(query.step())) rows.emplace_back(query.integer(0), query.integer(1));
      }
      for (const auto& [other, count] : rows) {
        if (other == id || !INDX_TRY(look_at(other))) continue;
        edges_[is_outgoing ? std::pair(id, other) : std::pair(other, id)] = count;
        others.push_back(other);
      }
      return {};
    };
    if (question_.direction != LinkDirection::Incoming)
      INDX_TRY(
          collect("SELECT target_id, count(*) FROM links WHERE source_id=?1 AND target_id IS NOT "
                  "NULL GROUP BY target_id",
                  true));
    if (question_.direction != LinkDirection::Outgoing)
      INDX_TRY(collect(
          "SELECT source_id, count(*) FROM links WHERE target_id=?1 GROUP BY source_id", false));
    return others;
  }

  Database& db_;
  const PathScope& scope_;
  const NeighborQuestion& question_;
  std::unordered_map<std::int64_t, File> files_;
  std::unordered_map<std::int64_t, int> distance_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> edges_;
  bool is_truncated_ = false;
};

}  // namespace

Result<Neighborhood> LinkIndex::neighbors(const std::string& path, const NeighborQuestion& question,
                                          const PathScope& scope) {
  INDX_TRY(check_limit(question.limit, kMaxNeighborLimit));
  const auto hash = canonical_hash({{"neighbors", path},
                                    {"depth", question.depth},
                                    {"direction", static_cast<int>(question.direction)},
                                    {"attachments", question.include_attachments}});
  const auto after = INDX_TRY(cursor_key(question.cursor, hash));
  const auto db = INDX_TRY(pool_.take());
  const auto start = INDX_TRY(file_id_of(*db, path));
  if (!start) return not_found(cat("`", path, "` does not exist."), {{"path", path}});
  Walk walk(*db, scope, question);
  INDX_TRY(walk.run(*start));
  Neighborhood answer;
  answer.is_truncated = walk.is_truncated();
  std::set<std::int64_t> page, earlier;
  const auto key_of = [](const Neighbor& row) {
    return cat(row.distance < 10 ? "0" : "", row.distance, " ", row.path);
  };
  for (auto& [row, id] : walk.sorted()) {
    if (key_of(row) <= after) {
      earlier.insert(id);
      continue;
    }
    if (answer.page.rows.size() == static_cast<std::size_t>(question.limit)) {
      answer.page.next_cursor = encode_cursor({{"k", key_of(answer.page.rows.back())}}, hash);
      break;
    }
    page.insert(id);
    answer.page.rows.push_back(std::move(row));
  }
  answer.edges = walk.edges(page, earlier);
  return answer;
}

}  // namespace indx
