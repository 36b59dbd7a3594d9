#pragma once
#include "ops/links.hpp"
#include "tests/store/index_fixture.hpp"

namespace indx {

/// Links over a real index of files in memory, for handlers.
class IndexedLinks : public Links {
 public:
  explicit IndexedLinks(const std::map<std::string, std::string>& files, PathScope scope = {})
      : scope_(std::move(scope)) {
    index_.put(files);
  }
  Result<NoteLinks> forward(const NotePath& path) override {
    auto links = index_.links().forward(path.str(), scope_).value();
    if (!links) return not_found("no note");
    return std::move(*links);
  }
  Result<BacklinkPage> backlinks(const NotePath& path, int limit,
                                 const std::string& cursor) override {
    return index_.links().backlinks(path.str(), scope_, limit, cursor);
  }
  Result<Page<UnresolvedTarget>> unresolved(int limit, const std::string& cursor) override {
    return index_.links().unresolved(scope_, limit, cursor);
  }
  Result<Page<OrphanRow>> orphans(OrphanKind kind, int limit, const std::string& cursor) override {
    return index_.links().orphans(kind, scope_, limit, cursor);
  }
  Result<LinkAnswer> resolve(const LinkQuestion& question) override {
    return index_.links().resolve(question, scope_);
  }
  Result<Page<Mention>> mentions(const NotePath& path, int limit,
                                 const std::string& cursor) override {
    return index_.links().mentions(path.str(), scope_, limit, cursor);
  }
  Result<Neighborhood> neighbors(const NotePath& path, const NeighborQuestion& question) override {
    return index_.links().neighbors(path.str(), question, scope_);
  }
  Result<Page<GraphEdge>> edges(int limit, const std::string& cursor) override {
    return index_.links().edges(scope_, limit, cursor);
  }
  Status wait_for_index() override { return {}; }
  Result<std::unique_ptr<LinkTurn>> take_turn() override {
    ++turns;
    return std::make_unique<LinkTurn>();
  }
  Result<MoveTree> tree(const NotePath& path) override { return MoveTree{false, {path.str()}}; }
  Result<MoveGround> move_ground(const std::vector<FileMove>& moves) override {
    return index_.links().move_ground(moves);
  }
  Result<AnchorGround> anchor_ground(const NotePath& path) override {
    return index_.links().anchor_ground(path.str());
  }
  Result<std::vector<std::string>> files_ending_in(const std::string& suffix) override {
    return index_.links().files_ending_in(suffix, scope_);
  }
  Result<std::vector<std::string>> unread_canvases() override {
    return index_.links().unread_canvases(scope_);
  }
  Result<std::vector<std::string>> notes_with_property(const std::string& name) override {
    return index_.links().notes_with_property(name, scope_);
  }
  Result<std::vector<std::string>> notes_with_invalid_properties() override {
    return index_.links().notes_with_invalid_properties(scope_);
  }
  Result<std::vector<std::string>> notes_with_query_of(const std::string& text) override {
    return index_.links().notes_with_query_of(text, scope_);
  }
  Result<Json> journal(const std::string& key) override {
    const auto found = journals.find(key);
    return found == journals.end() ? Json() : found->second;
  }
  Status end_journal(const std::string& key) override {
    journals.erase(key);
    return {};
  }
  IndexFixture& index() { return index_; }
  std::map<std::string, Json> journals;  ///< plans by key
  int turns = 0;                         ///< how often one was taken

 private:
  IndexFixture index_;
  PathScope scope_;
};

}  // namespace indx
