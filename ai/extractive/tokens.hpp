#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// A word with its place in the text and in the sentences.
struct Token {
  std::string folded;
  std::size_t begin = 0, end = 0;  ///< bytes
  int sentence = 0;
  bool breaks_before = false;  ///< punctuation or structure stands between it and the word before
  bool is_capital = false, is_acronym = false, is_number = false, is_stop = false;
};

/// The words of a text. Runs of Han or Katakana are words; so is each run of Thai, Lao, Khmer or
/// Myanmar. Emphasis marks do not part words.
std::vector<Token> tokenize(std::string_view text);

/// Folded, hyphens and slashes as spaces, each word in the singular by the plain English rules: the
/// form under which a phrase and a tag are the same.
std::string phrase_key(std::string_view phrase);

/// The runs of digits of a text: `2021-12-07` has three.
std::set<std::string> numbers_in(std::string_view text);

}  // namespace indx
