#include "vault/base_order.hpp"

#include "base/unicode.hpp"

#include <algorithm>
#include <cmath>

namespace indx {
namespace {

/// Keys stand in cursors: what comes after so many bytes does not count.
constexpr std::size_t kMaxSortedBytes = 200;

std::string sorted_text(std::string_view text) {
  return fold_case(prefix_at_grapheme(text, kMaxSortedBytes));
}

}  // namespace

Json BaseSortKey::to_json() const { return Json::array({static_cast<int>(rank), number, text}); }

std::optional<BaseSortKey> BaseSortKey::from_json(const Json& json) {
  if (!json.is_array() || json.size() != 3 || !json[0].is_number_integer() ||
      !json[1].is_number() || !json[2].is_string())
    return std::nullopt;
  const auto rank = json[0].get<int>();
  if (rank < 0 || rank > static_cast<int>(Rank::Empty)) return std::nullopt;
  return BaseSortKey{static_cast<Rank>(rank), json[1].get<double>(), json[2].get<std::string>()};
}

BaseSortKey base_sort_key(BaseEvaluator& evaluator, const BaseValue& value) {
  using Type = BaseValue::Type;
  using Rank = BaseSortKey::Rank;
  if (value.is_error() || value.is_empty()) return {};
  switch (value.type()) {
    case Type::Boolean:
      return {Rank::Boolean, value.boolean() ? 1.0 : 0.0, ""};
    case Type::Number:
      return {Rank::Number, value.number(), ""};
    case Type::Duration:
      return {Rank::Number, value.duration().total_millis(), ""};
    case Type::Date:
      return {Rank::Date, static_cast<double>(value.date().millis), ""};
    case Type::List:
      return {Rank::List, 0, sorted_text(evaluator.to_text(value))};
    case Type::Link:
      return {Rank::Text, 0, sorted_text(value.link().display.value_or(value.link().target))};
    default:
      return {Rank::Text, 0, sorted_text(evaluator.to_text(value))};
  }
}

int compare_sort_keys(const BaseSortKey& a, const BaseSortKey& b, bool is_descending) {
  const bool a_is_empty = a.rank == BaseSortKey::Rank::Empty;
  const bool b_is_empty = b.rank == BaseSortKey::Rank::Empty;
  if (a_is_empty || b_is_empty) return static_cast<int>(a_is_empty) - static_cast<int>(b_is_empty);
  int order = static_cast<int>(a.rank) - static_cast<int>(b.rank);
  if (order == 0) order = a.number < b.number ? -1 : a.number > b.number ? 1 : 0;
  if (order == 0) order = compare_natural(a.text, b.text);
  return is_descending ? -order : order;
}

std::optional<double> mean_of(const std::vector<double>& numbers) {
  if (numbers.empty()) return std::nullopt;
  double sum = 0;
  for (const double number : numbers) sum += number;
  return sum / static_cast<double>(numbers.size());
}

std::optional<double> median_of(std::vector<double> numbers) {
  if (numbers.empty()) return std::nullopt;
  std::sort(numbers.begin(), numbers.end());
  const auto middle = numbers.size() / 2;
  return numbers.size() % 2 == 1 ? numbers[middle] : (numbers[middle - 1] + numbers[middle]) / 2;
}

std::optional<double> stddev_of(const std::vector<double>& numbers) {
  const auto mean = mean_of(numbers);
  if (!mean) return std::nullopt;
  double squares = 0;
  for (const double number : numbers) squares += (number - *mean) * (number - *mean);
  return std::sqrt(squares / static_cast<double>(numbers.size()));
}

}  // namespace indx
