#pragma once
#include "store/database.hpp"
#include "vault/note_query.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace indx {

/// Sorted ids of files.
using FileIds = std::vector<std::int64_t>;

FileIds intersection(const FileIds& a, const FileIds& b);
FileIds union_of(const FileIds& a, const FileIds& b);
FileIds difference(const FileIds& a, const FileIds& b);

/// Files that use the tag or one below it (rule 4.6); the tag is given with or without `#`, in any
/// case.
Result<FileIds> files_with_tag(Database& db, std::string_view tag);

/// Whether the properties have, for each key, an equal value or a list that contains it; keys in
/// any case (rule 3.5).
bool has_properties(const Json& properties, const Json& wanted);

/// A row of `files` as answers show it: what to select (id first, mtime_ns sixth), and the row.
inline constexpr std::string_view kNoteRowColumns =
    "SELECT id, path, title, etag, size, mtime_ns FROM files ";
Result<NoteRow> note_row_of(Database& db, const Database::Statement& row);

/// The tags of one note in order of first use.
Result<std::vector<std::string>> tags_of(Database& db, std::int64_t file_id);

/// A NoteFilter made ready: asks for ids and paths, so that paging can skip what the caller may not
/// see.
class FilterCheck {
 public:
  static Result<FilterCheck> make(Database& db, const NoteFilter& filter);
  bool needs_path() const {
    return !filter_->path_glob.empty() || filter_->only || filter_->scope.restricts() ||
           filter_->narrower.restricts();
  }
  bool allows_path(std::string_view path) const;
  /// True: there is nothing to check.
  bool allows_everything() const {
    return !needs_path() && !has_tags_ && filter_->frontmatter.empty();
  }
  Result<bool> allows_id(std::int64_t id) const;
  /// The files that have the tags asked for, sorted; nullptr when no tag is asked for.
  const FileIds* tagged() const { return has_tags_ ? &tagged_ : nullptr; }
  /// The literal start that every matching path has.
  const std::string& path_prefix() const { return prefix_; }

 private:
  FilterCheck(Database& db, const NoteFilter& filter) : db_(&db), filter_(&filter) {}
  Database* db_;
  const NoteFilter* filter_;
  std::string prefix_;
  bool has_tags_ = false;
  FileIds tagged_;
};

/// Opaque page positions: base64url of JSON that also holds a hash of the question, so that a
/// cursor of another question is refused (`validation_failed`).
std::string encode_cursor(Json position, const std::string& question_hash);
Result<Json> decode_cursor(const std::string& cursor, const std::string& question_hash);
/// Bytes as base64url without padding, which needs no escape in an address; nullopt when the text
/// is none.
std::string url_text_of(std::string_view bytes);
std::optional<std::string> bytes_of_url_text(std::string text);
std::string filter_hash(const NoteFilter& filter, const Json& more = Json::object());

/// `validation_failed` unless 1..max.
Status check_limit(int limit, int max);

}  // namespace indx
