#pragma once
#include "base/result.hpp"
#include "vault/link_query.hpp"
#include "vault/note_path.hpp"

#include <string>

namespace indx {

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
};

}  // namespace indx
