#pragma once
#include "store/index_pool.hpp"
#include "vault/link_query.hpp"
#include "vault/link_resolver.hpp"
#include "vault/link_rewrite.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace indx {

/// The links between the files of index.db. Every answer holds only what `scope` shows: a link from
/// a hidden file does not exist, one to a hidden file reaches nothing. Safe from any thread.
class LinkIndex {
 public:
  explicit LinkIndex(IndexPool& pool) : pool_(pool) {}

  /// In document order; nullopt when the index has no such file.
  Result<std::optional<NoteLinks>> forward(const std::string& path, const PathScope& scope = {});
  /// By path of the source. A note's links to itself are left out.
  Result<BacklinkPage> backlinks(const std::string& path, const PathScope& scope, int limit,
                                 const std::string& cursor);
  /// By folded target.
  Result<Page<UnresolvedTarget>> unresolved(const PathScope& scope, int limit,
                                            const std::string& cursor);
  /// By path.
  Result<Page<OrphanRow>> orphans(OrphanKind kind, const PathScope& scope, int limit,
                                  const std::string& cursor);
  Result<LinkAnswer> resolve(const LinkQuestion& question, const PathScope& scope);
  /// Other notes that name this one, or an alias of it, outside of links and code; in index order.
  /// A page may hold fewer than `limit` rows and still have a cursor: how many notes one call looks
  /// at is bounded.
  Result<Page<Mention>> mentions(const std::string& path, const PathScope& scope, int limit,
                                 const std::string& cursor);
  Result<Neighborhood> neighbors(const std::string& path, const NeighborQuestion& question,
                                 const PathScope& scope);
  /// Every resolved link of the vault, by source, then target.
  Result<Page<GraphEdge>> edges(const PathScope& scope, int limit, const std::string& cursor);

  /// Everything that planning a move needs, looked up by name: never a scan of the vault.
  Result<MoveGround> move_ground(const std::vector<FileMove>& moves);
  Result<AnchorGround> anchor_ground(const std::string& path);
  Result<std::vector<std::string>> files_ending_in(const std::string& suffix,
                                                   const PathScope& scope);
  /// Canvases whose links the index cannot know: too large, or no JSON Canvas.
  Result<std::vector<std::string>> unread_canvases(const PathScope& scope);
  Result<std::vector<std::string>> notes_with_property(const std::string& name,
                                                       const PathScope& scope);
  Result<std::vector<std::string>> notes_with_invalid_properties(const PathScope& scope);
  Result<std::vector<std::string>> notes_with_query_of(const std::string& text,
                                                       const PathScope& scope);

 private:
  IndexPool& pool_;
};

/// What the parts of LinkIndex share.
Result<std::optional<std::int64_t>> file_id_of(Database& db, const std::string& path);
Result<std::string> cursor_key(const std::string& cursor, const std::string& question_hash);
bool is_restricted(const PathScope& scope);

}  // namespace indx
