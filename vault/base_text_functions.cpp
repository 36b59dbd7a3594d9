#include "base/letter_case.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/base_functions.hpp"
#include "vault/base_order.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace indx {
namespace {

const std::string& own_text(BaseCall& call) {
  call.evaluator.charge_text(call.self.text().size());
  return call.self.text();
}
BaseValue too_long_text() { return BaseValue::error("The text becomes too long."); }

bool text_has(BaseCall& call, std::size_t index) {
  return fold_case(own_text(call)).find(fold_case(call.text(index))) != std::string::npos;
}
BaseValue text_contains(BaseCall& call) { return text_has(call, 0); }
BaseValue text_contains_all(BaseCall& call) {
  for (std::size_t i = 0; i < call.arguments.size(); ++i)
    if (!text_has(call, i)) return false;
  return true;
}
BaseValue text_contains_any(BaseCall& call) {
  for (std::size_t i = 0; i < call.arguments.size(); ++i)
    if (text_has(call, i)) return true;
  return false;
}
BaseValue text_starts_with(BaseCall& call) { return own_text(call).starts_with(call.text(0)); }
BaseValue text_ends_with(BaseCall& call) { return own_text(call).ends_with(call.text(0)); }
BaseValue text_lower(BaseCall& call) { return to_lower(own_text(call)); }
BaseValue text_trim(BaseCall& call) { return BaseValue::text(trim(own_text(call))); }

BaseValue text_title(BaseCall& call) {
  const auto& text = own_text(call);
  std::string out;
  bool is_start = true;
  for (std::size_t at = 0; at < text.size();) {
    const auto c = decode_at(text, at);
    append_utf8(out, is_start ? upper_letter(c.value) : c.value);
    is_start = is_space(c.value);
    at += c.length;
  }
  return is_valid_utf8(text) ? std::move(out) : text;
}

BaseValue text_repeat(BaseCall& call) {
  const auto times = call.number(0);
  if (!times || *times < 0) return BaseValue::error("`repeat` needs a count of 0 or more.");
  const auto& text = own_text(call);
  if (*times * static_cast<double>(text.size() + 1) > 1e7 ||
      !call.evaluator.charge_text(static_cast<std::size_t>(*times) * text.size()))
    return too_long_text();
  std::string out;
  for (auto i = static_cast<std::size_t>(*times); i > 0; --i) out += text;
  return out;
}

BaseValue text_replace(BaseCall& call) {
  constexpr std::size_t kMaxText = 8U << 20U;
  const auto& text = own_text(call);
  const auto replacement = call.text(1);
  std::string out;
  if (call.arguments[0].is(BaseValue::Type::Regexp)) {
    auto replaced = call.arguments[0].regexp().replace(text, replacement, kMaxText);
    if (!replaced.has_value()) return BaseValue::error(replaced.error().message);
    out = std::move(replaced).value();
  } else {
    const auto pattern = call.text(0);
    if (pattern.empty()) return call.self;
    if (replacement.size() > pattern.size() &&
        text.size() / pattern.size() * replacement.size() > kMaxText)
      return too_long_text();
    out = replace_all(text, pattern, replacement);
  }
  return call.evaluator.charge_text(out.size()) ? BaseValue(std::move(out)) : too_long_text();
}

BaseValue text_reverse(BaseCall& call) {
  const auto& text = own_text(call);
  std::string out;
  for (std::size_t end = text.size(); end > 0;) {
    auto begin = end - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xc0U) == 0x80U) --begin;
    out += text.substr(begin, end - begin);
    end = begin;
  }
  return out;
}

