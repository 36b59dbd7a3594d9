#include "ai/value_text.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

namespace indx {
namespace {

using std::chrono::sys_days;
using std::chrono::year_month_day;

constexpr std::array<std::string_view, 12> kMonthNames = {
    "january", "february", "march",     "april",   "may",      "june",
    "july",    "august",   "september", "october", "november", "december"};

bool is_decimal(char c) { return c >= '0' && c <= '9'; }

std::string date_text(const year_month_day& day) {
  char text[16];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u", static_cast<int>(day.year()),
                static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()));
  return text;
}

std::optional<std::string> day_of(int year, int month, int day) {
  if (year < 1000 || year > 9999 || month < 1 || day < 1) return std::nullopt;
  const year_month_day date{std::chrono::year(year),
                            std::chrono::month(static_cast<unsigned>(month)),
                            std::chrono::day(static_cast<unsigned>(day))};
  return date.ok() ? std::optional(date_text(date)) : std::nullopt;
}

/// The number that is the whole text.
std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  if (text.empty() || text.size() > 8 || !std::all_of(text.begin(), text.end(), is_decimal))
    return std::nullopt;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// 1 to 12 for `March`, `mar`, `sept.`; 0 for no month.
int month_of(std::string_view word) {
  auto name = to_lower(word);
  if (name.ends_with('.')) name.pop_back();
  if (name == "sept") return 9;
  for (std::size_t i = 0; i < kMonthNames.size(); ++i)
    if (name == kMonthNames[i] || (name.size() == 3 && kMonthNames[i].starts_with(name)))
      return static_cast<int>(i) + 1;
  return 0;
}

/// `5`, `5th`, `5.` as the day of a month.
std::optional<int> day_number(std::string_view word) {
  while (word.ends_with(',') || word.ends_with('.')) word.remove_suffix(1);
  for (const std::string_view suffix : {"st", "nd", "rd", "th"})
    if (word.size() > 2 && word.ends_with(suffix)) word.remove_suffix(2);
  return word.size() <= 2 ? whole_number(word) : std::nullopt;
}

/// Three numbers between the same separator.
std::optional<std::string> separated_date(std::string_view text, char separator) {
  std::vector<int> numbers;
  const auto parts = split(text, separator);
  if (parts.size() != 3) return std::nullopt;
  for (const auto& part : parts) {
    const auto number = whole_number(part);
    if (!number || part.size() > 4) return std::nullopt;
    numbers.push_back(*number);
  }
  if (parts[0].size() == 4) return day_of(numbers[0], numbers[1], numbers[2]);
  if (parts[2].size() != 4) return std::nullopt;
  if (separator == '.') return day_of(numbers[2], numbers[1], numbers[0]);
  const auto day_first = day_of(numbers[2], numbers[1], numbers[0]);
  const auto month_first = day_of(numbers[2], numbers[0], numbers[1]);
  if (day_first && month_first && *day_first != *month_first) return std::nullopt;
  return day_first ? day_first : month_first;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (auto& word : split(text, ' '))
    if (!word.empty() && word != "of") words.push_back(std::move(word));
  return words;
}

std::optional<std::string> written_date(std::string_view text) {
  const auto words = words_of(text);
  if (words.size() != 3) return std::nullopt;
  const auto year = whole_number(words[2]);
  if (!year || words[2].size() != 4) return std::nullopt;
  const auto plain = [](std::string word) {
    if (word.ends_with(',')) word.pop_back();
    return word;
  };
  if (const int month = month_of(plain(words[0])); month > 0)
    if (const auto day = day_number(words[1])) return day_of(*year, month, *day);
  if (const int month = month_of(plain(words[1])); month > 0)
    if (const auto day = day_number(words[0])) return day_of(*year, month, *day);
  return std::nullopt;
}

struct TimeOfDay {
  int hour = 0, minute = 0, second = 0;
  int offset_minutes = 0;
};

