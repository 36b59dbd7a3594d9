#include "ai/extractive/tagger.hpp"
#include "ai/extractive/tokens.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

namespace indx {
namespace {

constexpr std::size_t kMaxPhraseWords = 3;

/// What YAKE counts of one word.
struct WordCount {
  std::string word;
  double count = 0, upper = 0, acronym = 0, left = 0, right = 0;
  std::set<std::string> left_words, right_words;
  std::vector<double> sentences;  ///< where it occurs, ascending, each once
  double score = 0;
};

struct Candidate {
  Keyphrase phrase;
  std::vector<std::size_t> words;  ///< of WordCount
  double count = 0;
};

class Yake {
 public:
  explicit Yake(const std::vector<Token>& tokens) : tokens_(tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i) count(i);
    score_words();
    for (std::size_t i = 0; i < tokens.size(); ++i) collect(i);
  }

  std::vector<Keyphrase> phrases(std::size_t limit) {
    std::vector<Keyphrase> all;
    for (auto& candidate : candidates_) {
      double product = 1, sum = 0;
      for (const auto index : candidate.words)
        product *= words_[index].score, sum += words_[index].score;
      candidate.phrase.score = product / (candidate.count * (1 + sum));
      all.push_back(std::move(candidate.phrase));
    }
    std::sort(all.begin(), all.end(), [](const Keyphrase& a, const Keyphrase& b) {
      return a.score != b.score   ? a.score < b.score
             : a.begin != b.begin ? a.begin < b.begin
                                  : a.end < b.end;
    });
    if (all.size() > limit) all.resize(limit);
    return all;
  }

 private:
  void count(std::size_t i) {
    const auto& token = tokens_[i];
    sentence_count_ = std::max(sentence_count_, static_cast<double>(token.sentence + 1));
    const bool has_left = i > 0 && !token.breaks_before;
    if (token.is_stop) return;
    const auto [it, is_new] = index_.try_emplace(token.folded, words_.size());
    if (is_new) words_.push_back({token.folded, 0, 0, 0, 0, 0, {}, {}, {}, 0});
    auto& word = words_[it->second];
    ++word.count;
    word.acronym += token.is_acronym ? 1 : 0;
    word.upper += token.is_capital && i > 0 && tokens_[i - 1].sentence == token.sentence ? 1 : 0;
    if (word.sentences.empty() || word.sentences.back() != static_cast<double>(token.sentence))
      word.sentences.push_back(static_cast<double>(token.sentence));
    if (has_left) ++word.left, word.left_words.insert(tokens_[i - 1].folded);
    if (i + 1 < tokens_.size() && !tokens_[i + 1].breaks_before)
      ++word.right, word.right_words.insert(tokens_[i + 1].folded);
  }

  /// The five features of Campos, Mangaravite, Pasquali, Jorge, Nunes, Jatowt: "YAKE! Keyword
  /// extraction from single documents using multiple local features", Information Sciences 509
  /// (2020), section 3: casing, position, frequency, relatedness to context, spread over sentences.
  void score_words() {
    double sum = 0, squares = 0, most = 1;
    for (const auto& word : words_)
      sum += word.count, squares += word.count * word.count, most = std::max(most, word.count);
    const double number = std::max<double>(1, static_cast<double>(words_.size())),
                 mean = sum / number;
    const double deviation = std::sqrt(std::max(0.0, squares / number - mean * mean));
    for (auto& word : words_) {
      const double casing = std::max(word.acronym, word.upper) / (1 + std::log(word.count));
      const double median = (word.sentences[(word.sentences.size() - 1) / 2] +
                             word.sentences[word.sentences.size() / 2]) /
                            2;
      const double position = std::log(std::log(3 + median));
      const double frequency = word.count / (mean + deviation);
      const double variety =
          (word.left > 0 ? static_cast<double>(word.left_words.size()) / word.left : 0) +
          (word.right > 0 ? static_cast<double>(word.right_words.size()) / word.right : 0);
      const double relatedness = 1 + variety * word.count / most;
      const double spread = static_cast<double>(word.sentences.size()) / sentence_count_;
      word.score =
          relatedness * position / (casing + frequency / relatedness + spread / relatedness);
    }
  }

  /// The phrases that begin at token i.
  void collect(std::size_t i) {
    std::vector<std::size_t> words;
    std::string folded;
    for (auto at = i; at < tokens_.size() && words.size() < kMaxPhraseWords; ++at) {
      const auto& token = tokens_[at];
      if (token.is_stop || (at > i && token.breaks_before)) return;
      if (at > i) folded += ' ';
      folded += token.folded;
      words.push_back(index_.at(token.folded));
      if (token.is_number && (at == i || at + 1 == tokens_.size())) continue;
      const auto [it, is_new] = candidate_index_.try_emplace(folded, candidates_.size());
      if (is_new) candidates_.push_back({{"", folded, 0, tokens_[i].begin, token.end}, words, 0});
      ++candidates_[it->second].count;
    }
  }

  const std::vector<Token>& tokens_;
  std::vector<WordCount> words_;
  std::unordered_map<std::string, std::size_t> index_, candidate_index_;
  std::vector<Candidate> candidates_;
  double sentence_count_ = 1;
};

}  // namespace

std::vector<Keyphrase> yake_keyphrases(std::string_view text, std::size_t limit) {
  const auto tokens = tokenize(text);
  auto phrases = Yake(tokens).phrases(limit);
  for (auto& phrase : phrases)
    phrase.text = std::string(text.substr(phrase.begin, phrase.end - phrase.begin));
  return phrases;
}

}  // namespace indx