/// JavaScript's slice: negative numbers count from the end.
std::optional<std::pair<std::size_t, std::size_t>> slice_of(BaseCall& call, std::size_t size) {
  const auto place = [&](std::size_t argument, double missing) -> std::optional<double> {
    if (!call.has(argument) || call.arguments[argument].is(BaseValue::Type::Null)) return missing;
    auto number = call.number(argument);
    if (!number) return std::nullopt;
    number = std::trunc(*number);
    if (*number < 0) number = std::max(0.0, *number + static_cast<double>(size));
    return std::min(*number, static_cast<double>(size));
  };
  const auto begin = place(0, 0), end = place(1, static_cast<double>(size));
  if (!begin || !end) return std::nullopt;
  return std::pair(static_cast<std::size_t>(*begin),
                   static_cast<std::size_t>(std::max(*begin, *end)));
}

BaseValue text_slice(BaseCall& call) {
  const auto& text = own_text(call);
  const auto range = slice_of(call, count_code_points(text));
  if (!range) return BaseValue::error("`slice` needs numbers.");
  std::size_t begin = text.size(), end = text.size(), count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) {
    if (count == range->first) begin = at;
    if (count == range->second) end = at;
    at += decode_at(text, at).length;
  }
  return text.substr(std::min(begin, end), end - std::min(begin, end));
}

BaseValue text_split(BaseCall& call) {
  if (call.arguments[0].is(BaseValue::Type::Regexp))
    return BaseValue::error("`split` takes a text; use `replace` first for a pattern.");
  const auto& text = own_text(call);
  const auto separator = call.text(0);
  const double most = call.has(1) ? call.number(1).value_or(0) : 1e9;
  BaseList list;
  const auto push = [&](std::string_view part) {
    if (static_cast<double>(list.items.size()) < most && call.evaluator.charge(1))
      list.items.push_back(BaseValue::text(part));
  };
  if (separator.empty()) {
    for (std::size_t at = 0; at < text.size();) {
      const auto length = decode_at(text, at).length;
      push(std::string_view(text).substr(at, length));
      at += length;
    }
    return list;
  }
  std::size_t begin = 0;
  for (;;) {
    const auto found = text.find(separator, begin);
    push(std::string_view(text).substr(begin, found == std::string::npos ? found : found - begin));
    if (found == std::string::npos) return list;
    begin = found + separator.size();
  }
}

// ---- numbers

BaseValue number_abs(BaseCall& call) { return std::abs(call.self.number()); }
BaseValue number_ceil(BaseCall& call) { return std::ceil(call.self.number()); }
BaseValue number_floor(BaseCall& call) { return std::floor(call.self.number()); }

/// Half towards plus infinity, as JavaScript rounds.
double round_half_up(double number) {
  const double floor = std::floor(number);
  return number - floor >= 0.5 ? floor + 1 : floor;
}
BaseValue number_round(BaseCall& call) {
  const double number = call.self.number();
  const auto digits = call.has(0) ? call.number(0) : 0;
  if (!digits || *digits < -20 || *digits > 20)
    return BaseValue::error("`round` takes at most 20 digits.");
  if (std::abs(number) > 1e15 && *digits >= 0) return number;
  const double scale = std::pow(10.0, std::trunc(*digits));
  const double rounded = round_half_up(number * scale) / scale;
  return std::isfinite(rounded) ? rounded : number;
}

BaseValue number_to_fixed(BaseCall& call) {
  const auto digits = call.has(0) ? call.number(0) : 0;
  if (!digits || *digits < 0 || *digits > 100)
    return BaseValue::error("`toFixed` takes 0 to 100 digits.");
  const double number = call.self.number();
  if (std::abs(number) >= 1e21) return format_base_number(number);
  char text[160];
  const auto end = std::to_chars(text, text + sizeof(text), number, std::chars_format::fixed,
                                 static_cast<int>(*digits))
                       .ptr;
  return std::string(text, end);
}

// ---- lists

const std::vector<BaseValue>& own_items(BaseCall& call) {
  call.evaluator.charge(call.self.list().items.size());
  return call.self.list().items;
}

