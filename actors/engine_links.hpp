#pragma once
#include "actors/core.hpp"
#include "ops/links.hpp"
#include "store/link_index.hpp"
#include "vault/note_query.hpp"

namespace indx {

/// Links, over the index, for one caller.
class EngineLinks : public Links {
 public:
  EngineLinks(Core& core, PathScope scope, CancelToken cancel, bool is_job)
      : core_(core), scope_(std::move(scope)), cancel_(std::move(cancel)), is_job_(is_job) {}

  Result<NoteLinks> forward(const NotePath& path) override;
  Result<BacklinkPage> backlinks(const NotePath& path, int limit,
                                 const std::string& cursor) override;
  Result<Page<UnresolvedTarget>> unresolved(int limit, const std::string& cursor) override;
  Result<Page<OrphanRow>> orphans(OrphanKind kind, int limit, const std::string& cursor) override;
  Result<LinkAnswer> resolve(const LinkQuestion& question) override;
  Result<Page<Mention>> mentions(const NotePath& path, int limit,
                                 const std::string& cursor) override;
  Result<Neighborhood> neighbors(const NotePath& path, const NeighborQuestion& question) override;
  Result<Page<GraphEdge>> edges(int limit, const std::string& cursor) override;
  Status wait_for_index() override;
  Result<std::unique_ptr<LinkTurn>> take_turn() override;
  Result<MoveTree> tree(const NotePath& path) override;
  Result<MoveGround> move_ground(const std::vector<FileMove>& moves) override;
  Result<AnchorGround> anchor_ground(const NotePath& path) override;
  Result<std::vector<std::string>> files_ending_in(const std::string& suffix) override;
  Result<std::vector<std::string>> unread_canvases() override;
  Result<std::vector<std::string>> notes_with_property(const std::string& name) override;
  Result<std::vector<std::string>> notes_with_invalid_properties() override;
  Result<std::vector<std::string>> notes_with_query_of(const std::string& text) override;
  Result<Json> journal(const std::string& key) override;
  Status end_journal(const std::string& key) override;

 private:
  /// The index, up to date enough to be asked; `forbidden` for a path outside of the scope.
  Result<LinkIndex> index_for(const std::string& path);

  /// How long this call may still wait; asked again and again by those who wait.
  std::function<bool()> patience() const;
  Status wait_for_index(const std::function<bool()>& gives_up);
  Error gave_up(const std::string& message) const;

  Core& core_;
  const PathScope scope_;
  const CancelToken cancel_;
  const bool is_job_;
};

}  // namespace indx
