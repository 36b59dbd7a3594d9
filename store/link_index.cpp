#include "store/link_index.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "store/note_filter.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace indx {
namespace {

constexpr int kMaxLinkLimit = 1000;
constexpr std::size_t kMaxCandidates = 50;
constexpr std::string_view kLinkColumns =
    "l.kind, l.syntax, l.external, l.target, l.subpath, l.display, l.property, l.line, l.col, "
    "l.begin, l.end";

/// From the first eleven columns of a query, which are `kLinkColumns`.
Link read_link(const Database::Statement& query) {
  Link link;
  link.kind = static_cast<LinkKind>(query.integer(0));
  link.syntax = static_cast<LinkSyntax>(query.integer(1));
  link.external = query.integer(2) != 0;
  link.target = query.text(3);
  link.subpath = query.text(4);
  link.display = query.optional_text(5);
  link.key = query.text(6);
  link.line = static_cast<int>(query.integer(7));
  link.column = static_cast<int>(query.integer(8));
  link.begin = static_cast<std::size_t>(query.integer(9));
  link.end = static_cast<std::size_t>(query.integer(10));
  return link;
}

Result<std::string> text_of_file(Database& db, std::int64_t id) {
  auto query = db.prepare("SELECT body FROM notes WHERE id=?1");
  if (!INDX_TRY(query.bind(id).step())) return std::string();
  return query.text(0);
}

/// Headings and block ids of one note, for subpaths.
Result<NoteAnchors> anchors_of(Database& db, std::int64_t id) {
  NoteAnchors anchors;
  auto query = db.prepare("SELECT outline, blocks FROM notes WHERE id=?1");
  if (!INDX_TRY(query.bind(id).step())) return anchors;
  for (const auto& heading : Json::parse(query.text(0), nullptr, false)) {
    const auto text = heading[1].get<std::string>();
    anchors.headings.push_back(
        {heading[0].get<int>(), heading_key(without_block_id(text)), heading[2].get<int>()});
  }
  for (const auto& block : Json::parse(query.text(1), nullptr, false))
    anchors.blocks.push_back({fold_case(block[0].get<std::string>()), block[1].get<int>()});
  return anchors;
}

/// On other files a subpath is a page, a size or a view: nothing to look up.
bool has_anchors(std::string_view path) {
  return path.size() > 3 && fold_case(path.substr(path.size() - 3)) == ".md";
}

Result<std::vector<std::string>> notes_with_alias(Database& db, std::string_view name,
                                                  const PathScope& scope) {
  std::vector<std::string> paths;
  auto query = db.prepare(
      "SELECT f.path FROM aliases a JOIN files f ON f.id=a.file_id WHERE a.alias_key=?1 ORDER BY "
      "f.path");
  query.bind(fold_case(trim(name)));
  while (INDX_TRY(query.step()))
    if (scope.allows(query.text(0))) paths.push_back(query.text(0));
  return paths;
}

/// One group of unresolved links while its rows come in.
struct Group {
  UnresolvedTarget row;
  std::set<std::int64_t> sources;

