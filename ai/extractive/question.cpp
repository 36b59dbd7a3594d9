#include "ai/extractive/question.hpp"

#include "ai/extractive/tokens.hpp"
#include "ai/value_text.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "base/word_stem.hpp"

#include <algorithm>
#include <array>

namespace indx {
namespace {

/// Words of a question that are no stop words elsewhere and say nothing of what it is about.
constexpr std::array<std::string_view, 14> kAskingWords = {
    "tell", "show", "list",  "explain", "describe", "give", "find",
    "know", "note", "notes", "vault",   "say",      "says", "please"};

/// As rare as the commonest of the forms that the vault may hold.
double question_weight(const Corpus& corpus, const std::string& word) {
  double weight = corpus.inverse_document_frequency(word);
  for (const auto& other : {phrase_key(word), word + "s", word + "d", word + "ed", word + "ing"})
    weight = std::min(weight, corpus.inverse_document_frequency(other));
  return weight;
}

Question::Kind question_kind(std::string_view text) {
  const auto folded = " " + fold_case(text) + " ";
  const auto has = [&](std::string_view words) { return folded.find(words) != folded.npos; };
  if (has(" when ") || has(" what date ") || has(" which day ") || has(" what day ") ||
      has(" what year ") || has(" which year ") || has(" deadline "))
    return Question::Kind::When;
  if (has(" who ") || has(" whom ") || has(" whose ") || has(" who's ")) return Question::Kind::Who;
  if (has(" how many ") || has(" how much ") || has(" how long ") || has(" how often ") ||
      has(" how large ") || has(" how big ") || has(" what number ") || has(" which port "))
    return Question::Kind::HowMany;
  if (has(" how to ") || has(" how do ") || has(" how can ") || has(" how does one ") ||
      has(" how should ") || has(" steps "))
    return Question::Kind::HowTo;
  return Question::Kind::Other;
}

bool tells_date(std::string_view text) {
  if (find_date(text)) return true;
  static const std::set<std::string_view> kTimes = {
      "january",   "february", "march",    "april",    "june",   "july",     "august",
      "september", "october",  "november", "december", "monday", "tuesday",  "wednesday",
      "thursday",  "friday",   "saturday", "sunday",   "today",  "tomorrow", "yesterday",
      "spring",    "summer",   "autumn",   "winter"};
  const auto tokens = tokenize(text);
  return std::any_of(tokens.begin(), tokens.end(), [](const Token& token) {
    const bool is_year = token.is_number && token.folded.size() == 4 &&
                         (token.folded.starts_with("19") || token.folded.starts_with("20"));
    return is_year || kTimes.contains(token.folded);
  });
}

/// A link, a handle, or a word with a capital that does not begin the sentence.
bool tells_name(std::string_view text) {
  if (text.find("[[") != text.npos || text.find('@') != text.npos) return true;
  const auto tokens = tokenize(text);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto& token = tokens[i];
    if (!token.is_capital || token.is_stop || token.is_number) continue;
    const bool begins = i == 0 || tokens[i - 1].sentence != token.sentence;
    if (!begins || (i + 1 < tokens.size() && tokens[i + 1].is_capital)) return true;
  }
  return false;
}

bool tells_number(std::string_view text) {
  const auto tokens = tokenize(text);
  return std::any_of(tokens.begin(), tokens.end(), [](const Token& token) {
    static const std::set<std::string_view> kNumbers = {
        "one",   "two",   "three", "four",   "five",    "six",      "seven",
        "eight", "nine",  "ten",   "twelve", "hundred", "thousand", "million",
        "once",  "twice", "daily", "weekly", "monthly"};
    return token.is_number || kNumbers.contains(token.folded) ||
           (!token.folded.empty() && token.folded[0] >= '0' && token.folded[0] <= '9');
  });
}

}  // namespace

std::set<std::string> word_keys(std::string_view text) {
  std::set<std::string> keys;
  for (const auto& word : content_words(text))
    if (!is_stop_word(word)) keys.insert(word_stem(word));
  return keys;
}

Question::Question(std::string_view text, const Corpus& corpus) : kind_(question_kind(text)) {
  for (const bool skips : {true, false}) {  // a question of nothing but such words is about them
    for (const auto& word : content_words(text)) {
      const bool is_asking =
          std::find(kAskingWords.begin(), kAskingWords.end(), word) != kAskingWords.end();
      if (is_stop_word(word) || (skips && is_asking)) continue;
      const auto [it, is_new] = weights_.try_emplace(word_stem(word), 0);
      it->second = is_new ? question_weight(corpus, word)
                          : std::min(it->second, question_weight(corpus, word));
    }
    if (!weights_.empty()) break;
  }
  for (const auto& [key, weight] : weights_) total_ += weight;
  unheard_ = corpus.inverse_document_frequency("");
  const auto tokens = tokenize(text);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].is_number) numbers_.merge(numbers_in(tokens[i].folded));
    if (i > 0 && tokens[i].is_capital)
      for (const auto& key : word_keys(tokens[i].folded))
        if (weights_.contains(key)) names_.insert(key);
  }
}

double Question::missing(std::string_view text) const {
  const auto keys = word_keys(text);
  double most = 0;
  for (const auto& [key, weight] : weights_)
    if (!keys.contains(key)) most = std::max(most, weight);
  return most / unheard_;
}

bool Question::lacks_name(std::string_view text) const {
  const auto lacks = [](const std::set<std::string>& wanted, const std::set<std::string>& held) {
    return !std::includes(held.begin(), held.end(), wanted.begin(), wanted.end());
  };
  return (!names_.empty() && lacks(names_, word_keys(text))) ||
         (!numbers_.empty() && lacks(numbers_, numbers_in(text)));
}

double Question::overlap(std::string_view text) const {
  if (total_ <= 0) return 0;
  const auto keys = word_keys(text);
  double held = 0;
  for (const auto& [key, weight] : weights_)
    if (keys.contains(key)) held += weight;
  return held / total_;
}

bool Question::is_answered_by(std::string_view text, bool is_step) const {
  switch (kind_) {
    case Kind::When:
      return tells_date(text);
    case Kind::Who:
      return tells_name(text);
    case Kind::HowMany:
      return tells_number(text);
    case Kind::HowTo:
      return is_step;
    case Kind::Other:
      break;
  }
  return false;
}

}  // namespace indx
