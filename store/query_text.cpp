#include "store/query_text.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "store/tokenizer.hpp"

namespace indx {
namespace {

/// Punctuation of sentences at either end of a word says nothing about the word; `+`, `#`, `@`… do.
bool is_sentence_mark(char c) {
  return std::string_view(".,;:!?()[]{}\"'<>*/\\-").find(c) != std::string_view::npos;
}

/// The word without sentence punctuation around it; a leading dot stays (`.NET`). All of it if
/// nothing would be left.
std::string_view strip_sentence_marks(std::string_view word) {
  WordReader reader(word);
  if (!reader.next()) return word;
  const auto first = reader.begin();
  auto last = reader.end();
  while (reader.next()) last = reader.end();
  std::size_t begin = first, end = last;
  while (begin > 0 && static_cast<unsigned char>(word[begin - 1]) < 0x80 &&
         (!is_sentence_mark(word[begin - 1]) || (word[begin - 1] == '.' && begin == first)))
    --begin;
  while (end < word.size() && static_cast<unsigned char>(word[end]) < 0x80 &&
         !is_sentence_mark(word[end]))
    ++end;
  return word.substr(begin, end - begin);
}

/// Whether the tokenizer drops something of the word that its phrase would not tell.
bool has_dropped_characters(std::string_view word) {
  std::size_t at = 0;
  for (WordReader reader(word); reader.next(); at = reader.end())
    if (reader.begin() != at) return true;
  return at != word.size();
}

}  // namespace

bool is_query_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0'; }

bool ends_in_word(std::string_view word) {
  WordReader reader(word);
  return reader.next() && strip_sentence_marks(word).end() == word.end();
}

QueryText text_of_word(std::string_view word, bool is_prefix) {
  const auto bare = strip_sentence_marks(word);
  QueryText text;
  for (WordReader reader(bare); reader.next();) {
    text.words.emplace_back(reader.word());
    text.spelled.emplace_back(bare.substr(reader.begin(), reader.end() - reader.begin()));
  }
  text.is_prefix = is_prefix && !text.words.empty();
  if (text.words.empty() || has_dropped_characters(bare))
    text.exact.push_back(fold_for_search(bare));
  return text;
}

QueryText text_of_phrase(std::string_view phrase) {
  QueryText text;
  std::string piece;
  for (std::size_t i = 0; i <= phrase.size(); ++i) {
    if (i < phrase.size() && !is_query_space(phrase[i])) {
      piece += phrase[i];
      continue;
    }
    if (!piece.empty()) {
      auto word = text_of_word(piece, false);
      if (!word.words.empty()) {  // lone punctuation inside a phrase says nothing
        text.words.insert(text.words.end(), word.words.begin(), word.words.end());
        text.spelled.insert(text.spelled.end(), word.spelled.begin(), word.spelled.end());
        text.exact.insert(text.exact.end(), word.exact.begin(), word.exact.end());
      }
    }
    piece.clear();
  }
  if (text.words.empty() && !trim(phrase).empty())
    text.exact.push_back(fold_for_search(trim(phrase)));
  return text;
}

}  // namespace indx
