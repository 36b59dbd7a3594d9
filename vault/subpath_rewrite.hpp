#pragma once
#include "base/json.hpp"
#include "vault/link_resolver.hpp"
#include "vault/link_rewrite.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// How the headings and block ids of one note are called before and after an edit that keeps their
/// number and order (vault-rules 6.5, `rename_heading`, `rename_block`). `line` of an anchor is its
/// index here.
struct AnchorRenames {
  NoteAnchors before, after;                  ///< headings only
  std::vector<std::string> texts;             ///< of the headings after the edit, without block ids
  std::set<std::size_t> headings;             ///< those whose text changed
  std::map<std::string, std::string> blocks;  ///< folded old id → new id
  bool is_empty() const { return headings.empty() && blocks.empty(); }
};
/// The renames between two versions of a note; empty when headings came or went.
AnchorRenames compare_anchors(const ParsedNote& before, const ParsedNote& after);
Json to_json(const AnchorRenames& renames);
Result<AnchorRenames> anchor_renames_from_json(const Json& json);

/// The subpath that reaches after the edit what this one reached before it; nullopt: it stays. Each
/// part that named a renamed heading gets the new text; where another heading now answers first,
/// headings above are named too. `is_careful`: in words only, without marks that Markdown may read.
/// `conflict` when no subpath reaches it.
Result<std::optional<std::string>> new_subpath(std::string_view subpath,
                                               const AnchorRenames& renames,
                                               bool is_careful = false);

/// The subpath that a link gets; nullopt: it keeps its own.
using SubpathChoice =
    std::function<Result<std::optional<std::string>>(const Link& link, bool is_careful)>;
/// The edits that give every link of a note or canvas, the file at `source`, the chosen subpath.
/// A link for which `choose` fails stays, and the error is the `problem`. Fails with `not_utf8` and
/// `parse_failed`.
Result<LinkRewrite> rewrite_subpaths(std::string_view bytes, const std::string& source,
                                     const SubpathChoice& choose, const ParseOptions& options = {});
/// The same for Markdown, whatever the name of the file it stands in.
Result<LinkRewrite> rewrite_text_subpaths(std::string_view bytes, const SubpathChoice& choose,
                                          const ParseOptions& options);

}  // namespace indx
