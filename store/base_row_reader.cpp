#include "store/base_row_reader.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "store/base_candidates.hpp"

#include <algorithm>
#include <map>

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

constexpr std::string_view kBaseLinks =
    "SELECT l.source_id, l.kind, l.external, l.target, l.subpath, l.display, t.path FROM links l "
    "LEFT JOIN files t ON t.id=l.target_id ";

/// The files that a query looks at, with what it needs of them: asked for one by one where they are
/// few, else read column by column.
class CandidateRows {
 public:
  CandidateRows(Database& db, const BaseRowNeeds& needs, const PathScope& scope)
      : db_(db), needs_(needs), scope_(scope) {}

  Status read() {
    places_.assign(static_cast<std::size_t>(INDX_TRY(max_file_id(db_))) + 1, kNoPlace);
    INDX_TRY(read_files());
    for (std::size_t place = 0; place < rows_.size(); ++place)
      places_[static_cast<std::size_t>(rows_[place].id)] = static_cast<std::uint32_t>(place);
    if (needs_.properties) INDX_TRY(read_properties());
    if (needs_.tags) INDX_TRY(read_tags());
    if (needs_.links) INDX_TRY(read_links());
    return {};
  }

  /// In order of paths, with the files between them where they have to be there.
  Status visit(const BaseRowVisitor& visit) {
    if (needs_.prefilter == nullptr || !wants_others()) {
      for (auto& file : rows_) visit(std::move(file.row));
      return {};
    }
    auto query = db_.prepare("SELECT id, path FROM files ORDER BY path");
    while (INDX_TRY(query.step())) {
      const auto place = places_[static_cast<std::size_t>(query.integer(0))];
      if (place != kNoPlace) {
        visit(std::move(rows_[place].row));
        continue;
      }
      BaseFileRow other;
      other.is_candidate = false;
      other.path = query.text(1);
      if (scope_.allows(other.path)) visit(std::move(other));
    }
    return {};
  }

 private:
  static constexpr std::uint32_t kNoPlace = 0xFFFFFFFF;
  struct File {
    std::int64_t id = 0;
    BaseFileRow row;
    bool is_spelled_otherwise = false;  ///< a property is, and may be there twice
  };

  Status read_files() {
    if (needs_.prefilter == nullptr) return read_files_in_order(nullptr);
    const auto candidates = INDX_TRY(base_candidates(db_, *needs_.prefilter));
    is_narrow_ = candidates.size() * kCostOfSeek < places_.size();
    if (!is_narrow_) {
      std::vector<bool> wanted(places_.size());
      for (const auto id : candidates) wanted[static_cast<std::size_t>(id)] = true;
      return read_files_in_order(&wanted);
    }
    for (const auto id : candidates) {
      auto query = db_.prepare("SELECT id, path, size, mtime_ns FROM files WHERE id=?1");
      if (INDX_TRY(query.bind(id).step())) add(query, true);
    }
    std::sort(rows_.begin(), rows_.end(),
              [](const File& a, const File& b) { return a.row.path < b.row.path; });
    return {};
  }
  Status read_files_in_order(const std::vector<bool>* wanted) {
    auto query = db_.prepare(needs_.size_and_time
                                 ? "SELECT id, path, size, mtime_ns FROM files ORDER BY path"
                                 : "SELECT id, path FROM files ORDER BY path");
    while (INDX_TRY(query.step()))
      if (wanted == nullptr || (*wanted)[static_cast<std::size_t>(query.integer(0))])
        add(query, needs_.size_and_time);
    return {};
  }
  void add(const Database::Statement& query, bool has_size_and_time) {
    File file;
    file.id = query.integer(0);
    file.row.path = query.text(1);
    if (!scope_.allows(file.row.path)) return;
    if (has_size_and_time) {
      file.row.size = static_cast<std::size_t>(query.integer(2));
      file.row.modified_ms = query.integer(3) / 1'000'000;
    }
    rows_.push_back(std::move(file));
  }

