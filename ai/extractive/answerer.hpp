#pragma once
#include "ai/evidence.hpp"
#include "ai/extractive/corpus.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace indx {

/// What may answer a question: notes, and the pieces of them that were found.
struct AnswerNote {
  std::string path, title;
  std::string bytes;  ///< the whole file
};
struct AnswerChunk {
  std::size_t note = 0;            ///< index
  std::size_t begin = 0, end = 0;  ///< bytes in the file
  std::vector<std::string> heading_path;
};
struct AnswerTask {
  std::string question;
  std::vector<AnswerNote> notes;
  std::vector<AnswerChunk> chunks;       ///< best first
  std::shared_ptr<const Corpus> corpus;  // shared: a newer one may take its place meanwhile
  double gate = 0.47;  ///< how near a sentence must be where a rare word is missing
};

/// A passage that may answer, verbatim: a sentence, with one beside it that explains it, or a whole
/// list of steps.
struct AnswerPassage {
  std::size_t note = 0;  ///< index
  Evidence evidence;     ///< the sentence or the list
  std::string text;      ///< the same with the sentence beside it
  std::string heading;   ///< of its section; empty: none
  double score = 0;      ///< comparable within one answer only
};
struct ExtractiveAnswer {
  std::vector<AnswerPassage> passages;  ///< best first, at most three; empty: the notes do not say
  bool is_sure = false;                 ///< the best one is far above the gate
};

/// Answer sentence selection (Yang et al. 2015) without a model. Each sentence and list item of the
/// chunks is scored by its cosine with the question, the share of the question's words that it
/// holds, weighted by IDF, those that its title and headings hold, and whether it has what is asked
/// for: a date (when), a name (who), a number (how many), steps (how to). Nothing is answered when
/// no sentence passes the gate, which asks for more where its chunk lacks a rare word or a name;
/// without vectors, when no sentence with its headings holds most of the question. At most three
/// passages are chosen by MMR, lambda .7 (Carbonell and Goldstein 1998). Deterministic. The task
/// must outlive it.
class ExtractiveAnswerer {
 public:
  explicit ExtractiveAnswerer(const AnswerTask& task);
  ~ExtractiveAnswerer();
  ExtractiveAnswerer(const ExtractiveAnswerer&) = delete;
  ExtractiveAnswerer& operator=(const ExtractiveAnswerer&) = delete;

  /// The question first, then what is compared with it: texts to embed.
  const std::vector<std::string>& texts() const;
  /// `vectors`: of `texts()`, in their order and of length 1; empty: there is no embedder.
  ExtractiveAnswer answer(std::span<const std::vector<float>> vectors) const;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace indx
