#pragma once
#include "vault/base_evaluator.hpp"

#include <optional>
#include <string>
#include <vector>

namespace indx {

/// What a value sorts by (vault-rules 8.10 and 10.5): the type first, then number or text.
struct BaseSortKey {
  /// Empty values come last in both directions.
  enum class Rank : std::uint8_t { Boolean, Number, Date, Text, List, Empty };
  Rank rank = Rank::Empty;
  double number = 0;
  std::string text;  ///< folded

  Json to_json() const;
  /// Nullopt: not what `to_json` gives.
  static std::optional<BaseSortKey> from_json(const Json& json);
};
BaseSortKey base_sort_key(BaseEvaluator& evaluator, const BaseValue& value);
/// Less than zero, zero or more.
int compare_sort_keys(const BaseSortKey& a, const BaseSortKey& b, bool is_descending);

/// Nullopt without numbers. The deviation is that of the whole population.
std::optional<double> mean_of(const std::vector<double>& numbers);
std::optional<double> median_of(std::vector<double> numbers);
std::optional<double> stddev_of(const std::vector<double>& numbers);

}  // namespace indx
