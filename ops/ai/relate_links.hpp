#pragma once
#include "ops/ai/ai_notes.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace indx {

/// The links that a note has, and the patch that would add some (rows C40, C44). Nothing is written
/// here.

/// A link of a note and the file that it reaches.
struct ReachedLink {
  Link link;
  std::string path;
};
/// By the index; where that knows other bytes than these, one look-up a link.
Result<std::vector<ReachedLink>> reached_links(Context& lane, const AiNote& source);

/// Steps for note_patch that add one list item a note: to the section `Related` (or `See also`,
/// `Related notes`) where there is one, else under a new heading `Related` at the end.
struct LinkProposal {
  std::vector<JsonObject> ops;
  std::vector<std::string> linked;  ///< the notes that the steps link to
};
/// nullopt: there is nothing to add, or nothing that would be read as links there (a note that ends
/// inside a code block, or is not UTF-8). A note that no link can reach is left out; both add a
/// warning `link_not_possible`.
Result<std::optional<LinkProposal>> propose_links(Context& lane, const AiNote& source,
                                                  const std::vector<std::string>& targets,
                                                  std::vector<Json>& warnings);

}  // namespace indx