  void add(std::int64_t source, const std::string& path, Link link) {
    if (row.count++ == 0) row.target = link.target;
    sources.insert(source);
    if (row.uses.size() < kMaxUsesOfOne) row.uses.push_back({path, std::move(link)});
  }
  UnresolvedTarget finish() {
    row.source_count = static_cast<std::int64_t>(sources.size());
    std::stable_sort(
        row.uses.begin(), row.uses.end(),
        [](const UnresolvedUse& a, const UnresolvedUse& b) { return a.path < b.path; });
    return std::move(row);
  }
};

/// Groups after `after` in order of their key, `limit` and one more.
using Groups = std::vector<std::pair<std::string, UnresolvedTarget>>;

Result<Groups> all_groups(Database& db, const std::string& after, std::size_t limit) {
  Groups groups;
  std::string key;
  Group group;
  const auto end_group = [&] {
    if (group.row.count > 0) groups.emplace_back(key, group.finish());
    group = Group();
  };
  auto query = db.prepare(
      cat("SELECT ", kLinkColumns,
          ", l.target_key, l.source_id, f.path FROM links l JOIN files f ON f.id=l.source_id WHERE "
          "l.target_key IS NOT NULL AND l.target_key>?1 ORDER BY l.target_key, l.source_id, "
          "l.position"));
  query.bind(after);
  while (INDX_TRY(query.step())) {
    if (auto next = query.text(11); next != key) {
      end_group();
      if (groups.size() > limit) return groups;
      key = std::move(next);
    }
    group.add(query.integer(12), query.text(13), read_link(query));
  }
  end_group();
  return groups;
}

/// For a caller who does not see everything: a link to a hidden file counts as unresolved.
Result<Groups> visible_groups(Database& db, const PathScope& scope, const std::string& after,
                              std::size_t limit) {
  std::map<std::string, Group> by_key;
  auto query = db.prepare(
      cat("SELECT ", kLinkColumns,
          ", l.source_id, f.path, t.path FROM links l JOIN files f ON f.id=l.source_id LEFT JOIN "
          "files t ON t.id=l.target_id WHERE l.external=0 ORDER BY l.source_id, l.position"));
  std::unordered_map<std::int64_t, bool> seen;
  while (INDX_TRY(query.step())) {
    const auto source = query.integer(11);
    auto known = seen.find(source);
    if (known == seen.end()) known = seen.emplace(source, scope.allows(query.text(12))).first;
    if (!known->second) continue;
    const auto target = query.optional_text(13);
    if (target && scope.allows(*target)) continue;
    auto key = target_key(query.text(3));
    if (key <= after) continue;
    by_key[std::move(key)].add(source, query.text(12), read_link(query));
    if (by_key.size() > limit + 1) by_key.erase(std::prev(by_key.end()));
  }
  Groups groups;
  for (auto& [key, group] : by_key) groups.emplace_back(key, group.finish());
  return groups;
}

struct OrphanFlags {
  bool has_incoming = false, has_outgoing = false;
  bool fits(OrphanKind kind) const {
    if (kind == OrphanKind::Orphans) return !has_incoming && !has_outgoing;
    return kind == OrphanKind::NoIncoming ? !has_incoming : !has_outgoing;
  }
};

/// For a caller who does not see everything: which notes links between visible files touch.
Result<std::unordered_map<std::int64_t, OrphanFlags>> visible_flags(Database& db,
                                                                    const PathScope& scope) {
  struct File {
    bool is_visible = false, is_note = false;
  };
  std::unordered_map<std::int64_t, File> files;
  auto rows = db.prepare("SELECT id, path, kind FROM files");
  while (INDX_TRY(rows.step()))
    files[rows.integer(0)] = {scope.allows(rows.text(1)), rows.integer(2) == 1};
  std::unordered_map<std::int64_t, OrphanFlags> flags;
  auto links = db.prepare("SELECT source_id, target_id FROM links WHERE target_id IS NOT NULL");
  while (INDX_TRY(links.step())) {
    const auto source = links.integer(0), target = links.integer(1);
    if (source == target || !files[source].is_visible || !files[target].is_visible) continue;
    flags[target].has_incoming = true;
    if (files[target].is_note) flags[source].has_outgoing = true;
  }
  return flags;
}

}  // namespace

Result<std::optional<std::int64_t>> file_id_of(Database& db, const std::string& path) {
  auto query = db.prepare("SELECT id FROM files WHERE path=?1");
  if (!INDX_TRY(query.bind(path).step())) return std::optional<std::int64_t>();
  return std::optional(query.integer(0));
}

Result<std::string> cursor_key(const std::string& cursor, const std::string& question_hash) {
  if (cursor.empty()) return std::string();
  const auto position = INDX_TRY(decode_cursor(cursor, question_hash));
  const auto key = position.value("k", Json());
  if (!key.is_string())
    return invalid("The cursor is damaged; start again without it.", {{"field", "cursor"}});
  return key.get<std::string>();
}

bool is_restricted(const PathScope& scope) {
  return !scope.any_of.empty() || !scope.none_of.empty();
}

