#pragma once
#include "ai/evidence.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace indx {

/// A note to summarise.
struct SummaryNote {
  std::string path, title;
  std::string bytes;  ///< the whole file
};
/// A sentence that was chosen, verbatim.
struct ChosenSentence {
  std::size_t note = 0;  ///< index
  Evidence evidence;
  double score = 0;  ///< comparable within one summary only
};
struct ExtractiveSummary {
  std::vector<ChosenSentence> sentences;  ///< in order of notes, then of place
  std::vector<ChosenSentence> questions;  ///< sentences that ask, in the same order, at most ten
};

/// A summary without a model (builtin-ai.md section 4): candidates are the first two sentences of
/// each section; their score is position (Edmundson 1969), directed position-aware centrality over
/// TF-IDF vectors (PacSum, Zheng and Lapata 2019), overlap with the title, and length. A note
/// without a lead is ranked by LexRank (Erkan and Radev 2004) over all of its sentences and list
/// items. Several notes: one lead for each cluster of alike ones first. Redundancy is avoided by
/// MMR with lambda .7 (Carbonell and Goldstein 1998), and a sentence that is worth much less than
/// the best one is not taken to fill a short summary. Code, tables, callout markers and embeds are
/// left out. Deterministic; at least one sentence when there is any, and no more than about
/// `max_tokens`.
ExtractiveSummary extractive_summary(const std::vector<SummaryNote>& notes,
                                     std::int64_t max_tokens);

}  // namespace indx
