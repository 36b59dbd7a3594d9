#include "actors/engine_links.hpp"

#include "actors/link_journal.hpp"
#include "base/text.hpp"
#include "vault/vault_move.hpp"

#include <thread>

namespace indx {
namespace {

constexpr std::chrono::seconds kLongestInlineWait{30};
constexpr std::chrono::milliseconds kLookEvery{20};

}  // namespace

Result<LinkIndex> EngineLinks::index_for(const std::string& path) {
  if (!path.empty() && !scope_.allows(path))
    return make_error(Reason::Forbidden, cat("This token may not use ", path, "."),
                      {{"path", path}});
  INDX_TRY(core_.ensure_scanned());
  return LinkIndex(core_.parts.index->pool());
}

Result<NoteLinks> EngineLinks::forward(const NotePath& path) {
  auto index = INDX_TRY(index_for(path.str()));
  auto links = INDX_TRY(index.forward(path.str(), scope_));
  if (!links) return not_found(cat("`", path.str(), "` does not exist."), {{"path", path.str()}});
  return std::move(*links);
}

Result<BacklinkPage> EngineLinks::backlinks(const NotePath& path, int limit,
                                            const std::string& cursor) {
  auto index = INDX_TRY(index_for(path.str()));
  return index.backlinks(path.str(), scope_, limit, cursor);
}

Result<Page<UnresolvedTarget>> EngineLinks::unresolved(int limit, const std::string& cursor) {
  auto index = INDX_TRY(index_for(""));
  return index.unresolved(scope_, limit, cursor);
}

Result<Page<OrphanRow>> EngineLinks::orphans(OrphanKind kind, int limit,
                                             const std::string& cursor) {
  auto index = INDX_TRY(index_for(""));
  return index.orphans(kind, scope_, limit, cursor);
}

Result<LinkAnswer> EngineLinks::resolve(const LinkQuestion& question) {
  auto index = INDX_TRY(index_for(question.source));
  return index.resolve(question, scope_);
}

Result<Page<Mention>> EngineLinks::mentions(const NotePath& path, int limit,
                                            const std::string& cursor) {
  auto index = INDX_TRY(index_for(path.str()));
  return index.mentions(path.str(), scope_, limit, cursor);
}

Result<Neighborhood> EngineLinks::neighbors(const NotePath& path,
                                            const NeighborQuestion& question) {
  auto index = INDX_TRY(index_for(path.str()));
  return index.neighbors(path.str(), question, scope_);
}

Result<Page<GraphEdge>> EngineLinks::edges(int limit, const std::string& cursor) {
  auto index = INDX_TRY(index_for(""));
  return index.edges(scope_, limit, cursor);
}

// A job has its cancel token for a stop too; an inline call has only the flag.
std::function<bool()> EngineLinks::patience() const {
  const auto& parts = core_.parts;
  const auto until = parts.clock.monotonic() + kLongestInlineWait;
  return [this, &parts, until] {
    return cancel_.is_cancelled() ||
           (!is_job_ && (parts.is_draining || parts.clock.monotonic() >= until));
  };
}

Error EngineLinks::gave_up(const std::string& message) const {
  if (cancel_.is_cancelled())
    return make_error(Reason::Cancelled, "Cancelled before anything was changed.");
  if (core_.parts.is_draining)
    return make_error(Reason::Draining, "The server is stopping; try again in a moment.",
                      {{"retry_after_s", 1}});
  return make_error(Reason::InProgress, message, {{"retry_after_s", 5}});
}

Status EngineLinks::wait_for_index(const std::function<bool()>& gives_up) {
  // What rewrites by the index compares it with the files whether or not searches do.
  if (!core_.is_served) return core_.scan_once();
  while (!core_.parts.indexing.is_complete) {
    if (gives_up())
      return gave_up(
          "The index is still being filled; try again when vault_status says `idle`, or run "
          "vault_reindex if it says so already.");
    std::this_thread::sleep_for(kLookEvery);
  }
  return {};
}

Status EngineLinks::wait_for_index() {
  if (core_.parts.indexing.is_complete) return {};
  const auto permit = core_.parts.inline_waits.try_take();
  if (!is_job_ && !permit) return gave_up("Too many calls wait for the index; try again.");
  return wait_for_index(patience());
}

Result<std::unique_ptr<LinkTurn>> EngineLinks::take_turn() {
  // They wait on lanes, which others need too.
  auto permit = is_job_ ? std::nullopt : core_.parts.inline_waits.try_take();
  if (!is_job_ && !permit)
    return gave_up("Too many changes of links wait for another one; try again in a moment.");
  const auto gives_up = patience();
  auto turn = core_.parts.link_changes.take(gives_up);
  if (!turn)
    return gave_up(
        "Another move or rename still rewrites links; try again in a moment, or ask for a job "
        "(respond-async).");
  INDX_TRY(wait_for_index(gives_up));
  INDX_TRY(core_.catch_up());
  return std::unique_ptr<LinkTurn>(std::move(turn));
}

Result<MoveTree> EngineLinks::tree(const NotePath& path) {
  const auto entry = INDX_TRY(look_at(core_.parts.vault, path));
  if (entry.kind == VaultEntry::Kind::None || !scope_.allows(path.str())) {
    if (!scope_.allows(path.str()))
      return make_error(Reason::Forbidden, cat("This token may not use ", path.str(), "."),
                        {{"path", path.str()}});
    return not_found(cat("`", path.str(), "` does not exist."), {{"path", path.str()}});
  }
  MoveTree tree{entry.kind == VaultEntry::Kind::Folder, {path.str()}};
  if (!tree.is_folder) return tree;
  tree.files = files_below(core_.parts.vault, path);
  for (const auto& file : tree.files)
    if (!scope_.allows(file))
      return make_error(Reason::Forbidden,
                        cat("This token may not use all that is in ", path.str(), "."),
                        {{"path", path.str()}});
  return tree;
}

Result<MoveGround> EngineLinks::move_ground(const std::vector<FileMove>& moves) {
  auto index = INDX_TRY(index_for(""));
  return index.move_ground(moves);
}

Result<AnchorGround> EngineLinks::anchor_ground(const NotePath& path) {
  auto index = INDX_TRY(index_for(path.str()));
  return index.anchor_ground(path.str());
}

Result<std::vector<std::string>> EngineLinks::files_ending_in(const std::string& suffix) {
  auto index = INDX_TRY(index_for(""));
  return index.files_ending_in(suffix, scope_);
}

Result<std::vector<std::string>> EngineLinks::unread_canvases() {
  auto index = INDX_TRY(index_for(""));
  return index.unread_canvases(scope_);
}

Result<std::vector<std::string>> EngineLinks::notes_with_property(const std::string& name) {
  auto index = INDX_TRY(index_for(""));
  return index.notes_with_property(name, scope_);
}

Result<std::vector<std::string>> EngineLinks::notes_with_invalid_properties() {
  auto index = INDX_TRY(index_for(""));
  return index.notes_with_invalid_properties(scope_);
}

Result<std::vector<std::string>> EngineLinks::notes_with_query_of(const std::string& text) {
  auto index = INDX_TRY(index_for(""));
  return index.notes_with_query_of(text, scope_);
}

Result<Json> EngineLinks::journal(const std::string& key) {
  return core_.read_state([&](Database& db) { return find_journal(db, key); });
}

Status EngineLinks::end_journal(const std::string& key) {
  INDX_TRY(core_.change([key](State& state) -> Result<Json> {
    INDX_TRY(indx::end_journal(state, key));
    return Json();
  }));
  return {};
}

}  // namespace indx
