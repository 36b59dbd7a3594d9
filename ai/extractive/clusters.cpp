#include "ai/extractive/clusters.hpp"

#include "ai/extractive/corpus.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>

namespace indx {
namespace {

constexpr std::size_t kMaxClustered = 1500;

FeatureVector unit_length(FeatureVector vector) {
  double squares = 0;
  for (const auto& [feature, value] : vector) squares += double{value} * double{value};
  if (squares <= 0) return {};
  const auto scale = static_cast<float>(1 / std::sqrt(squares));
  for (auto& [feature, value] : vector) value *= scale;
  return vector;
}

float feature_dot(const FeatureVector& a, const FeatureVector& b) {
  float sum = 0;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    if (i->first == j->first)
      sum += i++->second * j++->second;
    else if (i->first < j->first)
      ++i;
    else
      ++j;
  }
  return sum;
}

/// 1 - cosine of all pairs.
class Distances {
 public:
  explicit Distances(const std::vector<FeatureVector>& vectors)
      : count_(vectors.size()), values_(count_ * count_, 1.0F) {
    // By feature: most pairs of notes share few words.
    std::unordered_map<std::uint32_t, std::vector<std::pair<std::size_t, float>>> holders;
    for (std::size_t i = 0; i < count_; ++i) {
      at(i, i) = 0;
      for (const auto& [feature, value] : vectors[i]) {
        auto& list = holders[feature];
        for (const auto& [other, weight] : list) at(other, i) -= weight * value;
        list.emplace_back(i, value);
      }
    }
    for (std::size_t i = 0; i < count_; ++i)
      for (std::size_t j = i + 1; j < count_; ++j) at(j, i) = at(i, j) = std::max(0.0F, at(i, j));
  }
  std::size_t count() const { return count_; }
  float& at(std::size_t a, std::size_t b) { return values_[a * count_ + b]; }
  float at(std::size_t a, std::size_t b) const { return values_[a * count_ + b]; }

 private:
  std::size_t count_;
  std::vector<float> values_;
};

struct ClusterJoin {
  std::size_t a = 0, b = 0;  ///< a member of each side
  float distance = 0;
};

/// All joins, nearest first.
class AverageLink {
 public:
  explicit AverageLink(Distances distances)
      : distances_(std::move(distances)), sizes_(distances_.count(), 1) {}

  std::vector<ClusterJoin> run() {
    std::vector<ClusterJoin> joins;
    std::vector<std::size_t> chain;
    std::size_t first = 0;
    while (joins.size() + 1 < sizes_.size()) {
      if (chain.empty()) {
        while (sizes_[first] == 0) ++first;
        chain.push_back(first);
      }
      const auto last = chain.back();
      const auto before = chain.size() > 1 ? chain[chain.size() - 2] : last;
      const auto next = nearest(last, before);
      if (next != before) {
        chain.push_back(next);
        continue;
      }
      chain.resize(chain.size() - 2);
      joins.push_back({before, last, distances_.at(before, last)});
      join(before, last);
      // Rounding may bring a link of the chain in twice.
      const auto is_gone = [&](std::size_t link) { return sizes_[link] == 0; };
      if (std::any_of(chain.begin(), chain.end(), is_gone)) chain.clear();
    }
    std::stable_sort(joins.begin(), joins.end(), [](const ClusterJoin& a, const ClusterJoin& b) {
      return a.distance < b.distance;
    });
    return joins;
  }

 private:
  /// Of two that are equally near `before` counts, or the chain would run in a circle.
  std::size_t nearest(std::size_t of, std::size_t before) const {
    auto best = before;
    auto least = before == of ? std::numeric_limits<float>::infinity() : distances_.at(of, before);
    for (std::size_t i = 0; i < sizes_.size(); ++i)
      if (sizes_[i] > 0 && i != of && distances_.at(of, i) < least) {
        best = i;
        least = distances_.at(of, i);
      }
    return best;
  }

  void join(std::size_t gone, std::size_t kept) {
    const auto a = static_cast<float>(sizes_[gone]), b = static_cast<float>(sizes_[kept]);
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      if (sizes_[i] == 0 || i == gone || i == kept) continue;
      const auto mean = (a * distances_.at(gone, i) + b * distances_.at(kept, i)) / (a + b);
      distances_.at(kept, i) = distances_.at(i, kept) = mean;
    }
    sizes_[kept] += sizes_[gone];
    sizes_[gone] = 0;
  }

  Distances distances_;
  std::vector<std::size_t> sizes_;  ///< 0: joined with another
};

/// Cluster numbers in order of first members.
std::vector<std::size_t> renumbered(const std::vector<std::size_t>& labels) {
  std::map<std::size_t, std::size_t> numbers;
  std::vector<std::size_t> result;
  for (const auto label : labels)
    result.push_back(numbers.try_emplace(label, numbers.size()).first->second);
  return result;
}

