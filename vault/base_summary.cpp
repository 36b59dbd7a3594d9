#include "vault/base_summary.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/base_order.hpp"

#include <algorithm>
#include <set>

namespace indx {
namespace {

using SummaryType = BaseValue::Type;

std::vector<double> numbers_among(const std::vector<BaseValue>& values) {
  std::vector<double> numbers;
  for (const auto& value : values)
    if (value.is(SummaryType::Number)) numbers.push_back(value.number());
  return numbers;
}

template <typename Fits>
BaseValue count_of(const std::vector<BaseValue>& values, Fits fits) {
  return static_cast<double>(std::count_if(values.begin(), values.end(), fits));
}

struct DateRange {
  BaseDate earliest, latest;
};
std::optional<DateRange> dates_among(const std::vector<BaseValue>& values) {
  std::optional<DateRange> range;
  for (const auto& value : values) {
    if (!value.is(SummaryType::Date)) continue;
    const auto date = value.date();
    if (!range) range = {date, date};
    if (date.millis < range->earliest.millis) range->earliest = date;
    if (date.millis > range->latest.millis) range->latest = date;
  }
  return range;
}

BaseValue or_null(std::optional<double> number) {
  return number ? BaseValue(*number) : BaseValue();
}

BaseValue builtin_summary(BaseEvaluator& evaluator, const std::string& name,
                          const std::vector<BaseValue>& values, bool* is_known) {
  *is_known = true;
  const auto numbers = numbers_among(values);
  const auto dates = dates_among(values);
  if (name == "average") return or_null(mean_of(numbers));
  if (name == "median") return or_null(median_of(numbers));
  if (name == "stddev") return or_null(stddev_of(numbers));
  if (name == "sum") {
    double sum = 0;
    for (const double number : numbers) sum += number;
    return sum;
  }
  if (name == "min" || name == "max" || name == "range") {
    if (!numbers.empty()) {
      const auto [least, greatest] = std::minmax_element(numbers.begin(), numbers.end());
      return name == "min" ? *least : name == "max" ? *greatest : *greatest - *least;
    }
    if (!dates) return {};
    if (name == "range")
      return BaseDuration{0, static_cast<double>(dates->latest.millis - dates->earliest.millis)};
    return name == "min" ? dates->earliest : dates->latest;
  }
  if (name == "earliest") return dates ? BaseValue(dates->earliest) : BaseValue();
  if (name == "latest") return dates ? BaseValue(dates->latest) : BaseValue();
  if (name == "checked")
    return count_of(values, [](const BaseValue& value) {
      return value.is(SummaryType::Boolean) && value.boolean();
    });
  if (name == "unchecked")  // rule 3.6: an empty checkbox is treated as false
    return count_of(values, [](const BaseValue& value) {
      return value.is(SummaryType::Null) || (value.is(SummaryType::Boolean) && !value.boolean());
    });
  if (name == "empty") return count_of(values, [](const BaseValue& v) { return v.is_empty(); });
  if (name == "filled")
    return count_of(values, [](const BaseValue& v) { return !v.is_empty() && !v.is_error(); });
  if (name == "unique") {
    std::set<std::string> seen;
    for (const auto& value : values)
      if (!value.is_empty() && !value.is_error()) seen.insert(evaluator.identity(value));
    return static_cast<double>(seen.size());
  }
  *is_known = false;
  return {};
}

}  // namespace

BaseValue base_summary(BaseEvaluator& evaluator, const BaseDefinition& base,
                       const std::string& name, std::vector<BaseValue> values) {
  const auto key = fold_case(name);
  if (const auto own = base.summaries.find(key); own != base.summaries.end()) {
    if (!own->second.has_value()) return BaseValue::error(own->second.error().message);
    BaseList list;
    for (auto& value : values)
      if (!value.is_error()) list.items.push_back(std::move(value));
    return evaluator.evaluate_summary(*own->second, std::move(list));
  }
  bool is_known = false;
  auto value = builtin_summary(evaluator, key, values, &is_known);
  return is_known ? value : BaseValue::error(cat("There is no summary `", name, "`."));
}

}  // namespace indx
