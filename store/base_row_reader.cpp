#include "store/base_row_reader.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "store/base_candidates.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace indx {
namespace {

/// A row that is asked for by id costs as much as so many that are read in order.
constexpr std::size_t kCostOfSeek = 6;

struct TagAt {
  std::int64_t position = 0;
  std::string tag;
};
std::vector<std::string> in_order(std::vector<TagAt> tags) {
  std::sort(tags.begin(), tags.end(),
            [](const TagAt& a, const TagAt& b) { return a.position < b.position; });
  std::vector<std::string> names;
  for (auto& tag : tags) names.push_back(std::move(tag.tag));
  return names;
}

BaseRowLink read_base_link(const Database::Statement& query, const PathScope& scope) {
  BaseRowLink link;
  link.kind = static_cast<LinkKind>(query.integer(1));
  link.is_external = query.integer(2) != 0;
  link.target = query.text(3);
  link.subpath = query.text(4);
  link.display = query.optional_text(5);
  if (auto path = query.optional_text(6); path && scope.allows(*path)) link.path = std::move(path);
  return link;
}

/// What a query needs of the files that it looks at: asked for one by one where they are few, else
/// read column by column. A candidate's place is its place among the ids, or its id where all
/// files are candidates.
class CandidateRows {
 public:
  CandidateRows(Database& db, const BaseRowNeeds& needs, const PathScope& scope)
      : db_(db), needs_(needs), scope_(scope) {}

  Status read() {
    const auto ids = static_cast<std::size_t>(INDX_TRY(max_file_id(db_))) + 1;
    if (needs_.prefilter != nullptr) {
      candidates_ = INDX_TRY(base_candidates(db_, *needs_.prefilter));
      is_narrow_ = candidates_.size() * kCostOfSeek < ids;
      places_.assign(ids, kNoPlace);
      for (std::size_t place = 0; place < candidates_.size(); ++place)
        places_[static_cast<std::size_t>(candidates_[place])] = static_cast<std::uint32_t>(place);
    }
    const auto count = needs_.prefilter == nullptr ? ids : candidates_.size();
    if (needs_.properties) {
      properties_.resize(count);
      INDX_TRY(read_properties());
    }
    if (needs_.tags) {
      tags_.resize(count);
      INDX_TRY(read_tags());
    }
    if (needs_.links) {
      links_.resize(count);
      INDX_TRY(read_links());
    }
    return {};
  }

  /// In order of paths, with the files between them where they have to be there.
  Status visit(const BaseRowVisitor& visit) {
    const bool wants_all = wants_others();
    if (is_narrow_ && !wants_all) return visit_narrow(visit);
    auto query = db_.prepare(needs_.size_and_time
                                 ? "SELECT id, path, size, mtime_ns FROM files ORDER BY path"
                                 : "SELECT id, path FROM files ORDER BY path");
    while (INDX_TRY(query.step())) {
      const auto place = place_of(query.integer(0));
      if (place == kNoPlace && !wants_all) continue;
      auto row = row_of(query, place);
      if (scope_.allows(row.path)) visit(std::move(row));
    }
    return {};
  }

 private:
  static constexpr std::uint32_t kNoPlace = 0xFFFFFFFF;

  std::uint32_t place_of(std::int64_t id) const {
    return needs_.prefilter == nullptr ? static_cast<std::uint32_t>(id)
                                       : places_[static_cast<std::size_t>(id)];
  }

  Status visit_narrow(const BaseRowVisitor& visit) {
    std::vector<BaseFileRow> rows;
    for (std::uint32_t place = 0; place < candidates_.size(); ++place) {
      auto query = db_.prepare("SELECT id, path, size, mtime_ns FROM files WHERE id=?1");
      if (!INDX_TRY(query.bind(candidates_[place]).step())) continue;
      auto row = row_of(query, place);
      if (scope_.allows(row.path)) rows.push_back(std::move(row));
    }
    std::sort(rows.begin(), rows.end(),
              [](const BaseFileRow& a, const BaseFileRow& b) { return a.path < b.path; });
    for (auto& row : rows) visit(std::move(row));
    return {};
  }

  BaseFileRow row_of(const Database::Statement& query, std::uint32_t place) {
    BaseFileRow row;
    row.path = query.text(1);
    row.is_candidate = place != kNoPlace;
    if (!row.is_candidate) return row;
    if (needs_.size_and_time) {
      row.size = static_cast<std::size_t>(query.integer(2));
      row.modified_ms = query.integer(3) / 1'000'000;
    }
    if (needs_.properties) row.properties = std::move(properties_[place]);
    if (needs_.tags) row.tags = in_order(std::move(tags_[place]));
    if (!needs_.links) return row;
    row.links = std::move(links_[place]);
    for (auto& link : row.links)  // a link without a file name means its own note
      if (!link.path && !link.is_external && link.target.empty()) link.path = row.path;
    return row;
  }

