#include "ai/extractive/relater.hpp"

#include "ai/extractive/corpus.hpp"
#include "ai/extractive/tokens.hpp"
#include "ai/note_text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace indx {
namespace {

constexpr double kMeaningWeight = 0.3, kLinksWeight = 0.5;
constexpr double kMentionWeight = 1, kFolderWeight = 0.5;
constexpr std::size_t kMostNameWords = 12, kMostNamesakes = 3;
constexpr std::size_t kMaxScannedBytes = 256U << 10U;

/// In standard deviations from the mean; all 0 where the values do not differ.
void standardise(std::vector<double>& values) {
  if (values.empty()) return;
  double mean = 0, variance = 0;
  for (const double value : values) mean += value;
  mean /= static_cast<double>(values.size());
  for (const double value : values) variance += (value - mean) * (value - mean);
  const double deviation = std::sqrt(variance / static_cast<double>(values.size()));
  for (double& value : values) value = deviation > 1e-12 ? (value - mean) / deviation : 0;
}

/// The embeddings' cosines, with the smallest one where there is none.
std::vector<double> meanings_of(const std::vector<RelateCandidate>& candidates) {
  std::optional<double> least;
  for (const auto& candidate : candidates)
    if (candidate.meaning) least = std::min(least.value_or(*candidate.meaning), *candidate.meaning);
  std::vector<double> values;
  for (const auto& candidate : candidates)
    values.push_back(candidate.meaning.value_or(least.value_or(0)));
  return values;
}

std::vector<double> mixed_scores(const std::vector<RelateCandidate>& candidates, RelateMode mode) {
  std::vector<double> meanings = meanings_of(candidates);
  if (mode == RelateMode::Semantic) return meanings;
  std::vector<double> words, links;
  for (const auto& candidate : candidates) {
    words.push_back(candidate.words);
    links.push_back(candidate.links);
  }
  standardise(words);
  standardise(links);
  standardise(meanings);
  std::vector<double> scores;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    scores.push_back(words[i] + kLinksWeight * links[i] +
                     (mode == RelateMode::Hybrid ? kMeaningWeight * meanings[i] : 0) +
                     (candidates[i].is_mentioned ? kMentionWeight : 0) +
                     (candidates[i].is_same_folder ? kFolderWeight : 0));
  return scores;
}

double similarity_of(const RelateCandidate& candidate, RelateMode mode) {
  const double meaning = std::clamp(candidate.meaning.value_or(0), 0.0, 1.0);
  if (mode == RelateMode::Semantic) return meaning;
  return mode == RelateMode::Lexical ? candidate.words : std::max(candidate.words, meaning);
}

/// The folded words of a text, stop words and numbers too.
std::vector<std::string> all_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (std::size_t at = 0; at < text.size();) {
    const auto point = decode_at(text, at);
    if (is_word_character(point.value) || is_mark(point.value)) {
      word += text.substr(at, point.length);
    } else if (!word.empty()) {
      words.push_back(fold_case(word));
      word.clear();
    }
    at += point.length;
  }
  if (!word.empty()) words.push_back(fold_case(word));
  return words;
}

std::string_view beginning(std::string_view text) {
  return text.size() <= kMaxScannedBytes ? text : prefix_at_grapheme(text, kMaxScannedBytes);
}

/// Tokens of unspaced scripts are runs, the words looked for pairs of their characters.
bool holds_word(const Token& token, const std::string& word) {
  if (token.folded == word) return true;
  return is_unspaced_script(decode_at(word, 0).value) && token.folded.find(word) != word.npos;
}

}  // namespace

std::vector<RankedCandidate> rank_related(const std::vector<RelateCandidate>& candidates,
                                          RelateMode mode, std::size_t most) {
  const auto scores = mixed_scores(candidates, mode);
  std::vector<RankedCandidate> ranked;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (mode != RelateMode::Semantic || candidates[i].meaning)
      ranked.push_back({i, scores[i], similarity_of(candidates[i], mode)});
  std::sort(ranked.begin(), ranked.end(), [&](const auto& a, const auto& b) {
    return a.score != b.score ? a.score > b.score
                              : candidates[a.index].path < candidates[b.index].path;
  });
  if (ranked.size() > most) ranked.resize(most);
  return ranked;
}

std::map<std::string, LinkOverlap> adamic_adar(
    const std::string& source, const std::vector<std::pair<std::string, std::string>>& links) {
  std::map<std::string, std::set<std::string>> neighbours;
  for (const auto& [from, to] : links) {
    if (from == to) continue;
    neighbours[from].insert(to);
    neighbours[to].insert(from);
  }
  std::map<std::string, std::vector<std::pair<double, std::string>>> shared;
  for (const auto& between : neighbours[source]) {
    const auto& others = neighbours[between];
    const double weight =
        1 / std::log(static_cast<double>(std::max<std::size_t>(2, others.size())));
    for (const auto& other : others)
      if (other != source) shared[other].emplace_back(-weight, between);
  }
  std::map<std::string, LinkOverlap> overlaps;
  for (auto& [path, parts] : shared) {
    std::sort(parts.begin(), parts.end());
    auto& overlap = overlaps[path];
    for (auto& [weight, between] : parts) {
      overlap.value -= weight;
      overlap.via.push_back(std::move(between));
    }
  }
  return overlaps;
}

void NoteNames::add(const std::string& path, std::string_view name) {
  const auto words = all_words(name);
  std::string key;
  for (const auto& word : words) (key += key.empty() ? "" : " ") += word;
  if (words.empty() || words.size() > kMostNameWords || count_code_points(key) < 3 ||
      is_stop_word(key))
    return;
  longest_ = std::max(longest_, words.size());
  paths_[key].push_back(path);
}

std::vector<std::string> NoteNames::find(std::string_view text) const {
  const auto words = all_words(beginning(text));
  std::set<std::string> found;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string key;
    for (std::size_t at = i; at < words.size() && at < i + longest_; ++at) {
      (key += key.empty() ? "" : " ") += words[at];
      if (const auto it = paths_.find(key);
          it != paths_.end() && it->second.size() <= kMostNamesakes)
        found.insert(it->second.begin(), it->second.end());
    }
  }
  return {found.begin(), found.end()};
}

std::optional<Evidence> sentence_with(std::string_view bytes,
                                      const std::vector<std::string>& words) {
  const NoteText note(bytes);
  const std::string_view prose = note.prose();
  struct Sentence {
    double weight = 0;
    std::size_t begin = 0, end = 0;
    std::set<std::size_t> seen;
  };
  std::map<int, Sentence> sentences;
  for (const auto& token : tokenize(beginning(prose))) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (!holds_word(token, words[i])) continue;
      auto& sentence = sentences[token.sentence];
      if (sentence.seen.empty()) sentence.begin = token.begin, sentence.end = token.end;
      if (sentence.seen.insert(i).second) sentence.weight += 1 / (1 + static_cast<double>(i));
    }
  }
  const Sentence* best = nullptr;
  for (const auto& [number, sentence] : sentences)
    if (best == nullptr || sentence.weight > best->weight) best = &sentence;
  if (best == nullptr) return std::nullopt;
  return note.sentence_around(best->begin, best->end);
}

}  // namespace indx