Result<std::optional<NoteLinks>> LinkIndex::forward(const std::string& path,
                                                    const PathScope& scope) {
  const auto db = INDX_TRY(pool_.take());
  NoteLinks answer;
  std::int64_t source = 0;
  {
    auto file = db->prepare("SELECT id, etag FROM files WHERE path=?1");
    if (!INDX_TRY(file.bind(path).step())) return std::optional<NoteLinks>();
    source = file.integer(0);
    answer.etag = file.text(1);
  }
  const auto text = INDX_TRY(text_of_file(*db, source));
  std::map<std::int64_t, NoteAnchors> anchors;
  auto query = db->prepare(cat("SELECT ", kLinkColumns,
                               ", l.target_id, t.path FROM links l LEFT JOIN files t ON "
                               "t.id=l.target_id WHERE l.source_id=?1 ORDER BY l.position"));
  query.bind(source);
  while (INDX_TRY(query.step())) {
    ResolvedLink link;
    link.link = read_link(query);
    if (link.link.end > 0) link.context = link_context(text, link.link.begin, link.link.end);
    if (auto target = query.optional_text(12); target && scope.allows(*target))
      link.path = std::move(target);
    if (link.link.external) {
      link.subpath_resolved = false;
      answer.links.push_back(std::move(link));
      continue;
    }
    if (!link.path) {
      link.subpath_resolved = false;
      link.alias_of = INDX_TRY(notes_with_alias(*db, link.link.target, scope));
    } else if (!link.link.subpath.empty() && has_anchors(*link.path)) {
      const auto id = query.integer(11);
      if (!anchors.contains(id)) anchors.emplace(id, INDX_TRY(anchors_of(*db, id)));
      link.subpath_resolved = find_subpath(link.link.subpath, anchors.at(id)).has_value();
    }
    answer.links.push_back(std::move(link));
  }
  return std::optional(std::move(answer));
}

Result<BacklinkPage> LinkIndex::backlinks(const std::string& path, const PathScope& scope,
                                          int limit, const std::string& cursor) {
  INDX_TRY(check_limit(limit, kMaxLinkLimit));
  const auto hash = canonical_hash({{"backlinks", path}});
  const auto after = INDX_TRY(cursor_key(cursor, hash));
  const auto db = INDX_TRY(pool_.take());
  const auto id = INDX_TRY(file_id_of(*db, path));
  if (!id) return not_found(cat("`", path, "` does not exist."), {{"path", path}});
  BacklinkPage answer;
  std::vector<std::int64_t> sources;
  auto query = db->prepare(
      "SELECT s.id, s.path, s.title, count(*) FROM links l JOIN files s ON s.id=l.source_id WHERE "
      "l.target_id=?1 AND l.source_id<>?1 GROUP BY s.id ORDER BY s.path");
  query.bind(*id);
  auto& rows = answer.page.rows;
  while (INDX_TRY(query.step())) {
    auto source = query.text(1);
    if (!scope.allows(source)) continue;
    ++answer.total;
    if (!after.empty() && source <= after) continue;
    if (rows.size() == static_cast<std::size_t>(limit)) {
      if (!answer.page.next_cursor)
        answer.page.next_cursor = encode_cursor({{"k", rows.back().path}}, hash);
      continue;
    }
    rows.push_back({std::move(source), query.text(2), query.integer(3), {}});
    sources.push_back(query.integer(0));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto text = INDX_TRY(text_of_file(*db, sources[i]));
    auto uses = db->prepare(cat("SELECT ", kLinkColumns,
                                " FROM links l WHERE l.source_id=?1 AND l.target_id=?2 ORDER BY "
                                "l.position LIMIT ",
                                kMaxUsesOfOne));
    uses.bind(sources[i], *id);
    while (INDX_TRY(uses.step())) {
      LinkUse use{read_link(uses), {}};
      if (use.link.end > 0) use.context = link_context(text, use.link.begin, use.link.end);
      rows[i].occurrences.push_back(std::move(use));
    }
  }
  return answer;
}

Result<Page<UnresolvedTarget>> LinkIndex::unresolved(const PathScope& scope, int limit,
                                                     const std::string& cursor) {
  INDX_TRY(check_limit(limit, kMaxLinkLimit));
  const auto hash = canonical_hash("unresolved");
  const auto after = INDX_TRY(cursor_key(cursor, hash));
  const auto most = static_cast<std::size_t>(limit);
  const auto db = INDX_TRY(pool_.take());
  auto groups = INDX_TRY(is_restricted(scope) ? visible_groups(*db, scope, after, most)
                                              : all_groups(*db, after, most));
  Page<UnresolvedTarget> page;
  if (groups.size() > most) {
    page.next_cursor = encode_cursor({{"k", groups[most - 1].first}}, hash);
    groups.resize(most);
  }
  for (auto& [key, row] : groups) {
    row.alias_of = INDX_TRY(notes_with_alias(*db, row.target, scope));
    page.rows.push_back(std::move(row));
  }
  return page;
}

