#include "store/base_row_reader.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace indx {
namespace {

/// Up to so many files are cheaper to ask for one by one than to read all rows.
constexpr std::size_t kFewFiles = 2000;

using FileIdSet = std::unordered_set<std::int64_t>;

/// The files that have all of the tags; nullopt: no tag is asked for.
Result<std::optional<FileIdSet>> files_with_tags(Database& db,
                                                 const std::vector<std::string>& tags) {
  std::optional<FileIdSet> all;
  for (const auto& tag : tags) {
    FileIdSet found;
    auto query = db.prepare(
        "SELECT file_id FROM tags WHERE tag_key=?1 UNION ALL SELECT file_id FROM tags WHERE "
        "tag_key>=?2 AND tag_key<?3");  // `0` follows `/`: a range of what is below the tag
    query.bind(tag, tag + "/", tag + "0");
    while (INDX_TRY(query.step()))
      if (!all || all->contains(query.integer(0))) found.insert(query.integer(0));
    all = std::move(found);
  }
  return all;
}

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

/// Tags and links by file: read at once for a whole vault, one by one for a few files.
struct RowParts {
  bool is_whole = false;
  std::unordered_map<std::int64_t, std::vector<TagAt>> tags;
  std::unordered_map<std::int64_t, std::vector<BaseRowLink>> links;

  Status load(Database& db, const BaseRowNeeds& needs, const PathScope& scope) {
    is_whole = true;
    if (needs.tags) {
      auto query = db.prepare("SELECT file_id, position, tag FROM tags");
      while (INDX_TRY(query.step()))
        tags[query.integer(0)].push_back({query.integer(1), query.text(2)});
    }
    if (needs.links) {
      auto query = db.prepare(cat(kBaseLinks, "ORDER BY l.source_id, l.position"));
      while (INDX_TRY(query.step()))
        links[query.integer(0)].push_back(read_base_link(query, scope));
    }
    return {};
  }

  Status fill(Database& db, const BaseRowNeeds& needs, const PathScope& scope, std::int64_t id,
              BaseFileRow& row) {
    if (!is_whole) {
      if (needs.tags) {
        auto query = db.prepare("SELECT position, tag FROM tags WHERE file_id=?1");
        query.bind(id);
        while (INDX_TRY(query.step())) tags[id].push_back({query.integer(0), query.text(1)});
      }
      if (needs.links) {
        auto query = db.prepare(cat(kBaseLinks, "WHERE l.source_id=?1 ORDER BY l.position"));
        query.bind(id);
        while (INDX_TRY(query.step())) links[id].push_back(read_base_link(query, scope));
      }
      if (needs.properties) {
        auto query = db.prepare("SELECT properties FROM notes WHERE id=?1");
        if (INDX_TRY(query.bind(id).step())) row.properties = query.text(0);
      }
    }
    if (const auto it = tags.find(id); it != tags.end()) row.tags = in_order(std::move(it->second));
    if (const auto it = links.find(id); it != links.end()) row.links = std::move(it->second);
    for (auto& link : row.links)  // a link without a file name means its own note
      if (!link.path && !link.is_external && link.target.empty()) link.path = row.path;
    return {};
  }
};

bool is_below(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

}  // namespace

Status visit_base_rows(IndexPool& pool, const BaseRowNeeds& needs, const PathScope& scope,
                       const BaseRowVisitor& visit) {
  const auto db = INDX_TRY(pool.take());
  const auto tagged = INDX_TRY(files_with_tags(*db, needs.all_tags));
  const bool is_narrow = tagged && tagged->size() <= kFewFiles;
  RowParts parts;
  if (!is_narrow) INDX_TRY(parts.load(*db, needs, scope));
  const bool joins_notes = needs.properties && !is_narrow;
  auto query = db->prepare(
      joins_notes ? "SELECT f.id, f.path, f.size, f.mtime_ns, n.properties FROM files f LEFT JOIN "
                    "notes n ON n.id=f.id ORDER BY f.path"
                  : "SELECT id, path, size, mtime_ns FROM files ORDER BY path");
  while (INDX_TRY(query.step())) {
    BaseFileRow row;
    row.path = query.text(1);
    if (!scope.allows(row.path)) continue;
    const auto id = query.integer(0);
    row.is_candidate = (!tagged || tagged->contains(id)) &&
                       (!needs.folder || is_below(row.path, *needs.folder)) &&
                       (!needs.extension || row.path.ends_with("." + *needs.extension));
    if (row.is_candidate) {
      row.size = static_cast<std::size_t>(query.integer(2));
      row.modified_ms = query.integer(3) / 1'000'000;
      if (joins_notes) row.properties = query.text(4);
      INDX_TRY(parts.fill(*db, needs, scope, id, row));
    }
    visit(std::move(row));
  }
  return {};
}

}  // namespace indx
