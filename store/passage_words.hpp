#pragma once
#include "store/search_run.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// A word of a question in the form that its inflections share, and what it weighs.
struct PassageWord {
  std::string stem;  ///< word_stem()
  double weight = 0;
};

/// BM25 (Robertson and Zaragoza 2009) of passages, each a text of its own: what stands together in
/// one passage says more than the same words far apart in a note (Callan 1994, "Passage-level
/// evidence in document retrieval"). Inflections of a word count as the word.
class PassageWords {
 public:
  explicit PassageWords(std::vector<PassageWord> words);

  struct Counts {
    std::vector<int> frequencies;  ///< of the words, in their order
    std::size_t length = 0;        ///< in words
  };
  /// Adds the words of a text to those of its passage.
  void count(std::string_view text, Counts& counts) const;
  /// `mean_length`: of the passages that are compared.
  double score(const Counts& counts, double mean_length) const;

 private:
  std::vector<PassageWord> words_;
};

/// ln(1 + (N - n + .5) / (n + .5)): never below 0, so that a word of most notes, which FTS5 counts
/// for nothing, still tells one passage from another.
double passage_word_weight(std::size_t notes_with_it, std::size_t notes);

/// The distinct words of the texts, with what each weighs in the vault that `run` searches.
Result<PassageWords> passage_words(const std::vector<const QueryText*>& texts, SearchRun& run);

}  // namespace indx
