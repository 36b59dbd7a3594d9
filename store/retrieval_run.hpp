#pragma once
#include "base/result.hpp"
#include "vault/retrieval_query.hpp"

#include <memory>
#include <string>
#include <vector>

namespace indx {

/// The words of a query that say what it is about, without operators: what is embedded of it. Fails
/// like a search.
Result<std::string> text_of_question(std::string_view q);

/// What one question finds by words and by meaning, from one state of the index. One thread at a
/// time; holds one of the reader's connections, so it must not live long.
class RetrievalRun {
 public:
  ~RetrievalRun();
  RetrievalRun(const RetrievalRun&) = delete;
  RetrievalRun& operator=(const RetrievalRun&) = delete;

  /// Notes with any of the words that say something, by BM25, best first.
  Result<std::vector<RankedPath>> lexical(std::size_t most);
  /// Chunks near to the question, nearest first, as many as `most_notes` different notes take; all
  /// that there are when these are fewer. Nothing without a vector.
  Result<std::vector<NearChunk>> nearest(std::size_t most_notes);
  /// Notes one hop away along links, of each note at most 50 in each direction.
  Result<std::vector<LinkedPath>> linked(const std::vector<std::string>& paths);
  /// BM25 of these notes, 0 without any of the words, in their order.
  Result<std::vector<RankedPath>> scores(const std::vector<std::string>& paths);
  /// A look at these notes themselves, in their order, at most at the first 64 chunks of each.
  Result<std::vector<NoteEvidence>> evidence(const std::vector<std::string>& paths);

  struct Shown {
    std::string path;
    double score = 0;
    const NearChunk* chunk = nullptr;  ///< shown where no word was found; null: none
  };
  /// As a search shows them; notes that are gone are left out.
  Result<std::vector<SearchHit>> hits(const std::vector<Shown>& shown);

 private:
  friend class NoteIndexReader;
  struct Impl;
  explicit RetrievalRun(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace indx
