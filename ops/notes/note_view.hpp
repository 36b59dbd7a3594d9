#pragma once
#include "ops/define.hpp"
#include "vault/note_edit.hpp"
#include "vault/vault.hpp"

#include <set>

namespace indx {

/// How notes look in answers. The parts are those of `include`.

struct HeadingView {
  int level = 1;
  std::string text;
  int line = 0;
  std::string slug;
  std::optional<bool> nested;
  static Fields<HeadingView> fields();
};
struct LinkView {
  std::string kind, syntax, target;
  std::optional<std::string> subpath, display, key;
  bool external = false;
  int line = 0, column = 0;
  static Fields<LinkView> fields();
};
struct BlockView {
  std::string id;
  int line = 0, end_line = 0;
  static Fields<BlockView> fields();
};
struct TaskView {
  std::string status, text;
  bool is_done = false;
  int line = 0;
  static Fields<TaskView> fields();
};
struct FrontmatterErrorView {
  int line = 0, column = 0;
  std::string message;
  static Fields<FrontmatterErrorView> fields();
};

struct PropertyView {
  std::string name, type;
  Json value;
  static Fields<PropertyView> fields();
};
/// The section or block that a read was about.
struct PartView {
  std::string kind;
  std::optional<std::string> heading;
  std::optional<std::vector<std::string>> heading_path;
  std::optional<int> level;
  std::optional<std::string> slug, block_id;
  int line = 0, end_line = 0;
  std::size_t begin = 0, end = 0;
  static Fields<PartView> fields();
};

struct NoteView {
  std::string path, etag;
  std::size_t size = 0;
  std::string modified, title, encoding;
  std::optional<JsonObject> frontmatter;
  std::optional<FrontmatterErrorView> frontmatter_error;
  std::optional<std::vector<HeadingView>> outline;
  std::optional<std::string> body, raw;
  std::optional<std::vector<std::string>> tags;
  std::optional<std::vector<LinkView>> links;
  std::optional<std::vector<BlockView>> blocks;
  std::optional<std::vector<TaskView>> tasks;
  std::optional<std::vector<PropertyView>> properties;
  std::optional<PartView> section;
  std::optional<bool> truncated;
  std::vector<std::string> warnings;
  static Fields<NoteView> fields();
};

struct AnchorChangeView {
  std::string from, to, from_slug, to_slug;
  int line = 0;
  static Fields<AnchorChangeView> fields();
};

/// What a change of one note did.
struct WriteView {
  std::string path;
  std::optional<std::string> etag, old_etag, sha256;
  std::size_t size = 0, old_size = 0;
  bool created = false, changed = false, dry_run = false;
  std::optional<std::string> diff, trash_path;
  std::optional<std::vector<AnchorChangeView>> anchors;
  std::vector<std::string> warnings;
  static Fields<WriteView> fields();
};
/// A change of the path without conditions or content yet.
NoteChange change_of(NoteChange::Kind kind, NotePath path);
WriteView view_write(const WriteOutcome& outcome, bool dry_run);

inline const std::vector<std::string> kNoteParts = {
    "frontmatter", "outline", "body", "tags", "links", "blocks", "tasks", "properties", "raw"};
inline const std::set<std::string> kDefaultNoteParts = {"frontmatter", "outline", "body"};

NoteView view_note(Context& ctx, const NoteFile& file, const std::set<std::string>& parts);

/// Which part of a note a read is about; all empty: the whole note.
struct PartAddress {
  HeadingAddress heading;
  std::string block_id, anchor;
  bool is_empty() const { return heading.is_empty() && block_id.empty() && anchor.empty(); }
};
/// The same for one part: `body` is its text (of a section: without the heading), the lists hold
/// what stands in it. Errors as find_heading and find_block, and `not_utf8`.
Result<NoteView> view_part(Context& ctx, const NoteFile& file, const PartAddress& part,
                           const std::set<std::string>& parts);
std::vector<HeadingView> view_outline(const ParsedNote& note);
LinkView view_link(const Link& link);
/// Title of a parsed note, or the file name where it has none.
std::string title_of(const ParsedNote& note, const NotePath& path);

/// The `path` field that most operations take.
template <typename Struct>
Field<Struct> path_field(std::string Struct::*member) {
  return field("path", member, "Vault-relative path: `Projects/Plan.md`.", vault_path,
               length(1, 4096));
}
template <typename Struct>
Field<Struct> if_match_field(std::string Struct::*member) {
  return field("if_match", member,
               "Etag that the file must still have; else `etag_mismatch`. `*`: any.", optional,
               header, length(0, 128));
}
template <typename Struct>
Field<Struct> expected_sha256_field(std::string Struct::*member) {
  return field("expected_sha256", member, "SHA-256 that the file must still have.", optional,
               for_programs, length(0, 64));
}
template <typename Struct>
Field<Struct> limit_field(int Struct::*member) {
  return field("limit", member, "Most rows in one answer.", between(1, 1000), optional, plain);
}
template <typename Struct>
Field<Struct> cursor_field(std::string Struct::*member) {
  return field("cursor", member, "`next_cursor` of the page before.", plain, optional,
               length(0, 4096));
}
template <typename Struct>
Field<Struct> next_cursor_field(std::optional<std::string> Struct::*member) {
  return field("next_cursor", member, "Give it as `cursor` for more; null at the end.", nullable,
               usual);
}

/// The path of a note to write, or `validation_failed` that says what writes such a file.
Result<NotePath> writable_note_path(const std::string& text);
/// The etag inside an If-Match value: without quotes and `W/`.
std::string plain_etag(std::string_view if_match);
/// The conditions and `dry_run` of a change, from an input that has these fields.
template <typename Input>
void guard(NoteChange& change, const Input& in) {
  change.if_match = plain_etag(in.if_match);
  change.expected_sha256 = in.expected_sha256;
  change.dry_run = in.dry_run;
}

/// Opaque cursor text around a small JSON value, and back; `validation_failed` for anything else.
std::string make_cursor(const Json& position);
Result<Json> read_cursor(const std::string& cursor);
/// A tag as people write it, without its `#`.
std::string plain_tag(std::string_view tag);

}  // namespace indx
