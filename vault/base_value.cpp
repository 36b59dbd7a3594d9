#include "vault/base_value.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/markdown.hpp"

#include <charconv>
#include <cmath>

namespace indx {
namespace {

constexpr std::int64_t kDayMillis = 86'400'000;
constexpr double kMonthMillis = 365.2425 / 12 * static_cast<double>(kDayMillis);
constexpr std::int64_t kMinDate = -62'167'219'200'000;  // year 0
constexpr std::int64_t kMaxDate = 253'402'300'800'000;  // year 10000

/// Reads exactly `count` digits; -1: they are not there.
int digits_at(std::string_view text, std::size_t at, std::size_t count) {
  if (at + count > text.size()) return -1;
  int value = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    if (text[i] < '0' || text[i] > '9') return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

struct DateParts {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, millisecond = 0;
  bool has_time = false;

  std::optional<BaseDate> date() const {
    const auto ymd = std::chrono::year(year) / month / day;
    if (year < 0 || !ymd.ok() || hour < 0 || minute < 0 || second < 0 || hour > 23 || minute > 59 ||
        second > 59)
      return std::nullopt;
    const auto days = std::chrono::sys_days(ymd).time_since_epoch().count();
    return BaseDate{
        days * kDayMillis + hour * 3'600'000LL + minute * 60'000LL + second * 1000LL + millisecond,
        has_time};
  }
};

std::optional<BaseDate> parse_compact_date(std::string_view text) {
  if (text.size() != 8 && text.size() != 12 && text.size() != 14) return std::nullopt;
  if (text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  DateParts parts{digits_at(text, 0, 4), digits_at(text, 4, 2), digits_at(text, 6, 2)};
  parts.has_time = text.size() > 8;
  if (parts.has_time) {
    parts.hour = digits_at(text, 8, 2);
    parts.minute = digits_at(text, 10, 2);
  }
  if (text.size() == 14) parts.second = digits_at(text, 12, 2);
  return parts.date();
}

/// Minutes east of UTC; nullopt: not an offset.
std::optional<int> parse_utc_offset(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  if (text.size() < 3 || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const int hours = digits_at(text, 1, 2);
  const bool has_colon = text.size() == 6 && text[3] == ':';
  const int minutes = text.size() == 3 ? 0 : digits_at(text, has_colon ? 4 : 3, 2);
  if (hours < 0 || minutes < 0 || hours > 23 || minutes > 59) return std::nullopt;
  if (text.size() != 3 && text.size() != (has_colon ? 6U : 5U)) return std::nullopt;
  return (hours * 60 + minutes) * (text[0] == '-' ? -1 : 1);
}

bool looks_like_date(std::string_view text) {
  return text.size() >= 10 && text.size() <= 35 && text[4] == '-' && text[7] == '-' &&
         (text.size() == 10 || text[10] == 'T' || text[10] == ' ');
}

}  // namespace

double BaseDuration::total_millis() const {
  return millis + static_cast<double>(months) * kMonthMillis;
}

BaseValue::BaseValue(std::string value)
    : value_(std::make_shared<const std::string>(std::move(value))) {}
BaseValue::BaseValue(BaseMarkup value)
    : value_(std::make_shared<const BaseMarkup>(std::move(value))) {}
BaseValue BaseValue::error(std::string_view message) {
  return BaseError{std::string(prefix_at_grapheme(message, 300))};
}
BaseValue::BaseValue(BaseList value) : value_(std::make_shared<const BaseList>(std::move(value))) {}
BaseValue::BaseValue(BaseLink value) : value_(std::make_shared<const BaseLink>(std::move(value))) {}
BaseValue::BaseValue(BaseObject value)
    : value_(std::make_shared<const BaseObject>(std::move(value))) {}

std::string_view BaseValue::type_name() const {
  switch (type()) {
    case Type::Null:
      return "null";
    case Type::Boolean:
      return "boolean";
    case Type::Number:
      return "number";
    case Type::Text:
      return "string";
    case Type::Date:
      return "date";
    case Type::Duration:
      return "duration";
    case Type::List:
      return "list";
    case Type::Link:
      return "link";
    case Type::File:
      return "file";
    case Type::Object:
      return "object";
    case Type::Regexp:
      return "regexp";
    case Type::Markup:
      return markup().kind;
    case Type::Error:
      break;
  }
  return "error";
}

bool BaseValue::is_truthy() const {
  switch (type()) {
    case Type::Null:
    case Type::Error:
      return false;
    case Type::Boolean:
      return boolean();
    case Type::Number:
      return number() != 0;
    case Type::Duration:
      return duration().total_millis() != 0;
    case Type::Text:
    case Type::List:
      return !is_empty();
    default:
      return true;
  }
}

bool BaseValue::is_empty() const {
  if (is(Type::Text)) return text().empty();
  if (is(Type::List)) return list().items.empty();
  if (is(Type::Object)) return object().fields.empty();
  return is(Type::Null);
}

BaseDate BaseClock::local(Timestamp time) const {
  const auto offset = utc_offset ? utc_offset(time) : std::chrono::seconds(0);
  return {to_millis(time) + offset.count() * 1000, true};
}

BaseValue base_value_of(const Json& json, const std::string& source, bool is_tags) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) {
    const auto& text = json.get_ref<const std::string&>();
    if (looks_like_date(text))
      if (const auto date = parse_base_date(text, {})) return *date;
    if (text.ends_with("]]") || text.ends_with(")"))
      if (auto link = parse_base_link(text, source)) return std::move(*link);
    return text;
  }
  if (json.is_array()) {
    BaseList list;
    list.is_tags = is_tags;
    for (const auto& item : json) list.items.push_back(base_value_of(item, source));
    return list;
  }
  if (json.is_object()) {
    BaseObject object;
    for (const auto& [key, item] : json.items())
      object.fields.emplace_back(key, base_value_of(item, source));
    return object;
  }
  return {};
}

std::optional<BaseDate> parse_base_date(std::string_view text, const BaseClock& clock) {
  text = trim(text);
  if (auto date = parse_compact_date(text)) return date;
  if (!looks_like_date(text)) return std::nullopt;
  DateParts parts{digits_at(text, 0, 4), digits_at(text, 5, 2), digits_at(text, 8, 2)};
  if (text.size() == 10) return parts.date();
  parts.has_time = true;
  if (text.size() < 16 || text[13] != ':') return std::nullopt;
  parts.hour = digits_at(text, 11, 2);
  parts.minute = digits_at(text, 14, 2);
  auto rest = text.substr(16);
  if (rest.starts_with(':')) {
    parts.second = digits_at(rest, 1, 2);
    rest.remove_prefix(std::min<std::size_t>(rest.size(), 3));
    if (rest.starts_with('.')) {
      std::size_t length = 1;
      int scale = 100;
      for (; length < rest.size() && rest[length] >= '0' && rest[length] <= '9'; ++length) {
        parts.millisecond += (rest[length] - '0') * scale;
        scale /= 10;
      }
      rest.remove_prefix(length);
    }
  }
  if (parts.hour < 0 || parts.minute < 0 || parts.second < 0) return std::nullopt;
  auto date = parts.date();
  if (!date || rest.empty()) return date;
  const auto offset = parse_utc_offset(trim(rest));
  if (!offset) return std::nullopt;
  return clock.local(from_millis(date->millis - *offset * 60'000LL));
}

std::optional<BaseDuration> parse_base_duration(std::string_view text) {
  BaseDuration total;
  text = trim(text);
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    double sign = 1;
    if (text[0] == '-' || text[0] == '+') {
      sign = text[0] == '-' ? -1 : 1;
      text = trim(text.substr(1));
    }
    double count = 0;
    const auto read =
        std::from_chars(text.data(), text.data() + text.size(), count, std::chars_format::fixed);
    if (read.ec != std::errc() || !std::isfinite(count) || count < 0 || count > 1e9)
      return std::nullopt;
    text = trim(text.substr(static_cast<std::size_t>(read.ptr - text.data())));
    std::size_t length = 0;
    while (length < text.size() && ((text[length] >= 'a' && text[length] <= 'z') ||
                                    (text[length] >= 'A' && text[length] <= 'Z')))
      ++length;
    const auto unit = text.substr(0, length);
    text = trim(text.substr(length));
    count *= sign;
    const auto is = [&](std::string_view brief, std::string_view word) {
      return unit == brief || unit == word ||
             (unit.size() == word.size() + 1 && unit.starts_with(word) && unit.back() == 's');
    };
    const auto add_months = [&](double months) {  // a part of a month is time
      const double whole = std::trunc(months);
      total.months += static_cast<std::int64_t>(whole);
      total.millis += (months - whole) * kMonthMillis;
    };
    if (is("y", "year"))
      add_months(count * 12);
    else if (is("M", "month"))
      add_months(count);
    else if (is("w", "week"))
      total.millis += count * 7 * static_cast<double>(kDayMillis);
    else if (is("d", "day"))
      total.millis += count * static_cast<double>(kDayMillis);
    else if (is("h", "hour"))
      total.millis += count * 3'600'000;
    else if (is("m", "minute"))
      total.millis += count * 60'000;
    else if (is("s", "second"))
      total.millis += count * 1000;
    else if (is("ms", "millisecond"))
      total.millis += count;
    else
      return std::nullopt;
  }
  return total;
}

std::optional<BaseLink> parse_base_link(std::string_view text, const std::string& source) {
  text = trim(text);
  if (!text.starts_with("[")) return std::nullopt;
  const bool is_wiki = text.starts_with("[[");
  if (is_wiki ? !text.ends_with("]]") : !text.ends_with(")")) return std::nullopt;
  auto note = parse_note(text);
  if (note.links.size() != 1) return std::nullopt;
  auto& link = note.links[0];
  if (link.kind != LinkKind::Link || link.begin != 0 || link.end != text.size())
    return std::nullopt;
  return BaseLink{std::move(link.target), std::move(link.subpath), std::move(link.display), source,
                  link.external};
}

std::optional<BaseDate> add(BaseDate date, const BaseDuration& duration, int sign) {
  const double shift = sign * duration.millis;
  if (!(std::abs(shift) <= static_cast<double>(kMaxDate - kMinDate)) ||  // NaN too
      std::abs(duration.months) > 12 * 10'000)
    return std::nullopt;
  if (duration.months != 0) {
    const auto day = static_cast<std::int64_t>(
        std::floor(static_cast<double>(date.millis) / static_cast<double>(kDayMillis)));
    const auto in_day = date.millis - day * kDayMillis;
    const std::chrono::year_month_day ymd{std::chrono::sys_days(std::chrono::days(day))};
    const auto month =
        ymd.year() / ymd.month() + std::chrono::months(static_cast<int>(sign * duration.months));
    const auto last = (month / std::chrono::last).day();
    const auto moved = month / std::min(ymd.day(), last);
    date.millis = std::chrono::sys_days(moved).time_since_epoch().count() * kDayMillis + in_day;
  }
  date.millis += static_cast<std::int64_t>(shift);
  if (std::fmod(shift, static_cast<double>(kDayMillis)) != 0) date.has_time = true;
  if (date.millis < kMinDate || date.millis >= kMaxDate) return std::nullopt;
  return date;
}

BaseDate midnight_of(BaseDate date) {
  const auto in_day = ((date.millis % kDayMillis) + kDayMillis) % kDayMillis;
  return {date.millis - in_day, false};
}

WallTime wall_time(const BaseDate& date) {
  const auto midnight = midnight_of(date).millis;
  const auto in_day = static_cast<int>(date.millis - midnight);
  WallTime time;
  time.date = std::chrono::sys_days(std::chrono::days(midnight / kDayMillis));
  time.hour = in_day / 3'600'000;
  time.minute = in_day / 60'000 % 60;
  time.second = in_day / 1000 % 60;
  time.millisecond = in_day % 1000;
  return time;
}

std::string format_base_date(const BaseDate& date) {
  return format_moment(wall_time(date), date.has_time ? "YYYY-MM-DDTHH:mm:ss" : "YYYY-MM-DD");
}

std::string format_base_number(double number) {
  if (number == 0) return "0";
  if (std::trunc(number) == number && std::abs(number) < 1e21) {
    char digits[32];
    const auto end =
        std::to_chars(digits, digits + sizeof(digits), number, std::chars_format::fixed).ptr;
    return {digits, end};
  }
  char digits[64];
  const auto fixed = std::abs(number) >= 1e-6 && std::abs(number) < 1e21;
  const auto end =
      fixed ? std::to_chars(digits, digits + sizeof(digits), number, std::chars_format::fixed).ptr
            : std::to_chars(digits, digits + sizeof(digits), number, std::chars_format::scientific)
                  .ptr;
  return {digits, end};
}

std::string format_base_link(const BaseLink& link) {
  if (link.is_external) return cat('[', link.display.value_or(""), "](", link.target, ')');
  return cat("[[", link.target, link.subpath.empty() ? "" : "#", link.subpath,
             link.display ? "|" + *link.display : "", "]]");
}

std::optional<double> base_number_of(const BaseValue& value) {
  using Type = BaseValue::Type;
  switch (value.type()) {
    case Type::Null:
      return 0;
    case Type::Boolean:
      return value.boolean() ? 1 : 0;
    case Type::Number:
      return value.number();
    case Type::Date:
      return static_cast<double>(value.date().millis);
    case Type::Duration:
      return value.duration().total_millis();
    case Type::Text: {
      auto text = trim(value.text());
      if (text.starts_with('+')) text.remove_prefix(1);
      double number = 0;
      const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
      if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size() ||
          !std::isfinite(number))
        return std::nullopt;
      return number;
    }
    default:
      return std::nullopt;
  }
}

int compare_natural(std::string_view a, std::string_view b) {
  const auto is_number = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_number(a[i]) && is_number(b[j])) {
      const auto run = [&](std::string_view text, std::size_t& at) {
        while (at < text.size() && text[at] == '0') ++at;
        const auto begin = at;
        while (at < text.size() && is_number(text[at])) ++at;
        return text.substr(begin, at - begin);
      };
      const auto left = run(a, i), right = run(b, j);
      if (left.size() != right.size()) return left.size() < right.size() ? -1 : 1;
      if (const int order = left.compare(right); order != 0) return order < 0 ? -1 : 1;
      continue;
    }
    if (a[i] != b[j])
      return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]) ? -1 : 1;
    ++i;
    ++j;
  }
  if (i < a.size()) return 1;
  if (j < b.size()) return -1;
  return a.compare(b) == 0 ? 0 : (a < b ? -1 : 1);
}

}  // namespace indx
