#pragma once
#include "ops/ai/ai_notes.hpp"
#include "ops/ai/toc_plan.hpp"

namespace indx {

struct MocOptions {
  std::string group_by = "topic";  ///< tag | folder | topic | frontmatter
  std::string group_by_key;        ///< frontmatter: the property
  std::size_t max_groups = 12, max_per_group = 20;
  bool with_links = true;
  std::string source;          ///< path of the note that it will stand in; empty: none
  bool with_evidence = false;  ///< the first sentence of each note
};

/// A map of notes: groups with their notes in order of titles. With tag and frontmatter a note
/// stands in each of its groups. The largest groups are shown, and what stands in none of them in
/// one at the end; notes beyond max_per_group are counted in the warning `truncated`. Topics are
/// clusters of vectors of the notes' beginnings, of the embedding model or else of their words with
/// the warning `embeddings_unavailable`, and are named by the terms that set them apart. Notes that
/// changed or went since the scope was made are left out with a warning; the only note of a scope
/// fails as read_scoped.
Result<TocPlan> plan_moc(Context& ctx, const std::vector<ScopedNote>& notes,
                         const MocOptions& options);

}  // namespace indx
