#pragma once
#include "base/file_bytes.hpp"
#include "vault/block_edit.hpp"
#include "vault/canvas_edit.hpp"
#include "vault/note_path.hpp"
#include "vault/section_edit.hpp"
#include "vault/text_edit.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

enum class PatchKind : std::uint8_t {
  SetFrontmatter,
  DeleteFrontmatter,
  AppendBody,
  PrependBody,
  RenameTag,
  InsertBeforeHeading,
  InsertAfterHeading,
  ReplaceSection,
  AppendToSection,
  DeleteSection,
  MoveSection,
  RenameHeading,
  ReplaceBlock,
  AppendTableRow,
  SetTask,
  RenameBlock
};

/// One step of a patch. Which fields count depends on the kind.
struct PatchOp {
  PatchKind kind = PatchKind::AppendBody;
  std::string key = {};  ///< property name
  Json value = {};       ///< any JSON
  std::string markdown = {};
  /// Tag names without `#`. `to`: also the text of a heading, or the id of a block.
  std::string from = {}, to = {};
  HeadingAddress heading = {}, target = {};
  SectionSide side = SectionSide::After;
  bool keep_subsections = false;
  std::string block_id = {};
  int line = 0;  ///< of a task; 0: by block id
  std::optional<std::string> status = {};
  std::vector<std::string> cells = {};
};

/// Instead of an etag: any version, but the file must be there.
inline constexpr std::string_view kAnyEtag = "*";
/// Whether a file with that etag (empty: no file) is the one that `if_match` asks for.
inline bool is_wanted_version(std::string_view if_match, std::string_view etag) {
  return if_match == kAnyEtag ? !etag.empty() : if_match == etag;
}

/// What `note_write` does with the property block.
enum class FrontmatterMode : std::uint8_t { Keep, Remove, Replace };

/// One change of one note, as a value: what is wanted and on which condition.
struct NoteChange {
  enum class Kind : std::uint8_t {
    Write,
    Patch,
    Delete,
    Restore,
    CanvasWrite,
    CanvasPatch,
    Splice,
    FileWrite,
    Move
  };

  Kind kind = Kind::Patch;
  NotePath path;
  std::vector<PatchOp> ops = {};  ///< Patch
  std::string body = {};          ///< Write; Restore: all bytes
  FrontmatterMode frontmatter_mode = FrontmatterMode::Keep;
  Json frontmatter = Json::object();  ///< Write with Replace
  std::string if_match = {};          ///< etag the file must have, or kAnyEtag; empty: no guard
  std::string expected_sha256 = {};   ///< the same with SHA-256
  bool if_not_exists = false;         ///< create only
  bool permanent = false;             ///< Delete: unlink instead of `.trash/`
  bool dry_run = false;
  std::shared_ptr<const FileBytes> file = {};  ///< FileWrite: all bytes. Shared: with the call
  std::vector<TextEdit> edits = {};            ///< Splice: of the bytes that `if_match` names
  std::optional<NotePath> to = {};             ///< Move: of a file or folder
  Json journal = {};  ///< Move: what is left to do after it, kept until told done
  std::vector<CanvasOp> canvas_ops = {};  ///< CanvasPatch
  Json canvas = Json::object();           ///< CanvasWrite
  /// Whether it is meant for certain bytes only.
  bool is_for_one_version() const {
    return (!if_match.empty() && if_match != kAnyEtag) || !expected_sha256.empty();
  }
  /// Whether the file may be missing, and is made then.
  bool may_create() const {
    return kind == Kind::Write || kind == Kind::Restore || kind == Kind::CanvasWrite ||
           kind == Kind::FileWrite;
  }
};

/// What a change did, or would do.
struct WriteOutcome {
  NotePath path;
  std::string old_etag = {};  ///< empty: the file did not exist
  std::string etag = {};      ///< empty: deleted
  std::string sha256 = {};
  std::size_t old_size = 0, size = 0;
  bool created = false;
  bool changed = false;                       ///< false: the bytes were equal, nothing was written
  std::string diff = {};                      ///< unified diff, only for dry_run
  std::string trash_path = {};                ///< where a deleted note lies now
  std::vector<std::string> warnings = {};     ///< `index_pending`
  std::vector<AnchorChange> anchors = {};     ///< of headings that the change renamed
  std::string moved_from = {};                ///< Move: the path before; `path` is the new one
  std::vector<std::string> moved_files = {};  ///< Move of a folder: its files, below the folder
};
Json to_json(const WriteOutcome& outcome);
Result<WriteOutcome> write_outcome_from_json(const Json& json);

/// The bytes after the change, given the bytes before (nullopt: no file). Pure. nullopt in the
/// result: deleted. Guards (`if_match`, `expected_sha256`, `if_not_exists`) are checked here too.
/// Errors: `etag_mismatch` with details {expected, actual}, `not_found`, `conflict`, `not_utf8`,
/// `parse_failed`, those of the edits, and the failing `op_index`. `*anchors` gets what renames of
/// headings changed. A patch may bring `edits` too: of what its steps make; and a `journal`, as a
/// move: `{key, kind, input, path_globs, plan}`, kept until `Links::end_journal`.
Result<std::optional<std::string>> apply_change(const NoteChange& change,
                                                const std::optional<std::string>& before,
                                                std::vector<AnchorChange>* anchors = nullptr);

/// Rule 6.4 (JOIN) for an insertion at the end, and directly after the property block.
Result<std::string> append_body(std::string_view bytes, std::string_view markdown);
Result<std::string> prepend_body(std::string_view bytes, std::string_view markdown);
/// Rule 4.9: exact and nested uses of a tag, inline and in `tags`.
Result<std::string> rename_tag(std::string_view bytes, std::string_view from, std::string_view to);

/// `--- a/path`, `+++ b/path` and hunks with three lines of context.
std::string unified_diff(std::string_view path, std::string_view before, std::string_view after);

}  // namespace indx
