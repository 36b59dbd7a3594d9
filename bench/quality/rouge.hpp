#pragma once
#include "base/unicode.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace indx::quality {

/// How often each word of a text occurs: runs of letters and digits, folded; no stemming, and words
/// such as `the` count.
inline std::map<std::string, int> word_counts(std::string_view text) {
  std::map<std::string, int> counts;
  const std::string folded = fold_case(text);
  std::string word;
  for (std::size_t at = 0; at < folded.size();) {
    const CodePoint point = decode_at(folded, at);
    if (is_word_character(point.value)) {
      word.append(folded, at, point.length);
    } else if (!word.empty()) {
      ++counts[word];
      word.clear();
    }
    at += point.length;
  }
  if (!word.empty()) ++counts[word];
  return counts;
}

inline int word_total(const std::map<std::string, int>& counts) {
  int total = 0;
  for (const auto& [word, count] : counts) total += count;
  return total;
}

/// ROUGE-1 F (Lin 2004): the harmonic mean of the shares of words that candidate and reference
/// have in common, a word at most as often as in either.
inline double rouge1_f(std::string_view candidate, std::string_view reference) {
  const auto ours = word_counts(candidate), theirs = word_counts(reference);
  int common = 0;
  for (const auto& [word, count] : ours)
    if (const auto it = theirs.find(word); it != theirs.end())
      common += std::min(count, it->second);
  if (common == 0) return 0;
  const double precision = static_cast<double>(common) / word_total(ours);
  const double recall = static_cast<double>(common) / word_total(theirs);
  return 2 * precision * recall / (precision + recall);
}

}  // namespace indx::quality