  /// Calls `use(place, query)` for the rows of a table that belong to candidates. `sql` reads it
  /// all, the id of a file first; `of_file` is added to read it for the file `?1`.
  template <typename Use>
  Status read_table(std::string_view sql, std::string_view of_file, std::string_view order,
                    const Use& use) {
    if (!is_narrow_) {
      auto query = db_.prepare(cat(sql, order));
      return use_rows(query, use);
    }
    const auto one = cat(sql, of_file, order);
    for (const auto id : candidates_) {
      auto query = db_.prepare(one);
      INDX_TRY(use_rows(query.bind(id), use));
    }
    return {};
  }
  template <typename Use>
  Status use_rows(Database::Statement& query, const Use& use) {
    while (INDX_TRY(query.step())) {
      const auto place = place_of(query.integer(0));
      if (place != kNoPlace) use(place, query);
    }
    return {};
  }

  Status read_properties() {
    if (!needs_.property_names)
      return read_table("SELECT id, properties FROM notes", " WHERE id=?1", "",
                        [&](std::uint32_t place, const Database::Statement& query) {
                          properties_[place] = query.text(1);
                        });
    std::map<std::string, std::vector<std::string>> columns;
    for (const auto& name : *needs_.property_names) columns[fold_case(name)].push_back(name);
    for (const auto& [name_key, names] : columns) INDX_TRY(read_column(name_key, names));
    for (auto& object : properties_)
      if (!object.empty()) object += '}';
    for (const auto id : spelled_otherwise_) {
      auto whole = db_.prepare("SELECT properties FROM notes WHERE id=?1");
      if (INDX_TRY(whole.bind(id).step())) properties_[place_of(id)] = whole.text(0);
    }
    return {};
  }
  Status read_column(const std::string& name_key, const std::vector<std::string>& names) {
    const auto use = [&](std::uint32_t place, const Database::Statement& query) {
      const auto name = query.text(1);
      for (const auto& wanted : names)
        if (wanted != name) spelled_otherwise_.insert(query.integer(0));
      append_property(properties_[place], name, query.text(2));
    };
    if (!is_narrow_) {
      auto query = db_.prepare("SELECT file_id, name, value FROM properties WHERE name_key=?1");
      return use_rows(query.bind(name_key), use);
    }
    for (const auto id : candidates_) {
      auto query = db_.prepare(
          "SELECT file_id, name, value FROM properties WHERE name_key=?1 AND file_id=?2");
      INDX_TRY(use_rows(query.bind(name_key, id), use));
    }
    return {};
  }

  Status read_tags() {
    return read_table("SELECT file_id, position, tag FROM tags", " WHERE file_id=?1", "",
                      [&](std::uint32_t place, const Database::Statement& query) {
                        tags_[place].push_back({query.integer(1), query.text(2)});
                      });
  }

  Status read_links() {
    return read_table(
        "SELECT l.source_id, l.kind, l.external, l.target, l.subpath, l.display, t.path FROM links "
        "l LEFT JOIN files t ON t.id=l.target_id",
        " WHERE l.source_id=?1", " ORDER BY l.source_id, l.position",
        [&](std::uint32_t place, const Database::Statement& query) {
          links_[place].push_back(read_base_link(query, scope_));
        });
  }

  bool wants_others() const {
    return needs_.prefilter == nullptr || needs_.others != BaseRowNeeds::Others::Linked ||
           std::any_of(properties_.begin(), properties_.end(), may_hold_link);
  }

  Database& db_;
  const BaseRowNeeds& needs_;
  const PathScope& scope_;
  bool is_narrow_ = false;
  std::vector<std::int64_t> candidates_;  ///< empty without a prefilter
  std::vector<std::uint32_t> places_;     ///< by id; empty without a prefilter
  std::vector<std::string> properties_;   ///< by place, as the rest
  std::vector<std::vector<TagAt>> tags_;
  std::vector<std::vector<BaseRowLink>> links_;
  /// A name is written in another way than asked for, and may be there twice.
  std::set<std::int64_t> spelled_otherwise_;
};

}  // namespace

Status visit_base_rows(IndexPool& pool, const BaseRowNeeds& needs, const PathScope& scope,
                       const BaseRowVisitor& visit) {
  const auto db = INDX_TRY(pool.take());
  CandidateRows rows(*db, needs, scope);
  INDX_TRY(rows.read());
  return rows.visit(visit);
}

}  // namespace indx