  /// Calls `use(file, query)` for the rows of a table that belong to candidates; `?1` is the id.
  template <typename Use>
  Status read_table(std::string_view one_by_one, std::string_view at_once, const Use& use) {
    if (!is_narrow_) {
      auto query = db_.prepare(at_once);
      return use_rows(query, use);
    }
    for (const auto& file : rows_) {
      auto query = db_.prepare(one_by_one);
      INDX_TRY(use_rows(query.bind(file.id), use));
    }
    return {};
  }
  /// The first column is the id of a file.
  template <typename Use>
  Status use_rows(Database::Statement& query, const Use& use) {
    while (INDX_TRY(query.step())) {
      const auto place = places_[static_cast<std::size_t>(query.integer(0))];
      if (place != kNoPlace) use(rows_[place], query);
    }
    return {};
  }

  Status read_properties() {
    if (!needs_.property_names)
      return read_table("SELECT id, properties FROM notes WHERE id=?1",
                        "SELECT id, properties FROM notes",
                        [](File& file, const Database::Statement& query) {
                          file.row.properties = query.text(1);
                        });
    std::map<std::string, std::vector<std::string>> columns;
    for (const auto& name : *needs_.property_names) columns[fold_case(name)].push_back(name);
    for (const auto& [name_key, names] : columns) INDX_TRY(read_column(name_key, names));
    for (auto& file : rows_) {
      if (!file.row.properties.empty()) file.row.properties += '}';
      if (!file.is_spelled_otherwise) continue;
      auto whole = db_.prepare("SELECT properties FROM notes WHERE id=?1");
      if (INDX_TRY(whole.bind(file.id).step())) file.row.properties = whole.text(0);
    }
    return {};
  }
  Status read_column(const std::string& name_key, const std::vector<std::string>& names) {
    const auto use = [&](File& file, const Database::Statement& query) {
      const auto name = query.text(1);
      for (const auto& wanted : names)
        if (wanted != name) file.is_spelled_otherwise = true;
      append_property(file.row.properties, name, query.text(2));
    };
    if (!is_narrow_) {
      auto query = db_.prepare("SELECT file_id, name, value FROM properties WHERE name_key=?1");
      return use_rows(query.bind(name_key), use);
    }
    for (const auto& file : rows_) {
      auto query = db_.prepare(
          "SELECT file_id, name, value FROM properties WHERE name_key=?1 AND file_id=?2");
      INDX_TRY(use_rows(query.bind(name_key, file.id), use));
    }
    return {};
  }

  Status read_tags() {
    std::vector<std::vector<TagAt>> tags(rows_.size());
    INDX_TRY(read_table("SELECT file_id, position, tag FROM tags WHERE file_id=?1",
                        "SELECT file_id, position, tag FROM tags",
                        [&](File& file, const Database::Statement& query) {
                          tags[static_cast<std::size_t>(&file - rows_.data())].push_back(
                              {query.integer(1), query.text(2)});
                        }));
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].row.tags = in_order(std::move(tags[i]));
    return {};
  }

  Status read_links() {
    INDX_TRY(read_table(cat(kBaseLinks, "WHERE l.source_id=?1 ORDER BY l.position"),
                        cat(kBaseLinks, "ORDER BY l.source_id, l.position"),
                        [&](File& file, const Database::Statement& query) {
                          file.row.links.push_back(read_base_link(query, scope_));
                        }));
    for (auto& file : rows_)
      for (auto& link : file.row.links)  // a link without a file name means its own note
        if (!link.path && !link.is_external && link.target.empty()) link.path = file.row.path;
    return {};
  }

  bool wants_others() const {
    return needs_.others != BaseRowNeeds::Others::Linked ||
           std::any_of(rows_.begin(), rows_.end(),
                       [](const File& file) { return may_hold_link(file.row.properties); });
  }

  Database& db_;
  const BaseRowNeeds& needs_;
  const PathScope& scope_;
  bool is_narrow_ = false;
  std::vector<File> rows_;
  std::vector<std::uint32_t> places_;  ///< in `rows_`, by id
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
