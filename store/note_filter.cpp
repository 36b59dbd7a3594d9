#include "store/note_filter.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>

namespace indx {

FileIds intersection(const FileIds& a, const FileIds& b) {
  FileIds out;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}
FileIds union_of(const FileIds& a, const FileIds& b) {
  FileIds out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}
FileIds difference(const FileIds& a, const FileIds& b) {
  FileIds out;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

Result<FileIds> files_with_tag(Database& db, std::string_view tag) {
  tag = trim(tag);
  if (tag.starts_with('#')) tag.remove_prefix(1);
  while (tag.ends_with('/')) tag.remove_suffix(1);
  const auto key = fold_case(tag);
  FileIds ids;
  auto query = db.prepare(
      "SELECT file_id FROM tags WHERE tag_key=?1 UNION SELECT file_id FROM tags WHERE tag_key>?2 "
      "AND tag_key<?3 ORDER BY 1");
  query.bind(key, key + "/", key + "0");  // `0` follows `/`
  while (INDX_TRY(query.step())) ids.push_back(query.integer(0));
  return ids;
}

bool has_properties(const Json& properties, const Json& wanted) {
  for (const auto& [key, value] : wanted.items()) {
    bool found = false;
    const auto folded = fold_case(key);
    for (const auto& [name, have] : properties.items()) {
      if (fold_case(name) != folded) continue;
      found = have == value ||
              (have.is_array() && std::find(have.begin(), have.end(), value) != have.end());
    }
    if (!found) return false;
  }
  return true;
}

Result<std::vector<std::string>> tags_of(Database& db, std::int64_t file_id) {
  std::vector<std::string> tags;
  auto query = db.prepare("SELECT tag FROM tags WHERE file_id=?1 ORDER BY position");
  query.bind(file_id);
  while (INDX_TRY(query.step())) tags.push_back(query.text(0));
  return tags;
}

Result<NoteRow> note_row_of(Database& db, const Database::Statement& row) {
  NoteRow note;
  note.path = row.text(1);
  note.title = row.text(2);
  note.etag = row.text(3);
  note.size = static_cast<std::size_t>(row.integer(4));
  note.modified = from_millis(row.integer(5) / 1'000'000);
  note.tags = INDX_TRY(tags_of(db, row.integer(0)));
  return note;
}

Result<FilterCheck> FilterCheck::make(Database& db, const NoteFilter& filter) {
  FilterCheck check(db, filter);
  if (filter.path_glob.find('{') == std::string::npos)
    check.prefix_ = filter.path_glob.substr(0, filter.path_glob.find_first_of("*?["));
  for (const auto& tag : filter.tags) {
    auto ids = INDX_TRY(files_with_tag(db, tag));
    check.tagged_ = check.has_tags_ ? intersection(check.tagged_, ids) : std::move(ids);
    check.has_tags_ = true;
  }
  return check;
}

bool FilterCheck::allows_path(std::string_view path) const {
  const auto& only = filter_->only;
  return (!only || std::binary_search(only->begin(), only->end(), path)) &&
         (filter_->path_glob.empty() || glob_match(filter_->path_glob, path)) &&
         filter_->scope.allows(path) && filter_->narrower.allows(path);
}

Result<bool> FilterCheck::allows_id(std::int64_t id) const {
  if (has_tags_ && !std::binary_search(tagged_.begin(), tagged_.end(), id)) return false;
  if (filter_->frontmatter.empty()) return true;
  auto query = db_->prepare("SELECT properties FROM notes WHERE id=?1");
  if (!INDX_TRY(query.bind(id).step())) return false;
  const auto properties = Json::parse(query.text(0), nullptr, false);
  return properties.is_object() && has_properties(properties, filter_->frontmatter);
}

std::string url_text_of(std::string_view bytes) {
  auto text = base64_encode(bytes);
  while (text.ends_with('=')) text.pop_back();
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

std::optional<std::string> bytes_of_url_text(std::string text) {
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  text.append((4 - text.size() % 4) % 4, '=');
  auto decoded = base64_decode(text);
  return decoded.ok ? std::optional(std::move(decoded.bytes)) : std::nullopt;
}

std::string encode_cursor(Json position, const std::string& question_hash) {
  position["h"] = question_hash.substr(0, 16);
  return url_text_of(position.dump());
}

Result<Json> decode_cursor(const std::string& cursor, const std::string& question_hash) {
  const auto bytes = bytes_of_url_text(cursor);
  const bool is_text = bytes && bytes->find('\0') == std::string::npos;
  auto position = is_text ? Json::parse(*bytes, nullptr, false) : Json();
  if (!position.is_object() || position.value("h", Json()) != Json(question_hash.substr(0, 16)))
    return invalid("The cursor is not one that this question returned; start again without it.",
                   {{"field", "cursor"}});
  return position;
}

std::string filter_hash(const NoteFilter& filter, const Json& more) {
  return canonical_hash({{"glob", filter.path_glob},
                         {"tags", filter.tags},
                         {"frontmatter", filter.frontmatter},
                         {"any_of", filter.scope.any_of},
                         {"none_of", filter.scope.none_of},
                         {"narrower", {filter.narrower.any_of, filter.narrower.none_of}},
                         {"only", filter.only ? Json(*filter.only) : Json()},
                         {"more", more}});
}

Status check_limit(int limit, int max) {
  if (limit >= 1 && limit <= max) return {};
  return invalid(cat("limit must be between 1 and ", max, ", not ", limit, "."),
                 {{"field", "limit"}});
}

}  // namespace indx
