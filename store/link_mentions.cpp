#include "vault/link_mentions.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "store/link_index.hpp"
#include "store/note_filter.hpp"
#include "store/search_query.hpp"
#include "vault/note_path.hpp"

#include <charconv>

namespace indx {
namespace {

constexpr int kMaxMentionLimit = 200;
/// Notes that one call reads; a name such as `the` would ask for all of them.
constexpr int kMaxLookedAt = 400;

/// The names as one question to the full-text index; empty: it cannot find any of them.
std::string names_expression(const std::vector<std::string>& names) {
  std::vector<std::string> phrases;
  for (const auto& name : names) {
    const auto parsed = parse_query(cat('"', replace_all(name, "\"", " "), '"'));
    if (!parsed.has_value()) continue;
    std::vector<const QueryText*> texts;
    collect_texts(*parsed, texts);
    for (const auto* text : texts)
      if (!text->words.empty()) phrases.push_back(fts_phrase(*text));
  }
  return phrases.empty() ? "" : cat("body : (", join(phrases, " OR "), ")");
}

}  // namespace

Result<Page<Mention>> LinkIndex::mentions(const std::string& path, const PathScope& scope,
                                          int limit, const std::string& cursor) {
  INDX_TRY(check_limit(limit, kMaxMentionLimit));
  const auto hash = canonical_hash({{"mentions", path}});
  const auto key = INDX_TRY(cursor_key(cursor, hash));
  std::int64_t after = 0;
  std::from_chars(key.data(), key.data() + key.size(), after);
  const auto db = INDX_TRY(pool_.take());
  const auto id = INDX_TRY(file_id_of(*db, path));
  if (!id) return not_found(cat("`", path, "` does not exist."), {{"path", path}});

  std::vector<std::string> names = {std::string(INDX_TRY(NotePath::parse(path)).stem())};
  auto aliases = db->prepare("SELECT alias FROM aliases WHERE file_id=?1 ORDER BY alias_key");
  aliases.bind(*id);
  while (INDX_TRY(aliases.step())) names.push_back(aliases.text(0));

  Page<Mention> page;
  const auto expression = names_expression(names);
  if (expression.empty()) return page;
  int looked_at = 0;
  std::int64_t last = after;
  auto query = db->prepare(
      "SELECT n.id, f.path, f.title, n.body FROM notes_fts s JOIN notes n ON n.id=s.rowid JOIN "
      "files "
      "f ON f.id=n.id WHERE s.notes_fts MATCH ?1 AND s.rowid>?2 AND f.kind=1 ORDER BY s.rowid");
  query.bind(expression, after);
  while (INDX_TRY(query.step())) {
    if (looked_at == kMaxLookedAt || page.rows.size() == static_cast<std::size_t>(limit)) {
      page.next_cursor = encode_cursor({{"k", std::to_string(last)}}, hash);
      break;
    }
    last = query.integer(0);
    if (last == *id || !scope.allows(query.text(1))) continue;
    ++looked_at;
    const auto text = query.text(3);
    const auto found = find_mentions(text, names);
    if (found.empty()) continue;
    Mention row{query.text(1), query.text(2), static_cast<std::int64_t>(found.size()), {}};
    for (const auto& place : found) {
      if (row.occurrences.size() == kMaxUsesOfOne) break;
      row.occurrences.push_back({text.substr(place.begin, place.end - place.begin), place.line,
                                 place.column, link_context(text, place.begin, place.end)});
    }
    page.rows.push_back(std::move(row));
  }
  return page;
}

}  // namespace indx
