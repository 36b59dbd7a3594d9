#include "store/question_words.hpp"

#include <algorithm>
#include <array>

namespace indx {
namespace {

constexpr std::array<std::string_view, 112> kQuestionWords = {
    "a",     "about",  "all",   "also",  "am",     "an",    "and",   "any",   "are",   "as",
    "at",    "be",     "been",  "but",   "by",     "can",   "could", "did",   "do",    "does",
    "doing", "don",    "each",  "every", "for",    "from",  "get",   "gets",  "give",  "had",
    "has",   "have",   "he",    "her",   "here",   "him",   "his",   "how",   "i",     "if",
    "in",    "into",   "is",    "it",    "its",    "just",  "let",   "like",  "ll",    "may",
    "me",    "might",  "mine",  "must",  "my",     "no",    "not",   "of",    "on",    "one",
    "or",    "our",    "out",   "over",  "please", "re",    "s",     "shall", "she",   "should",
    "show",  "so",     "some",  "t",     "tell",   "than",  "that",  "the",   "their", "them",
    "then",  "there",  "these", "they",  "this",   "those", "to",    "too",   "up",    "us",
    "ve",    "very",   "was",   "we",    "were",   "what",  "when",  "where", "which", "who",
    "whom",  "whose",  "why",   "will",  "with",   "would", "you",   "your",  "yours", "want",
    "wants", "whether"};

}  // namespace

bool is_question_word(std::string_view folded) {
  return std::find(kQuestionWords.begin(), kQuestionWords.end(), folded) != kQuestionWords.end();
}

}  // namespace indx
