#include "store/passage_words.hpp"

#include "base/word_stem.hpp"
#include "store/tokenizer.hpp"

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

}  // namespace indx