/// `HH:mm[:ss[.fraction]]`, then nothing, `Z` or `±HH[:]mm`.
std::optional<TimeOfDay> time_of_day(std::string_view text) {
  TimeOfDay time;
  const auto take_two = [&](int* number) {
    if (text.size() < 2 || !is_decimal(text[0]) || !is_decimal(text[1])) return false;
    *number = (text[0] - '0') * 10 + (text[1] - '0');
    text.remove_prefix(2);
    return true;
  };
  const auto take = [&](char c) {
    if (!text.starts_with(c)) return false;
    text.remove_prefix(1);
    return true;
  };
  if (!take_two(&time.hour) || !take(':') || !take_two(&time.minute)) return std::nullopt;
  if (take(':')) {
    if (!take_two(&time.second)) return std::nullopt;
    if (take('.')) {
      const auto stop = std::min(text.size(), text.find_first_not_of("0123456789"));
      if (stop == 0) return std::nullopt;
      text.remove_prefix(stop);
    }
  }
  if (time.hour > 23 || time.minute > 59 || time.second > 59) return std::nullopt;
  if (text.empty() || text == "Z" || text == "z") return time;
  const int sign = text[0] == '-' ? -1 : text[0] == '+' ? 1 : 0;
  if (sign == 0) return std::nullopt;
  text.remove_prefix(1);
  int hours = 0, minutes = 0;
  if (!take_two(&hours)) return std::nullopt;
  take(':');
  if (!text.empty() && !take_two(&minutes)) return std::nullopt;
  if (!text.empty() || hours > 23 || minutes > 59) return std::nullopt;
  time.offset_minutes = sign * (hours * 60 + minutes);
  return time;
}

/// Where the date of an ISO date and time ends; npos when none begins the text.
std::size_t iso_date_end(std::string_view text) {
  if (text.size() < 11) return std::string_view::npos;
  for (std::size_t i = 0; i < 10; ++i)
    if (i == 4 || i == 7 ? text[i] != '-' : !is_decimal(text[i])) return std::string_view::npos;
  return text[10] == 'T' || text[10] == 't' || text[10] == ' ' ? 10 : std::string_view::npos;
}

std::optional<year_month_day> parsed_day(std::string_view day) {
  if (day.size() != 10) return std::nullopt;
  const auto year = whole_number(day.substr(0, 4)), month = whole_number(day.substr(5, 2)),
             number = whole_number(day.substr(8, 2));
  if (!year || !month || !number || !day_of(*year, *month, *number)) return std::nullopt;
  return year_month_day{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                        std::chrono::day(static_cast<unsigned>(*number))};
}

bool is_date_border(std::string_view text, std::size_t at) {
  return at >= text.size() || !(is_decimal(text[at]) || (text[at] >= 'a' && text[at] <= 'z') ||
                                (text[at] >= 'A' && text[at] <= 'Z'));
}

}  // namespace

std::optional<std::string> normal_date(std::string_view text) {
  text = trim(text);
  if (text.size() > 40) return std::nullopt;
  if (const auto end = iso_date_end(text); end != std::string_view::npos)
    return time_of_day(text.substr(end + 1)) ? separated_date(text.substr(0, end), '-')
                                             : std::nullopt;
  if (text.size() == 8 && whole_number(text))
    return day_of(*whole_number(text.substr(0, 4)), *whole_number(text.substr(4, 2)),
                  *whole_number(text.substr(6, 2)));
  for (const char separator : {'-', '/', '.'})
    if (auto date = separated_date(text, separator)) return date;
  return written_date(text);
}

