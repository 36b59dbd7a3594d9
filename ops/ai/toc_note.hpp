#pragma once
#include "ops/ai/ai_notes.hpp"
#include "ops/ai/toc_plan.hpp"

namespace indx {

struct NoteTocOptions {
  int depth = 3;               ///< levels, from the highest heading of the note on
  bool with_links = true;      ///< wikilinks
  bool with_evidence = false;  ///< the first sentence below each heading
};

/// The headings of a note; those in quotes and lists are no part of it. Where there are none, or
/// only one that stands for the title, what its text is about in order (TextTiling), each part
/// named by its best phrase and without an anchor. At most 10,000 entries, with the warning
/// `truncated`. Errors as read_scoped.
Result<TocPlan> plan_note_toc(Context& ctx, const ScopedNote& scoped,
                              const NoteTocOptions& options);

}  // namespace indx