bool list_has(BaseCall& call, std::size_t index) {
  using Type = BaseValue::Type;
  const auto& wanted = call.arguments[index];
  const auto folded = wanted.is(Type::Text) ? fold_case(wanted.text()) : std::string();
  const bool is_tags = call.self.list().is_tags && wanted.is(Type::Text);
  for (const auto& item : own_items(call)) {
    if (is_tags && item.is(Type::Text)) {
      if (is_base_tag_match(item.text(), wanted.text())) return true;
    } else if (item.is(Type::Text) && wanted.is(Type::Text)) {
      call.evaluator.charge_text(item.text().size());
      if (fold_case(item.text()) == folded) return true;
    } else if (call.evaluator.equals(item, wanted)) {
      return true;
    }
  }
  return false;
}
BaseValue list_contains(BaseCall& call) { return list_has(call, 0); }
BaseValue list_contains_all(BaseCall& call) {
  for (std::size_t i = 0; i < call.arguments.size(); ++i)
    if (!list_has(call, i)) return false;
  return true;
}
BaseValue list_contains_any(BaseCall& call) {
  for (std::size_t i = 0; i < call.arguments.size(); ++i)
    if (list_has(call, i)) return true;
  return false;
}

BaseValue run_item_body(BaseCall& call, const BaseValue& item, std::size_t index) {
  return call.evaluator.run_with(call.body(0),
                                 {{"value", item}, {"index", static_cast<double>(index)}});
}
BaseValue list_filter(BaseCall& call) {
  BaseList list;
  list.is_tags = call.self.list().is_tags;
  const auto& items = own_items(call);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto kept = run_item_body(call, items[i], i);
    if (kept.is_error()) return kept;
    if (kept.is_truthy()) list.items.push_back(items[i]);
  }
  return list;
}
BaseValue list_map(BaseCall& call) {
  BaseList list;
  const auto& items = own_items(call);
  for (std::size_t i = 0; i < items.size(); ++i) {
    list.items.push_back(run_item_body(call, items[i], i));
    if (list.items.back().is_error()) return list.items.back();
  }
  return list;
}
BaseValue list_reduce(BaseCall& call) {
  auto acc = call.evaluator.run(call.body(1));
  const auto& items = own_items(call);
  for (std::size_t i = 0; i < items.size() && !acc.is_error(); ++i)
    acc = call.evaluator.run_with(
        call.body(0), {{"acc", acc}, {"value", items[i]}, {"index", static_cast<double>(i)}});
  return acc;
}

BaseValue list_flat(BaseCall& call) {
  BaseList list;
  for (const auto& item : own_items(call)) {
    if (!item.is(BaseValue::Type::List)) {
      list.items.push_back(item);
      continue;
    }
    const auto& inner = item.list().items;
    if (!call.evaluator.charge(inner.size())) return BaseValue::error("The list becomes too long.");
    list.items.insert(list.items.end(), inner.begin(), inner.end());
  }
  return list;
}

BaseValue list_join(BaseCall& call) {
  const auto separator = call.text(0);
  std::string out;
  bool is_first = true;
  for (const auto& item : own_items(call)) {
    if (!std::exchange(is_first, false)) out += separator;
    const auto before = out.size();
    out += call.evaluator.to_text(item);
    if (!call.evaluator.charge_text(out.size() - before + separator.size())) return too_long_text();
  }
  return out;
}

BaseValue list_reverse(BaseCall& call) {
  BaseList list = call.self.list();
  call.evaluator.charge(list.items.size());
  std::reverse(list.items.begin(), list.items.end());
  return list;
}

BaseValue list_slice(BaseCall& call) {
  const auto& items = own_items(call);
  const auto range = slice_of(call, items.size());
  if (!range) return BaseValue::error("`slice` needs numbers.");
  BaseList list;
  list.is_tags = call.self.list().is_tags;
  list.items.assign(items.begin() + static_cast<std::ptrdiff_t>(range->first),
                    items.begin() + static_cast<std::ptrdiff_t>(range->second));
  return list;
}

