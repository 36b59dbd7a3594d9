#pragma once
#include "ai/extractive/corpus.hpp"
#include "bench/quality/rouge.hpp"
#include "bench/quality/sentences.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace indx::quality {

/// Plain LexRank (Erkan and Radev 2004): sentences as nodes, an edge where the cosine of their
/// TF-IDF vectors is above .1, damping .85. Gives each sentence's score; they add up to 1. A
/// baseline: it shares no code with the summarizer that it stands beside.
inline std::vector<double> lexrank(const std::vector<PlainSentence>& sentences) {
  constexpr double kEdge = 0.1, kDamping = 0.85;
  constexpr int kRounds = 50;
  const std::size_t n = sentences.size();
  if (n == 0) return {};
  std::vector<std::map<std::string, double>> vectors(n);
  std::map<std::string, int> frequency;
  for (std::size_t i = 0; i < n; ++i) {
    for (const auto& word : content_words(sentences[i].text)) vectors[i][word] += 1;
    for (const auto& [word, count] : vectors[i]) ++frequency[word];
  }
  for (auto& vector : vectors) {
    double norm = 0;
    for (auto& [word, weight] : vector) {
      weight *= std::log(static_cast<double>(n + 1) / frequency[word]);
      norm += weight * weight;
    }
    if (norm > 0)
      for (auto& [word, weight] : vector) weight /= std::sqrt(norm);
  }
  std::vector<std::vector<std::size_t>> edges(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double cosine = 0;
      for (const auto& [word, weight] : vectors[i])
        if (const auto it = vectors[j].find(word); it != vectors[j].end())
          cosine += weight * it->second;
      if (i == j || cosine > kEdge) edges[i].push_back(j);
    }
  std::vector<double> scores(n, 1 / static_cast<double>(n));
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> next(n, (1 - kDamping) / static_cast<double>(n));
    for (std::size_t i = 0; i < n; ++i)
      for (const auto j : edges[i])
        next[j] += kDamping * scores[i] / static_cast<double>(edges[i].size());
    scores = std::move(next);
  }
  return scores;
}

/// Sentences by falling score until they have as many words as `words`, at least one; joined in
/// order of place.
inline std::string best_sentences(const std::vector<PlainSentence>& sentences,
                                  const std::vector<double>& scores, int words) {
  std::vector<std::size_t> order(sentences.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  std::vector<std::size_t> chosen;
  int used = 0;
  for (const auto i : order) {
    if (!chosen.empty() && used >= words) break;
    used += word_total(word_counts(sentences[i].text));
    chosen.push_back(i);
  }
  std::sort(chosen.begin(), chosen.end());
  std::string text;
  for (const auto i : chosen) text += (text.empty() ? "" : " ") + sentences[i].text;
  return text;
}

}  // namespace indx::quality
