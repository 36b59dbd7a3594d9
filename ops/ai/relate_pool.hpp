#pragma once
#include "ai/extractive/relater.hpp"
#include "ops/ai/ai_notes.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace indx {

/// Which notes may be related with a source: from the index alone, no model is asked (row C42).

/// What a call knows of the vault before it looks at the first source; lanes only read it.
struct RelateGround {
  std::optional<AiScope> asked;              ///< the scope of candidates; nullopt: the vault
  std::optional<std::set<std::string>> may;  ///< its notes; nullopt: every note that AI may read
  std::map<std::string, int> tag_counts;     ///< notes with exactly the tag, by the folded tag
  std::size_t notes = 0;                     ///< in the vault
  NoteNames names;                           ///< file names of notes that may be candidates
};
/// O(notes + tags).
Result<RelateGround> relate_ground(Context& ctx, const std::optional<AiScope>& asked,
                                   const std::optional<std::vector<std::string>>& may);

/// A candidate and why it is one.
struct PooledNote {
  RelateCandidate facts;
  std::vector<std::string> shared_words;  ///< that count most, at most five
  std::vector<std::string> shared_links;  ///< notes that both link with, at most five
  std::vector<std::string> shared_tags;   ///< rare ones
  bool is_linked = false;                 ///< a link between the two, either way
  double score = 0, similarity = 0;       ///< see RankedCandidate
};

/// The best candidates for a source, best first. Looks at the 50 nearest notes by words, by vectors
/// and by shared links, and at the first page of mentions: O(postings of the source's words +
/// notes) in memory, the links around it (a walk of two steps, at most 5,000 notes), one search of
/// the vectors. Reads no other note. With a scope of candidates that is neither a glob nor a tag
/// only the 400 nearest notes by vectors are looked through.
Result<std::vector<PooledNote>> relate_pool(Context& lane, const AiNote& source,
                                            const RelateGround& ground, RelateMode mode,
                                            std::size_t most);

}  // namespace indx