BaseValue list_sort(BaseCall& call) {
  const auto& items = own_items(call);
  std::vector<std::pair<BaseSortKey, const BaseValue*>> keyed;
  for (const auto& item : items) keyed.emplace_back(base_sort_key(call.evaluator, item), &item);
  if (!call.evaluator.charge(items.size() * 4)) return BaseValue::error("The list is too long.");
  std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) {
    return compare_sort_keys(a.first, b.first, false) < 0;
  });
  BaseList list;
  list.is_tags = call.self.list().is_tags;
  for (const auto& [key, item] : keyed) list.items.push_back(*item);
  return list;
}

BaseValue list_unique(BaseCall& call) {
  BaseList list;
  list.is_tags = call.self.list().is_tags;
  std::set<std::string> seen;
  for (const auto& item : own_items(call))
    if (seen.insert(call.evaluator.identity(item)).second) list.items.push_back(item);
  return list;
}

/// The numbers of a list; other items do not count.
std::vector<double> numbers_of_list(BaseCall& call) {
  std::vector<double> numbers;
  for (const auto& item : own_items(call))
    if (item.is(BaseValue::Type::Number)) numbers.push_back(item.number());
  return numbers;
}
BaseValue optional_number(std::optional<double> number) {
  return number ? BaseValue(*number) : BaseValue();
}
BaseValue list_mean(BaseCall& call) { return optional_number(mean_of(numbers_of_list(call))); }
BaseValue list_median(BaseCall& call) { return optional_number(median_of(numbers_of_list(call))); }
BaseValue list_stddev(BaseCall& call) { return optional_number(stddev_of(numbers_of_list(call))); }

constexpr std::size_t kAnyNumber = 1000;

}  // namespace

const BaseFunctionTable& base_text_methods() {
  static const BaseFunctionTable table = {
      {"contains", 1, 1, false, text_contains},
      {"containsAll", 1, kAnyNumber, false, text_contains_all},
      {"containsAny", 1, kAnyNumber, false, text_contains_any},
      {"endsWith", 1, 1, false, text_ends_with},
      {"lower", 0, 0, false, text_lower},
      {"repeat", 1, 1, false, text_repeat},
      {"replace", 2, 2, false, text_replace},
      {"reverse", 0, 0, false, text_reverse},
      {"slice", 1, 2, false, text_slice},
      {"split", 1, 2, false, text_split},
      {"startsWith", 1, 1, false, text_starts_with},
      {"title", 0, 0, false, text_title},
      {"trim", 0, 0, false, text_trim},
  };
  return table;
}

const BaseFunctionTable& base_number_methods() {
  static const BaseFunctionTable table = {
      {"abs", 0, 0, false, number_abs},          {"ceil", 0, 0, false, number_ceil},
      {"floor", 0, 0, false, number_floor},      {"round", 0, 1, false, number_round},
      {"toFixed", 0, 1, false, number_to_fixed},
  };
  return table;
}

const BaseFunctionTable& base_list_methods() {
  static const BaseFunctionTable table = {
      {"contains", 1, 1, false, list_contains},
      {"containsAll", 1, kAnyNumber, false, list_contains_all},
      {"containsAny", 1, kAnyNumber, false, list_contains_any},
      {"filter", 1, 1, true, list_filter},
      {"flat", 0, 0, false, list_flat},
      {"join", 1, 1, false, list_join},
      {"map", 1, 1, true, list_map},
      {"mean", 0, 0, false, list_mean},
      {"median", 0, 0, false, list_median},
      {"reduce", 2, 2, true, list_reduce},
      {"reverse", 0, 0, false, list_reverse},
      {"slice", 1, 2, false, list_slice},
      {"sort", 0, 0, false, list_sort},
      {"stddev", 0, 0, false, list_stddev},
      {"unique", 0, 0, false, list_unique},
  };
  return table;
}

}  // namespace indx
