#include "ai/extractive/clusters.hpp"
#include "ai/extractive/tokens.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace indx {
namespace {

constexpr std::size_t kMaxTermTokens = 500'000, kMinTextTokens = 50, kMaxTextTokens = 4000;
constexpr double kPairShare = 0.5;  ///< of a word's uses from which a pair with it says more

struct TermCount {
  std::string text;  ///< as first written
  double total = 0;
  std::map<std::size_t, std::pair<double, int>> by_cluster;  ///< uses, and texts that hold it
};
struct ScoredTerm {
  const std::string* key = nullptr;
  const TermCount* term = nullptr;
  double score = 0, uses = 0;
  int texts = 0;
};

class TermCounter {
 public:
  TermCounter(const std::vector<std::string>& texts, const std::vector<std::size_t>& clusters) {
    for (const auto cluster : clusters) words_.resize(std::max(words_.size(), cluster + 1), 0);
    sizes_.resize(words_.size(), 0);
    most_tokens_ = std::clamp(kMaxTermTokens / std::max<std::size_t>(1, texts.size()),
                              kMinTextTokens, kMaxTextTokens);
    for (std::size_t i = 0; i < texts.size(); ++i) count(texts[i], clusters[i]);
  }

  std::vector<std::string> best(std::size_t cluster, std::size_t limit) const {
    const auto terms = ranked(cluster);
    std::vector<std::string> chosen;
    std::set<std::string> used;
    for (const auto& term : terms) {
      if (chosen.size() == limit) break;
      if (used.contains(*term.key)) continue;
      const auto& better = with_neighbour(term, terms);
      const auto parts = split(*better.key, ' ');
      if (std::any_of(parts.begin(), parts.end(),
                      [&](const std::string& part) { return used.contains(part); }))
        continue;
      used.insert(parts.begin(), parts.end());
      chosen.push_back(better.term->text);
    }
    return chosen;
  }
  std::size_t clusters() const { return words_.size(); }

 private:
  void count(const std::string& text, std::size_t cluster) {
    auto tokens = tokenize(text);
    if (tokens.size() > most_tokens_) tokens.resize(most_tokens_);
    ++sizes_[cluster];
    std::set<std::string> seen;
    const auto add = [&](const std::string& key, std::size_t begin, std::size_t end) {
      auto& term = terms_[key];
      if (term.text.empty()) term.text = text.substr(begin, end - begin);
      ++term.total;
      auto& [uses, texts] = term.by_cluster[cluster];
      ++uses;
      if (seen.insert(key).second) ++texts;
    };
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const auto& token = tokens[i];
      if (token.is_stop || token.is_number || token.end - token.begin < 2) continue;
      ++words_[cluster];
      add(token.folded, token.begin, token.end);
      if (i == 0 || token.breaks_before) continue;
      const auto& before = tokens[i - 1];
      const bool is_pair =
          !before.is_stop && !before.is_number && text.find('\n', before.end) >= token.begin;
      if (is_pair) add(cat(before.folded, " ", token.folded), before.begin, token.end);
    }
  }

  std::vector<ScoredTerm> ranked(std::size_t cluster) const {
    double words = 0;
    for (const auto count : words_) words += count;
    const auto average = words / static_cast<double>(words_.size());
    std::vector<ScoredTerm> terms;
    for (const auto& [key, term] : terms_) {
      const auto found = term.by_cluster.find(cluster);
      if (found == term.by_cluster.end()) continue;
      const auto& [uses, texts] = found->second;
      const auto score = uses / words_[cluster] * std::log(1 + average / term.total);
      terms.push_back({&key, &term, score, uses, texts});
    }
    // What one note of several says over and over is not what the others are about.
    const auto is_shared = [&](const ScoredTerm& term) {
      return sizes_[cluster] < 3 || term.texts > 1;
    };
    std::stable_sort(terms.begin(), terms.end(), [&](const ScoredTerm& a, const ScoredTerm& b) {
      if (is_shared(a) != is_shared(b)) return is_shared(a);
      return a.score > b.score;
    });
    return terms;
  }

  /// The commonest pair that holds the word in most of its uses, or the term itself.
  static const ScoredTerm& with_neighbour(const ScoredTerm& term,
                                          const std::vector<ScoredTerm>& terms) {
    if (term.key->find(' ') != std::string::npos) return term;
    const ScoredTerm* best = &term;
    const auto as_first = *term.key + " ", as_last = " " + *term.key;
    for (const auto& other : terms) {
      const bool holds = other.key->starts_with(as_first) || other.key->ends_with(as_last);
      const bool is_more = best == &term || other.uses > best->uses;
      if (holds && other.uses > 1 && other.uses >= kPairShare * term.uses && is_more) best = &other;
    }
    return *best;
  }

  std::size_t most_tokens_ = kMaxTextTokens;  ///< of one text
  std::map<std::string, TermCount> terms_;
  std::vector<double> words_;  ///< of each cluster, that say something
  std::vector<int> sizes_;     ///< texts of each cluster
};

}  // namespace

std::vector<std::vector<std::string>> cluster_terms(const std::vector<std::string>& texts,
                                                    const std::vector<std::size_t>& clusters,
                                                    std::size_t limit) {
  const TermCounter counter(texts, clusters);
  std::vector<std::vector<std::string>> terms;
  for (std::size_t i = 0; i < counter.clusters(); ++i) terms.push_back(counter.best(i, limit));
  return terms;
}

}  // namespace indx
