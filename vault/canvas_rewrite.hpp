#pragma once
#include "vault/link_rewrite.hpp"
#include "vault/subpath_rewrite.hpp"

namespace indx {

/// rewrite_links for a canvas (vault-rules 5.5): files of file nodes, backgrounds of groups and
/// links in text cards. Only the texts that change are written anew. Fails with `parse_failed` and
/// `not_utf8` when the file is no canvas.
Result<LinkRewrite> rewrite_canvas_links(std::string_view bytes, const std::string& source,
                                         const MoveWorld& world, const ParseOptions& options);
/// rewrite_subpaths for a canvas: subpaths of file nodes and of links in text cards.
Result<LinkRewrite> rewrite_canvas_subpaths(std::string_view bytes, const SubpathChoice& choose,
                                            const ParseOptions& options);

}  // namespace indx