std::optional<std::string> normal_datetime(std::string_view text) {
  text = trim(text);
  const auto end = iso_date_end(text);
  if (end == std::string_view::npos || text.size() > 40) return std::nullopt;
  const auto date = parsed_day(text.substr(0, end));
  const auto time = time_of_day(text.substr(end + 1));
  if (!date || !time) return std::nullopt;
  const auto utc = sys_days(*date) + std::chrono::hours(time->hour) +
                   std::chrono::minutes(time->minute - time->offset_minutes) +
                   std::chrono::seconds(time->second);
  const auto day = std::chrono::floor<std::chrono::days>(utc);
  const std::chrono::hh_mm_ss clock(utc - day);
  char tail[16];
  std::snprintf(tail, sizeof tail, "T%02d:%02d:%02dZ", static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return date_text(year_month_day(day)) + tail;
}

std::optional<FoundDate> find_date(std::string_view text) {
  constexpr std::size_t kLongest = 20;
  for (std::size_t begin = 0; begin < text.size(); ++begin) {
    const bool may_begin = (is_decimal(text[begin]) || (text[begin] >= 'A' && text[begin] <= 'Z') ||
                            (text[begin] >= 'a' && text[begin] <= 'z')) &&
                           (begin == 0 || is_date_border(text, begin - 1));
    if (!may_begin) continue;
    for (auto length = std::min(kLongest, text.size() - begin); length >= 8; --length) {
      if (!is_date_border(text, begin + length)) continue;
      const auto part = text.substr(begin, length);
      if (!is_decimal(part.back())) continue;
      if (part.size() == 8 && whole_number(part)) continue;  // any number of eight digits
      if (auto date = normal_date(part)) return FoundDate{*date, begin, begin + length};
    }
  }
  return std::nullopt;
}

std::optional<std::string> relative_date(std::string_view text, std::string_view day) {
  const auto from = parsed_day(day);
  if (!from) return std::nullopt;
  const auto word = to_lower(trim(text));
  const auto words = words_of(word);
  int days = 0;
  if (word == "tomorrow") {
    days = 1;
  } else if (word == "yesterday") {
    days = -1;
  } else if (words.size() == 3 && words[0] == "in" && whole_number(words[1])) {
    const int count = *whole_number(words[1]);
    if (count > 10000) return std::nullopt;
    if (words[2].starts_with("day"))
      days = count;
    else if (words[2].starts_with("week"))
      days = 7 * count;
    else
      return std::nullopt;
  } else if (word != "today") {
    return std::nullopt;
  }
  return date_text(year_month_day(sys_days(*from) + std::chrono::days(days)));
}

std::optional<Json> number_of_text(std::string_view text, bool allow_unit) {
  text = trim(text);
  if (allow_unit) {
    for (const std::string_view sign : {"$", "€", "£"}) {
      if (text.starts_with(sign)) text = trim(text.substr(sign.size()));
      if (text.ends_with(sign)) text = trim(text.substr(0, text.size() - sign.size()));
    }
    const auto space = text.find(' ');
    if (space != text.npos && text.find(' ', space + 1) == text.npos)
      text = text.substr(0, space);  // one word behind the number
    if (text.ends_with('%')) text.remove_suffix(1);
  }
  std::string digits;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool groups = text[i] == ',' && i > 0 && is_decimal(text[i - 1]) &&
                        text.size() - i >= 4 && is_decimal(text[i + 1]) &&
                        is_decimal(text[i + 2]) && is_decimal(text[i + 3]) &&
                        (i + 4 == text.size() || !is_decimal(text[i + 4]));
    if (!groups) digits += text[i];
  }
  if (digits.empty() || digits.size() > 25 ||
      digits.find_first_not_of("0123456789+-.eE") != std::string::npos)
    return std::nullopt;
  const char* begin = digits.data() + (digits[0] == '+' ? 1 : 0);
  const char* end = digits.data() + digits.size();
  std::int64_t whole = 0;
  if (const auto [stop, failure] = std::from_chars(begin, end, whole);
      failure == std::errc() && stop == end)
    return Json(whole);
  double value = 0;
  const auto [stop, failure] = std::from_chars(begin, end, value);
  if (failure != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return Json(value);
}

std::optional<bool> boolean_of_text(std::string_view text) {
  const auto word = to_lower(trim(text));
  for (const std::string_view yes : {"true", "yes", "on", "✅", "✓", "☑", "[x]"})
    if (word == yes) return true;
  for (const std::string_view no : {"false", "no", "off", "❌", "✗", "☐", "[ ]"})
    if (word == no) return false;
  return std::nullopt;
}

}  // namespace indx