std::vector<std::size_t> labels_after(const std::vector<ClusterJoin>& joins, std::size_t count,
                                      std::size_t done) {
  std::vector<std::size_t> parents(count);
  std::iota(parents.begin(), parents.end(), std::size_t{0});
  const auto root = [&](std::size_t i) {
    while (parents[i] != i) i = parents[i] = parents[parents[i]];
    return i;
  };
  for (std::size_t i = 0; i < done; ++i) parents[root(joins[i].a)] = root(joins[i].b);
  std::vector<std::size_t> labels;
  for (std::size_t i = 0; i < count; ++i) labels.push_back(root(i));
  return renumbered(labels);
}

/// The mean over all members; one that is alone in its cluster counts 0.
double mean_silhouette(const Distances& distances, const std::vector<std::size_t>& labels,
                       std::size_t clusters) {
  std::vector<double> sizes(clusters, 0);
  for (const auto label : labels) ++sizes[label];
  double total = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto own = labels[i];
    if (sizes[own] < 2) continue;
    std::vector<double> sums(clusters, 0);
    for (std::size_t j = 0; j < labels.size(); ++j) sums[labels[j]] += double{distances.at(i, j)};
    const auto inside = sums[own] / (sizes[own] - 1);
    auto outside = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < clusters; ++c)
      if (c != own) outside = std::min(outside, sums[c] / sizes[c]);
    const auto larger = std::max(inside, outside);
    if (larger > 0) total += (outside - inside) / larger;
  }
  return total / static_cast<double>(labels.size());
}

std::vector<std::size_t> best_cut(const std::vector<FeatureVector>& vectors, std::size_t most) {
  const Distances distances(vectors);
  const auto count = vectors.size();
  const auto joins = AverageLink(distances).run();
  std::vector<std::size_t> best(count, 0);
  double best_value = 0;
  for (std::size_t clusters = 2; clusters <= std::min(most, count - 1); ++clusters) {
    auto labels = labels_after(joins, count, count - clusters);
    const auto value = mean_silhouette(distances, labels, clusters);
    if (value <= best_value) continue;
    best_value = value;
    best = std::move(labels);
  }
  return best;
}

std::vector<FeatureVector> means_of(const std::vector<FeatureVector>& vectors,
                                    const std::vector<std::size_t>& labels) {
  std::vector<std::map<std::uint32_t, float>> sums;
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    if (labels[i] >= sums.size()) sums.resize(labels[i] + 1);
    for (const auto& [feature, value] : vectors[i]) sums[labels[i]][feature] += value;
  }
  std::vector<FeatureVector> means;
  for (const auto& sum : sums) means.push_back(unit_length({sum.begin(), sum.end()}));
  return means;
}

}  // namespace

std::vector<FeatureVector> tf_idf_vectors(const std::vector<std::string>& texts) {
  std::vector<std::map<std::string, int>> counts;
  std::map<std::string, int> holders;
  for (const auto& text : texts) {
    auto& own = counts.emplace_back();
    for (auto& word : content_words(text)) ++own[std::move(word)];
    for (const auto& [word, count] : own) ++holders[word];
  }
  std::map<std::string, std::uint32_t> features;
  for (const auto& [word, count] : holders)
    if (count > 1) features.emplace(word, static_cast<std::uint32_t>(features.size()));
  std::vector<FeatureVector> vectors;
  const auto number = static_cast<double>(texts.size());
  for (const auto& own : counts) {
    auto& vector = vectors.emplace_back();
    for (const auto& [word, count] : own) {
      const auto feature = features.find(word);
      if (feature == features.end()) continue;
      const auto idf = std::log((1 + number) / (1 + double{1} * holders[word])) + 1;
      vector.emplace_back(feature->second, static_cast<float>((1 + std::log(count)) * idf));
    }
    vector = unit_length(std::move(vector));
  }
  return vectors;
}

FeatureVector feature_vector(std::span<const float> vector) {
  FeatureVector features;
  for (std::size_t i = 0; i < vector.size(); ++i)
    if (vector[i] != 0) features.emplace_back(static_cast<std::uint32_t>(i), vector[i]);
  return unit_length(std::move(features));
}

std::vector<std::size_t> topic_clusters(const std::vector<FeatureVector>& vectors,
                                        std::size_t most) {
  if (vectors.size() < 3 || most < 2) return std::vector<std::size_t>(vectors.size(), 0);
  if (vectors.size() <= kMaxClustered) return best_cut(vectors, most);
  std::vector<FeatureVector> sample;
  for (std::size_t i = 0; i < kMaxClustered; ++i)
    sample.push_back(vectors[i * vectors.size() / kMaxClustered]);
  const auto means = means_of(sample, best_cut(sample, most));
  std::vector<std::size_t> labels;
  for (const auto& vector : vectors) {
    std::size_t best = 0;
    float similarity = -2;
    for (std::size_t c = 0; c < means.size(); ++c)
      if (const auto value = feature_dot(vector, means[c]); value > similarity) {
        best = c;
        similarity = value;
      }
    labels.push_back(best);
  }
  return renumbered(labels);
}

}  // namespace indx
