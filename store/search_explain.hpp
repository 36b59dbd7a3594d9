#pragma once
#include "store/search_run.hpp"

#include <map>
#include <string>
#include <vector>

namespace indx {

/// How scores come about: the score of a note is the sum of those of its words. Asked for one page;
/// reads each word once.
class ScoreExplanation {
 public:
  /// `shows_counts`: false for who may not know of all notes.
  ScoreExplanation(Database& db, SearchRun& run, std::vector<const QueryText*> texts,
                   bool shows_counts)
      : db_(db), run_(run), texts_(std::move(texts)), shows_counts_(shows_counts) {}

  /// `{score, weights: {title, aliases, headings, body}, words: [{text, score, notes, in}]}`:
  /// `notes` (with `shows_counts`) have the word, `in` says how often each part of this note has
  /// it.
  Result<Json> of(std::int64_t id, double score);

 private:
  struct Word {
    const QueryText* text = nullptr;
    std::map<std::int64_t, double> scores;
  };
  Status read_words();

  Database& db_;
  SearchRun& run_;
  std::vector<const QueryText*> texts_;
  const bool shows_counts_;
  std::vector<Word> words_;
  bool is_read_ = false;
};

}  // namespace indx
