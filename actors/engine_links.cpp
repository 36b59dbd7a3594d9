#include "actors/engine_links.hpp"

#include "base/text.hpp"

namespace indx {

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

}  // namespace indx
