#include "store/note_index_reader.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "store/note_filter.hpp"
#include "vault/conflict_copy.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

namespace indx {
namespace {

constexpr int kMaxListLimit = 1000;
constexpr std::size_t kMaxWarnings = 100;
constexpr std::size_t kMaxTaggedByPath = 5000;

Result<std::vector<std::pair<std::string, std::int64_t>>> paths_of(Database& db,
                                                                   const FileIds& ids) {
  std::vector<std::pair<std::string, std::int64_t>> paths;
  for (const auto id : ids) {
    auto query = db.prepare("SELECT path FROM files WHERE id=?1");
    if (INDX_TRY(query.bind(id).step())) paths.emplace_back(query.text(0), id);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

Result<std::vector<TagCount>> count_tags(Database& db, const PathScope& scope) {
  struct Seen {
    TagCount count;
    std::pair<std::string, std::int64_t> first;  // path and offset of the spelling shown
  };
  std::map<std::string, Seen> seen;
  std::map<std::string, int> nested;
  auto query = db.prepare(
      "SELECT f.path, t.tag_key, t.tag, t.begin FROM tags t JOIN files f ON f.id=t.file_id ORDER "
      "BY f.path, t.position");
  std::string path;
  std::set<std::string> of_note;  // the note's tags and their parents
  bool is_visible = false;
  const auto end_note = [&] {
    for (const auto& tag : of_note) ++nested[tag];
    of_note.clear();
  };
  while (INDX_TRY(query.step())) {
    if (auto next = query.text(0); next != path) {
      end_note();
      path = std::move(next);
      is_visible = scope.allows(path);
    }
    if (!is_visible) continue;
    const auto key = query.text(1);
    auto& entry = seen[key];
    if (entry.count.count++ == 0) entry.count.tag = query.text(2);
    for (auto slash = key.find('/'); slash != key.npos; slash = key.find('/', slash + 1))
      of_note.insert(key.substr(0, slash));
    of_note.insert(key);
  }
  end_note();
  std::vector<TagCount> all;
  for (auto& [key, entry] : seen) {
    entry.count.count_nested = nested[key];
    all.push_back(std::move(entry.count));
  }
  std::stable_sort(all.begin(), all.end(), [](const TagCount& a, const TagCount& b) {
    return a.count != b.count ? a.count > b.count : a.tag < b.tag;
  });
  return all;
}

/// Links and tags of all files, by what the indexes of their tables hold.
Status count_indexed(Database& db, IndexCounts& counts) {
  auto query = db.prepare(
      "SELECT (SELECT count(*) FROM links), (SELECT count(*) FROM links WHERE target_key IS NOT "
      "NULL), (SELECT count(DISTINCT tag_key) FROM tags)");
  INDX_TRY(query.step());
  counts.links = static_cast<int>(query.integer(0));
  counts.unresolved_links = static_cast<int>(query.integer(1));
  counts.tags = static_cast<int>(query.integer(2));
  return {};
}

/// The same without hidden files; a link to one counts as unresolved.
Status count_visible(Database& db, const std::unordered_set<std::int64_t>& hidden,
                     IndexCounts& counts) {
  auto links = db.prepare("SELECT source_id, external, target_id FROM links");
  while (INDX_TRY(links.step())) {
    if (hidden.contains(links.integer(0))) continue;
    ++counts.links;
    const bool is_lost = links.is_null(2) || hidden.contains(links.integer(2));
    counts.unresolved_links += links.integer(1) == 0 && is_lost ? 1 : 0;
  }
  std::set<std::string> tags;
  auto uses = db.prepare("SELECT file_id, tag_key FROM tags");
  while (INDX_TRY(uses.step()))
    if (!hidden.contains(uses.integer(0))) tags.insert(uses.text(1));
  counts.tags = static_cast<int>(tags.size());
  return {};
}

Result<IndexCounts> count_all(Database& db, const PathScope& scope) {
  IndexCounts counts;
  counts.generation = INDX_TRY(read_generation(db));
  const bool is_restricted = !scope.any_of.empty() || !scope.none_of.empty();
  std::unordered_set<std::int64_t> hidden;
  auto files = db.prepare("SELECT id, path, kind, size, heading_count, chunk_count FROM files");
  while (INDX_TRY(files.step())) {
    if (is_restricted && !scope.allows(files.text(1))) {
      hidden.insert(files.integer(0));
      continue;
    }
    ++counts.files;
    counts.notes += files.integer(2) == 1 ? 1 : 0;
    counts.bytes += files.integer(3);
    counts.headings += static_cast<int>(files.integer(4));
    counts.chunks += static_cast<int>(files.integer(5));
    if (counts.warnings.size() >= kMaxWarnings) continue;
    const auto path = files.text(1);
    if (const auto original = original_of_conflict_copy(path))
      counts.warnings.push_back(cat(path, ": conflict_copy of ", *original));
  }
  if (is_restricted)
    INDX_TRY(count_visible(db, hidden, counts));
  else
    INDX_TRY(count_indexed(db, counts));
  auto warnings = db.prepare(
      "SELECT f.path, w.value, f.id FROM notes n JOIN files f ON f.id=n.id, json_each(n.warnings) "
      "w WHERE n.warnings<>'[]' "
      "ORDER BY f.path, w.key");
  while (counts.warnings.size() < kMaxWarnings && INDX_TRY(warnings.step()))
    if (!hidden.contains(warnings.integer(2)))
      counts.warnings.push_back(cat(warnings.text(0), ": ", warnings.text(1)));
  return counts;
}

}  // namespace

Result<std::string> read_generation(Database& db) {
  auto query = db.prepare(
      "SELECT (SELECT value FROM meta WHERE key='epoch') || '-' || (SELECT value FROM meta WHERE "
      "key='counter')");
  INDX_TRY(query.step());
  return query.text(0);
}

Result<std::string> read_numbering(Database& db) {
  auto query = db.prepare(
      "SELECT (SELECT value FROM meta WHERE key='epoch') || '-' || coalesce((SELECT value FROM "
      "meta "
      "WHERE key='cleared'), '0')");
  INDX_TRY(query.step());
  return query.text(0);
}

NoteIndexReader::NoteIndexReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
NoteIndexReader::~NoteIndexReader() = default;
IndexPool& NoteIndexReader::pool() { return *impl_->pool; }

Result<std::unique_ptr<NoteIndexReader>> NoteIndexReader::open(const std::string& dir,
                                                               std::size_t connections) {
  auto impl = std::make_unique<Impl>();
  impl->pool = INDX_TRY(IndexPool::open(dir + "/index.db", connections));
  return std::unique_ptr<NoteIndexReader>(
      new NoteIndexReader(std::move(impl)));  // NOLINT: the constructor is private
}

Result<Page<NoteRow>> NoteIndexReader::list(const NoteFilter& filter, int limit,
                                            const std::string& cursor) {
  INDX_TRY(check_limit(limit, kMaxListLimit));
  const auto hash = filter_hash(filter);
  std::string after;
  if (!cursor.empty()) {
    const auto position = INDX_TRY(decode_cursor(cursor, hash));
    const auto path = position.value("p", Json());
    if (!path.is_string())
      return invalid("The cursor is damaged; start again without it.", {{"field", "cursor"}});
    after = path.get<std::string>();
  }
  const auto db = INDX_TRY(impl_->pool->take());
  const auto check = INDX_TRY(FilterCheck::make(*db, filter));
  const auto& prefix = check.path_prefix();
  Page<NoteRow> page;
  /// False: the page is full.
  const auto add = [&](const Database::Statement& row) -> Result<bool> {
    if (!check.allows_path(row.text(1)) || !INDX_TRY(check.allows_id(row.integer(0)))) return true;
    if (page.rows.size() == static_cast<std::size_t>(limit)) {
      page.next_cursor = encode_cursor({{"p", page.rows.back().path}}, hash);
      return false;
    }
    page.rows.push_back(INDX_TRY(note_row_of(*db, row)));
    return true;
  };
  if (check.tagged() != nullptr && check.tagged()->size() <= kMaxTaggedByPath) {
    // Few notes have the tag: to sort these is less than to walk all paths.
    for (const auto& [path, id] : INDX_TRY(paths_of(*db, *check.tagged()))) {
      if (path <= after || !path.starts_with(prefix)) continue;
      auto query = db->prepare(cat(kNoteRowColumns, "WHERE id=?1 AND kind=1"));
      if (INDX_TRY(query.bind(id).step()) && !INDX_TRY(add(query))) break;
    }
    return page;
  }
  auto query =
      db->prepare(cat(kNoteRowColumns, "WHERE kind=1 AND path>?1 AND path>=?2 ORDER BY path"));
  query.bind(after, prefix);
  while (INDX_TRY(query.step())) {
    if (!query.text(1).starts_with(prefix) || !INDX_TRY(add(query))) break;
  }
  return page;
}

Result<std::optional<NoteRow>> NoteIndexReader::find(const std::string& path) {
  const auto db = INDX_TRY(impl_->pool->take());
  auto query = db->prepare(cat(kNoteRowColumns, "WHERE path=?1"));
  if (!INDX_TRY(query.bind(path).step())) return std::optional<NoteRow>();
  return std::optional<NoteRow>(INDX_TRY(note_row_of(*db, query)));
}

template <typename T, typename Count>
Result<T> NoteIndexReader::Impl::count_once(Database& db, Counted<T>& counted,
                                            const PathScope& scope, Count count) {
  const auto key = cat(INDX_TRY(read_generation(db)), ' ', Json(scope.any_of).dump(),
                       Json(scope.none_of).dump());
  {
    const std::scoped_lock lock(mutex);
    if (counted.key == key) return counted.value;
  }
  T value = INDX_TRY(count(db, scope));
  const std::scoped_lock lock(mutex);
  counted = {key, value};
  return value;
}

Result<std::vector<TagCount>> NoteIndexReader::tags(const PathScope& scope) {
  const auto db = INDX_TRY(impl_->pool->take());
  return impl_->count_once(*db, impl_->tags, scope, count_tags);
}

Result<std::vector<std::string>> NoteIndexReader::paths_with_tag(const std::string& tag,
                                                                 const PathScope& scope) {
  const auto db = INDX_TRY(impl_->pool->take());
  std::vector<std::string> paths;
  for (const auto id : INDX_TRY(files_with_tag(*db, tag))) {
    auto query = db->prepare("SELECT path FROM files WHERE id=?1");
    if (INDX_TRY(query.bind(id).step()) && scope.allows(query.text(0)))
      paths.push_back(query.text(0));
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

Result<IndexCounts> NoteIndexReader::counts(const PathScope& scope) {
  const auto db = INDX_TRY(impl_->pool->take());
  return impl_->count_once(*db, impl_->counts, scope, count_all);
}

Result<std::string> NoteIndexReader::generation() {
  const auto db = INDX_TRY(impl_->pool->take());
  return read_generation(*db);
}

Result<std::string> NoteIndexReader::revision() {
  const auto db = INDX_TRY(impl_->pool->take());
  auto vectors = db->prepare("SELECT coalesce(max(id), 0) FROM embeddings");
  INDX_TRY(vectors.step());
  return cat(INDX_TRY(read_generation(*db)), '-', vectors.text(0));
}

Status NoteIndexReader::visit_texts(const std::function<void(NoteText)>& visit) {
  const auto db = INDX_TRY(impl_->pool->take());
  auto query = db->prepare(
      "SELECT f.id, f.path, f.title, n.body_begin, n.body FROM files f JOIN notes n ON n.id=f.id "
      "WHERE f.kind=1 ORDER BY f.path");
  while (INDX_TRY(query.step())) {
    auto body = query.text(4).substr(static_cast<std::size_t>(query.integer(3)));
    if (!is_valid_utf8(body)) body = replace_invalid_utf8(body);
    auto tags = INDX_TRY(tags_of(*db, query.integer(0)));
    visit({query.text(1), query.text(2), std::move(body), std::move(tags)});
  }
  return {};
}

}  // namespace indx
