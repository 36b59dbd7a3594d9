#include "store/passage_words.hpp"

#include "base/word_stem.hpp"
#include "store/tokenizer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace indx {
namespace {

constexpr double kK1 = 1.2, kB = 0.75;  // those of FTS5
constexpr std::size_t kSameBeginning = 3;

/// Inflections begin alike: nearly all other words are told apart by this.
bool may_share_stem(std::string_view word, std::string_view stem) {
  return word.substr(0, kSameBeginning) == stem.substr(0, kSameBeginning);
}

}  // namespace

PassageWords::PassageWords(std::vector<PassageWord> words) : words_(std::move(words)) {}

void PassageWords::count(std::string_view text, Counts& counts) const {
  counts.frequencies.resize(words_.size());
  for (WordReader reader(text); reader.next();) {
    ++counts.length;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const auto& stem = words_[i].stem;
      if (may_share_stem(reader.word(), stem) && word_stem(std::string(reader.word())) == stem)
        ++counts.frequencies[i];
    }
  }
}

double PassageWords::score(const Counts& counts, double mean_length) const {
  if (mean_length <= 0) return 0;
  const double relative = static_cast<double>(counts.length) / mean_length;
  double sum = 0;
  for (std::size_t i = 0; i < words_.size() && i < counts.frequencies.size(); ++i) {
    const double f = counts.frequencies[i];
    sum += words_[i].weight * f * (kK1 + 1) / (f + kK1 * (1 - kB + kB * relative));
  }
  return sum;
}

double passage_word_weight(std::size_t notes_with_it, std::size_t notes) {
  const auto n = static_cast<double>(notes_with_it);
  const auto all = static_cast<double>(notes);
  return std::log(1 + (all - n + 0.5) / (n + 0.5));
}

Result<PassageWords> passage_words(const std::vector<const QueryText*>& texts, SearchRun& run) {
  std::vector<PassageWord> words;
  std::vector<std::size_t> notes_with;  // each of the words
  std::size_t notes = 0;
  for (const auto* text : texts)
    for (const auto& word : text->words) {
      auto stem = word_stem(word);
      const bool is_known = std::any_of(words.begin(), words.end(),
                                        [&](const auto& other) { return other.stem == stem; });
      if (is_known) continue;
      QueryText alone;
      alone.words = {word};
      const auto spread = INDX_TRY(run.spread_of(fts_phrase(alone)));
      words.push_back({std::move(stem), 0});
      notes_with.push_back(spread.with_it);
      notes = std::max(notes, spread.all);
    }
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i].weight = passage_word_weight(notes_with[i], notes);
  return PassageWords(std::move(words));
}

}  // namespace indx
