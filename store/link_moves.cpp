#include "base/text.hpp"
#include "base/unicode.hpp"
#include "store/link_index.hpp"
#include "store/search_query.hpp"
#include "vault/frontmatter.hpp"
#include "vault/property_rename.hpp"

#include <algorithm>
#include <set>

namespace indx {

Result<MoveGround> LinkIndex::move_ground(const std::vector<FileMove>& moves) {
  const auto db = INDX_TRY(pool_.take());
  std::set<std::string> moved_keys, keys, sources;
  for (const auto& move : moves) {
    moved_keys.insert(name_key_of_path(move.from));
    moved_keys.insert(name_key_of_path(move.to));
  }
  for (const auto& key : moved_keys) {
    auto query = db->prepare(
        "SELECT DISTINCT f.path FROM links l JOIN files f ON f.id=l.source_id WHERE l.name_key=?1");
    query.bind(key);
    while (INDX_TRY(query.step())) sources.insert(query.text(0));
  }
  keys = moved_keys;
  for (const auto& move : moves) {
    auto query = db->prepare(
        "SELECT DISTINCT name_key FROM links WHERE name_key IS NOT NULL AND source_id=(SELECT id "
        "FROM "
        "files WHERE path=?1)");
    query.bind(move.from);
    while (INDX_TRY(query.step())) {
      keys.insert(query.text(0));
      sources.insert(move.from);
    }
  }
  MoveGround ground;
  for (const auto& key : keys) {
    auto& paths = ground.files[key];
    auto query = db->prepare("SELECT path FROM files WHERE name_key=?1 ORDER BY path");
    query.bind(key);
    while (INDX_TRY(query.step())) paths.push_back(query.text(0));
  }
  for (const auto& move : moves) {  // one that is not indexed yet
    auto& paths = ground.files[name_key_of_path(move.from)];
    if (std::find(paths.begin(), paths.end(), move.from) == paths.end()) paths.push_back(move.from);
  }
  ground.sources.assign(sources.begin(), sources.end());
  return ground;
}

Result<AnchorGround> LinkIndex::anchor_ground(const std::string& path) {
  const auto db = INDX_TRY(pool_.take());
  AnchorGround ground;
  const auto key = name_key_of_path(path);
  auto& same_name = ground.files[key];
  auto files = db->prepare("SELECT path FROM files WHERE name_key=?1 ORDER BY path");
  files.bind(key);
  while (INDX_TRY(files.step())) same_name.push_back(files.text(0));
  auto uses = db->prepare(
      "SELECT DISTINCT f.path, l.subpath FROM links l JOIN files f ON f.id=l.source_id WHERE "
      "l.target_id=(SELECT id FROM files WHERE path=?1) AND l.subpath<>'' ORDER BY 1, 2");
  uses.bind(path);
  while (INDX_TRY(uses.step())) ground.uses.push_back({uses.text(0), uses.text(1)});
  return ground;
}

Result<std::vector<std::string>> LinkIndex::files_ending_in(const std::string& suffix,
                                                            const PathScope& scope) {
  const auto db = INDX_TRY(pool_.take());
  std::vector<std::string> paths;
  auto query = db->prepare("SELECT path FROM files WHERE path LIKE '%' || ?1 ORDER BY path");
  query.bind(suffix);
  while (INDX_TRY(query.step()))
    if (scope.allows(query.text(0))) paths.push_back(query.text(0));
  return paths;
}

Result<std::vector<std::string>> LinkIndex::unread_canvases(const PathScope& scope) {
  const auto db = INDX_TRY(pool_.take());
  std::vector<std::string> paths;
  auto query = db->prepare(
      "SELECT f.path FROM files f LEFT JOIN notes n ON n.id=f.id WHERE f.path LIKE '%.canvas' AND "
      "(n.id IS NULL OR n.warnings LIKE '%\"canvas_invalid\"%') ORDER BY f.path");
  while (INDX_TRY(query.step()))
    if (scope.allows(query.text(0))) paths.push_back(query.text(0));
  return paths;
}

Result<std::vector<std::string>> LinkIndex::notes_with_property(const std::string& name,
                                                                const PathScope& scope) {
  const auto db = INDX_TRY(pool_.take());
  const auto key = fold_case(name);
  std::vector<std::string> paths;
  auto query = db->prepare(
      "SELECT f.path, n.properties FROM notes n JOIN files f ON f.id=n.id WHERE n.properties<>'{}' "
      "ORDER BY f.path");
  while (INDX_TRY(query.step())) {
    const auto text = query.text(1);
    if (fold_case(text).find(key) == std::string::npos || !scope.allows(query.text(0))) continue;
    const auto values = Json::parse(text, nullptr, false);
    if (values.is_object() && find_property(values, name) != nullptr)
      paths.push_back(query.text(0));
  }
  return paths;
}

Result<std::vector<std::string>> LinkIndex::notes_with_invalid_properties(const PathScope& scope) {
  const auto db = INDX_TRY(pool_.take());
  std::vector<std::string> paths;
  auto query = db->prepare(
      "SELECT f.path FROM notes n JOIN files f ON f.id=n.id WHERE n.warnings LIKE "
      "'%\"frontmatter_invalid\"%' ORDER BY f.path");
  while (INDX_TRY(query.step()))
    if (scope.allows(query.text(0))) paths.push_back(query.text(0));
  return paths;
}

Result<std::vector<std::string>> LinkIndex::notes_with_query_of(const std::string& text,
                                                                const PathScope& scope) {
  const auto db = INDX_TRY(pool_.take());
  std::vector<std::string> paths;
  const auto parsed = parse_query(cat('"', replace_all(text, "\"", " "), '"'));
  if (!parsed.has_value()) return paths;
  std::vector<const QueryText*> texts;
  collect_texts(*parsed, texts);
  std::string expression = "body : (\"query\" OR \"base\")";
  for (const auto* part : texts)
    if (!part->words.empty()) expression += cat(" AND body : ", fts_phrase(*part));
  auto query = db->prepare(
      "SELECT f.path, n.body FROM notes_fts s JOIN notes n ON n.id=s.rowid JOIN files f ON "
      "f.id=n.id "
      "WHERE s.notes_fts MATCH ?1");
  query.bind(expression);
  while (INDX_TRY(query.step()))
    if (scope.allows(query.text(0)) && code_mentions(query.text(1), {"query", "base"}, text))
      paths.push_back(query.text(0));
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace indx
