#pragma once
#include "base/random.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

// Measures of ranked lists, as pure functions (Manning, Raghavan, Schuetze 2008, chapter 8).
namespace indx::quality {

inline double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

/// 1 / rank of the first relevant item among the first `depth`; 0 when there is none.
inline double reciprocal_rank(const std::vector<std::string>& ranked,
                              const std::set<std::string>& relevant, std::size_t depth) {
  for (std::size_t i = 0; i < std::min(depth, ranked.size()); ++i)
    if (relevant.contains(ranked[i])) return 1.0 / static_cast<double>(i + 1);
  return 0;
}

/// Different relevant items among the first `depth`.
inline std::size_t hits_at(const std::vector<std::string>& ranked,
                           const std::set<std::string>& relevant, std::size_t depth) {
  std::set<std::string> found;
  for (std::size_t i = 0; i < std::min(depth, ranked.size()); ++i)
    if (relevant.contains(ranked[i])) found.insert(ranked[i]);
  return found.size();
}

/// The share of the relevant items that stand among the first `depth`; 0 when none is relevant.
inline double recall_at(const std::vector<std::string>& ranked,
                        const std::set<std::string>& relevant, std::size_t depth) {
  if (relevant.empty()) return 0;
  return static_cast<double>(hits_at(ranked, relevant, depth)) /
         static_cast<double>(relevant.size());
}

/// Of `depth` places those with a relevant item: an empty place is a miss.
inline double precision_at(const std::vector<std::string>& ranked,
                           const std::set<std::string>& relevant, std::size_t depth) {
  if (depth == 0) return 0;
  return static_cast<double>(hits_at(ranked, relevant, depth)) / static_cast<double>(depth);
}

struct Interval {
  double low = 0, high = 0;
};

/// The 95 % percentile interval of the mean of `ours - theirs`, where item i of both is of the same
/// question (paired bootstrap; Efron and Tibshirani 1993). The same seed gives the same interval.
inline Interval paired_bootstrap(const std::vector<double>& ours, const std::vector<double>& theirs,
                                 int resamples, std::uint64_t seed) {
  const std::size_t n = std::min(ours.size(), theirs.size());
  if (n == 0 || resamples <= 0) return {};
  SeededRandom random(seed);
  std::vector<double> means;
  for (int round = 0; round < resamples; ++round) {
    double sum = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const auto i = static_cast<std::size_t>(random.next() % n);
      sum += ours[i] - theirs[i];
    }
    means.push_back(sum / static_cast<double>(n));
  }
  std::sort(means.begin(), means.end());
  const auto at = [&](double share) {
    return means[static_cast<std::size_t>(share * static_cast<double>(means.size() - 1))];
  };
  return {at(0.025), at(0.975)};
}

}  // namespace indx::quality