Result<Page<OrphanRow>> LinkIndex::orphans(OrphanKind kind, const PathScope& scope, int limit,
                                           const std::string& cursor) {
  INDX_TRY(check_limit(limit, kMaxLinkLimit));
  const auto hash = canonical_hash({{"orphans", static_cast<int>(kind)}});
  const auto after = INDX_TRY(cursor_key(cursor, hash));
  const auto db = INDX_TRY(pool_.take());
  Page<OrphanRow> page;
  const auto is_full = [&] {
    if (page.rows.size() < static_cast<std::size_t>(limit)) return false;
    page.next_cursor = encode_cursor({{"k", page.rows.back().path}}, hash);
    return true;
  };
  if (is_restricted(scope)) {
    const auto flags = INDX_TRY(visible_flags(*db, scope));
    auto query =
        db->prepare("SELECT id, path, title FROM files WHERE kind=1 AND path>?1 ORDER BY path");
    query.bind(after);
    while (INDX_TRY(query.step())) {
      const auto found = flags.find(query.integer(0));
      const auto state = found == flags.end() ? OrphanFlags() : found->second;
      if (!state.fits(kind) || !scope.allows(query.text(1))) continue;
      if (is_full()) break;
      page.rows.push_back({query.text(1), query.text(2), state.has_incoming, state.has_outgoing});
    }
    return page;
  }
  // Both ranges of the index come in path order; two are merged without a sort.
  const int other = kind == OrphanKind::NoIncoming ? 1 : kind == OrphanKind::NoOutgoing ? 2 : -1;
  auto query = db->prepare(
      "SELECT path, title, unlinked FROM files WHERE unlinked=0 AND path>?1 UNION ALL "
      "SELECT path, title, unlinked FROM files WHERE unlinked=?2 AND path>?1 ORDER BY path");
  query.bind(after, other);
  while (INDX_TRY(query.step())) {
    if (is_full()) break;
    page.rows.push_back(
        {query.text(0), query.text(1), query.integer(2) == 2, query.integer(2) == 1});
  }
  return page;
}

Result<LinkAnswer> LinkIndex::resolve(const LinkQuestion& question, const PathScope& scope) {
  const auto& link = question.link;
  const auto db = INDX_TRY(pool_.take());
  LinkAnswer answer;
  std::optional<std::int64_t> id;
  if (const auto key = name_key_of_target(link.target)) {
    std::vector<LinkCandidates::File> files;
    auto query = db->prepare("SELECT id, path FROM files WHERE name_key=?1");
    query.bind(*key);
    while (INDX_TRY(query.step())) files.push_back({query.integer(0), query.text(1)});
    const LinkCandidates candidates(std::move(files));
    const auto* file = candidates.resolve(question.source, link.target, link.syntax);
    if (file != nullptr && scope.allows(file->path)) {
      id = file->id;
      answer.path = file->path;
    }
    for (const auto* other : candidates.matches(link.target))
      if (scope.allows(other->path) && answer.candidates.size() < kMaxCandidates)
        answer.candidates.push_back(other->path);
  } else {
    id = INDX_TRY(file_id_of(*db, question.source));
    answer.path = question.source;
    answer.candidates = {question.source};
  }
  if (!answer.path) {
    answer.subpath_resolved = false;
    answer.alias_of = INDX_TRY(notes_with_alias(*db, link.target, scope));
    return answer;
  }
  if (!has_anchors(*answer.path)) return answer;
  answer.line = 1;
  if (link.subpath.empty()) return answer;
  const auto line = id ? find_subpath(link.subpath, INDX_TRY(anchors_of(*db, *id))) : std::nullopt;
  answer.subpath_resolved = line.has_value();
  answer.line = line.value_or(0);
  return answer;
}

}  // namespace indx
