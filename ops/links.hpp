#pragma once
#include "base/result.hpp"
#include "vault/link_query.hpp"
#include "vault/link_rewrite.hpp"
#include "vault/note_path.hpp"

#include <memory>
#include <string>

namespace indx {

/// The right to change links. It is held from the plan of a change to the last link that follows
/// it: a plan is right only while nobody else moves what it is about.
class LinkTurn {
 public:
  LinkTurn() = default;
  LinkTurn(const LinkTurn&) = delete;
  LinkTurn& operator=(const LinkTurn&) = delete;
  virtual ~LinkTurn() = default;
};

/// Links between files, as one caller may see them: `forbidden` for a path outside the caller's
/// globs, `not_found` for one that the index does not know; hidden files take no part.
class Links {
 public:
  virtual ~Links() = default;
  virtual Result<NoteLinks> forward(const NotePath& path) = 0;
  virtual Result<BacklinkPage> backlinks(const NotePath& path, int limit,
                                         const std::string& cursor) = 0;
  virtual Result<Page<UnresolvedTarget>> unresolved(int limit, const std::string& cursor) = 0;
  virtual Result<Page<OrphanRow>> orphans(OrphanKind kind, int limit,
                                          const std::string& cursor) = 0;
  virtual Result<LinkAnswer> resolve(const LinkQuestion& question) = 0;
  virtual Result<Page<Mention>> mentions(const NotePath& path, int limit,
                                         const std::string& cursor) = 0;
  virtual Result<Neighborhood> neighbors(const NotePath& path,
                                         const NeighborQuestion& question) = 0;
  virtual Result<Page<GraphEdge>> edges(int limit, const std::string& cursor) = 0;

  /// Waits until every file is in the index that the first comparison since the start found. An
  /// inline call waits half a minute at most and then fails with `in_progress`; a job waits as long
  /// as it takes.
  virtual Status wait_for_index() = 0;
  /// Waits, within the same limits, for that and for the change of links that runs now, and until
  /// the index knows what it wrote. Whoever holds a turn must not take another.
  virtual Result<std::unique_ptr<LinkTurn>> take_turn() = 0;

  /// What is on disk at a path; `forbidden` when something below it is hidden from the caller.
  virtual Result<MoveTree> tree(const NotePath& path) = 0;
  /// For planning only: it also names files that are hidden from the caller.
  virtual Result<MoveGround> move_ground(const std::vector<FileMove>& moves) = 0;
  /// The same for links that name a part of this note.
  virtual Result<AnchorGround> anchor_ground(const NotePath& path) = 0;
  /// Visible files whose name ends so, such as `.base`.
  virtual Result<std::vector<std::string>> files_ending_in(const std::string& suffix) = 0;
  /// Visible canvases whose links are not known: too large, or no JSON Canvas.
  virtual Result<std::vector<std::string>> unread_canvases() = 0;
  /// Visible notes that have a property, whatever the case of its name.
  virtual Result<std::vector<std::string>> notes_with_property(const std::string& name) = 0;
  /// Visible notes whose property block cannot be read, so that nobody knows what they have.
  virtual Result<std::vector<std::string>> notes_with_invalid_properties() = 0;
  /// Visible notes with a `query` or `base` code block that holds the text as a name of its own.
  virtual Result<std::vector<std::string>> notes_with_query_of(const std::string& text) = 0;
  /// The plan of a change that a crash interrupted after its write (NoteChange::journal); null:
  /// there is none.
  virtual Result<Json> journal(const std::string& key) = 0;
  /// All links are rewritten: drops it.
  virtual Status end_journal(const std::string& key) = 0;
};

}  // namespace indx
