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
/// Notes that the rerank looks at themselves; more only where more are asked for.
inline constexpr std::size_t kReranked = 50;
/// What a unit of BM25 is worth as nearness. Both are evidence that adds up: BM25 is a sum of
/// log-odds (Robertson and Spärck Jones 1976), and so, up to a scale, is what a logistic model
/// makes of a cosine. Taken as they are, not as shares of the best note of the list, they also say
/// how sure each side is. Set by such a model on two of the vaults of bench/quality in turn,
/// checked on the third, and flat around it (docs/quality.md).
inline constexpr double kWordsWeight = 0.025;

/// A note with what each stage said of it; ranks begin with 1, 0: the stage did not have it.
struct RetrievedNote {
  std::string path;
  int lexical_rank = 0, vector_rank = 0, fused_rank = 0, bm25_rank = 0;
  double lexical_score = 0, similarity = 0, fused_score = 0, bm25_score = 0;
  /// Of the note itself: until it is looked at, what the lists say.
  NoteEvidence evidence;
  double rerank_words = 0, rerank_meaning = 0;  ///< the parts of `score`
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
/// Gives each note its BM25; linked notes without any of the words go.
void add_bm25(std::vector<RetrievedNote>& notes, const std::vector<RankedPath>& bm25);
/// Orders by words, of the whole note and of its best chunk, and by meaning, of its nearest chunk
/// and of all, each time half and half. A note whose vectors are not known counts as the least near
/// one.
void rerank(std::vector<RetrievedNote>& notes);

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
