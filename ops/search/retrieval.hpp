#pragma once
#include "ops/retrieval.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace indx {

class Context;

/// Depth of the two lists that are joined, and the constant of reciprocal rank fusion (Cormack et
/// al. 2009): a note at rank r of a list gets 1 / (k + r).
inline constexpr std::size_t kRetrievalDepth = 50;
inline constexpr double kFusionK = 60;
/// Notes whose links are followed.
inline constexpr std::size_t kLinkedFrom = 10;
/// What the rerank adds to the fused score: at most so much for BM25, as a share of the best of all
/// that came together, and for nearness, as a share of the way from the last note near in meaning
/// to the nearest. Ranks find the candidates, but cannot tell a clear first from one among equals;
/// with the scores the two lists outweigh each other only where they are sure. The fused score is
/// at most 2 / 61. Set on half of the questions of bench/quality and flat around these values
/// (docs/quality.md).
inline constexpr double kRerankWords = 0.1, kRerankMeaning = 0.05;

/// A note with what each stage said of it; ranks begin with 1, 0: the stage did not have it.
struct RetrievedNote {
  std::string path;
  int lexical_rank = 0, vector_rank = 0, fused_rank = 0, bm25_rank = 0;
  double lexical_score = 0, similarity = 0, fused_score = 0, bm25_score = 0;
  double rerank_words = 0, rerank_meaning = 0;  ///< what the rerank added
  double score = 0;                             ///< what it is ordered by
  std::vector<std::string> linked_from;  ///< of the first notes, those that it shares a link with
  std::vector<NearChunk> chunks;         ///< those near to the question, nearest first
};
/// `{lexical, vector, fusion, links, rerank, score}`, null for a stage that did not have it.
Json explain(const RetrievedNote& note);

/// Joins notes by words with notes by their nearest chunk: best first, ties by path.
std::vector<RetrievedNote> fuse(const std::vector<RankedPath>& lexical,
                                const std::vector<NearChunk>& chunks);
/// Appends the notes that are linked with others, in order of paths; those that are there already
/// only learn of it.
void add_linked(std::vector<RetrievedNote>& notes, const std::vector<LinkedPath>& links);
/// Orders by fused score, BM25 and nearness; notes with none of them go.
void rerank(std::vector<RetrievedNote>& notes, const std::vector<RankedPath>& bm25);

/// What an answer that goes without them, or without some of them, says; empty: nothing.
std::vector<std::string> warnings_of(Vectors vectors);

struct RetrievalRequest {
  RetrievalQuestion question;
  std::string mode = "hybrid";  ///< lexical | semantic | hybrid
  std::size_t top_k = 8;
};
struct Retrieved {
  std::string mode_used = "lexical";
  std::vector<std::string> warnings;
  std::vector<RetrievedNote> notes;         ///< best first, at most `top_k`
  std::unique_ptr<RetrievalSource> source;  ///< to ask on
};
/// The one way to find notes for a question: search, ask, relate and summarise use it. Without
/// vectors it goes by words alone, and a warning says why.
Result<Retrieved> retrieve(Context& ctx, const RetrievalRequest& request);
/// The same without that last resort: no `source` and no notes where it cannot go by meaning.
Result<Retrieved> retrieve_by_meaning(Context& ctx, const RetrievalRequest& request);

}  // namespace indx
