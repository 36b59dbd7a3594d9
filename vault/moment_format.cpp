#include "vault/moment_format.hpp"

#include "base/text.hpp"

#include <array>
#include <cstdlib>

namespace indx {
namespace {

using namespace std::chrono;

constexpr std::array<std::string_view, 12> kMonths = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};
constexpr std::array<std::string_view, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                   "Thursday", "Friday", "Saturday"};

/// Longest first among those that begin alike.
constexpr std::string_view kTokens[] = {
    "YYYYYY", "YYYY", "YY",  "Y",  "Qo",   "Q",    "MMMM", "MMM", "MM",   "Mo",  "M",  "DDDD",
    "DDDo",   "DDD",  "DD",  "Do", "D",    "dddd", "ddd",  "dd",  "do",   "d",   "E",  "e",
    "ww",     "wo",   "w",   "WW", "Wo",   "W",    "gggg", "gg",  "GGGG", "GG",  "HH", "H",
    "hh",     "h",    "kk",  "k",  "mm",   "m",    "ss",   "s",   "A",    "a",   "ZZ", "Z",
    "X",      "x",    "LTS", "LT", "LLLL", "LLL",  "LL",   "L",   "llll", "lll", "ll", "l"};

std::string padded(std::int64_t number, std::size_t width) {
  auto digits = std::to_string(std::llabs(number));
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return number < 0 ? "-" + digits : digits;
}

std::string ordinal(std::int64_t number) {
  const auto last = number % 10;
  const bool is_teen = number % 100 / 10 == 1;
  return cat(number, is_teen     ? "th"
                     : last == 1 ? "st"
                     : last == 2 ? "nd"
                     : last == 3 ? "rd"
                                 : "th");
}

unsigned week_day(year_month_day date) { return weekday(sys_days(date)).c_encoding(); }
int day_of_year(year_month_day date) {
  return static_cast<int>((sys_days(date) - sys_days(date.year() / 1 / 1)).count()) + 1;
}

/// Weeks that begin on `first_day`; week 1 holds the January day that `anchor` tells, as Moment
/// counts: 1 January for English weeks (0, 6), 4 January for ISO weeks (1, 4).
struct Week {
  int year = 0, number = 0;
};
int week_offset(int in_year, int first_day, int anchor) {
  const int forward = 7 + first_day - anchor;
  const auto day = week_day(year(in_year) / 1 / static_cast<unsigned>(forward));
  return -((7 + static_cast<int>(day) - first_day) % 7) + forward - 1;
}
int weeks_in(int in_year, int first_day, int anchor) {
  return ((year(in_year).is_leap() ? 366 : 365) - week_offset(in_year, first_day, anchor) +
          week_offset(in_year + 1, first_day, anchor)) /
         7;
}
Week week_of(year_month_day date, int first_day, int anchor) {
  const int in_year = int(date.year());
  const int days_in = day_of_year(date) - week_offset(in_year, first_day, anchor) - 1;
  const int number = (days_in >= 0 ? days_in / 7 : (days_in - 6) / 7) + 1;
  if (number < 1) return {in_year - 1, number + weeks_in(in_year - 1, first_day, anchor)};
  const int all = weeks_in(in_year, first_day, anchor);
  return number > all ? Week{in_year + 1, number - all} : Week{in_year, number};
}

std::string offset_text(const WallTime& t, std::string_view colon) {
  const int minutes = std::abs(t.offset_minutes);
  return cat(t.offset_minutes < 0 ? '-' : '+', padded(minutes / 60, 2), colon,
             padded(minutes % 60, 2));
}

std::int64_t unix_millis(const WallTime& t) {
  const auto local = sys_days(t.date) + hours(t.hour) + minutes(t.minute) + seconds(t.second) +
                     milliseconds(t.millisecond);
  return (local - minutes(t.offset_minutes)).time_since_epoch() / milliseconds(1);
}

std::string long_form(std::string_view token) {
  if (token == "LT") return "h:mm A";
  if (token == "LTS") return "h:mm:ss A";
  if (token == "L") return "MM/DD/YYYY";
  if (token == "LL") return "MMMM D, YYYY";
  if (token == "LLL") return "MMMM D, YYYY h:mm A";
  if (token == "LLLL") return "dddd, MMMM D, YYYY h:mm A";
  if (token == "l") return "M/D/YYYY";
  if (token == "ll") return "MMM D, YYYY";
  if (token == "lll") return "MMM D, YYYY h:mm A";
  return "ddd, MMM D, YYYY h:mm A";
}

std::string number_token(std::string_view token, std::int64_t value) {
  if (token.ends_with('o')) return ordinal(value);
  return padded(value, token.size() >= 2 ? 2 : 1);
}

std::string date_token(std::string_view token, const WallTime& t) {
  const int in_year = int(t.date.year());
  const auto month_number = unsigned(t.date.month()), day_number = unsigned(t.date.day());
  switch (token.front()) {
    case 'Y':
      if (token == "YY") return padded(in_year % 100, 2);
      if (token == "YYYYYY") return cat(in_year < 0 ? '-' : '+', padded(std::abs(in_year), 6));
      return padded(in_year, token == "Y" ? 1 : 4);
    case 'Q':
      return number_token(token.size() == 1 ? "Q" : "Qo", (month_number + 2) / 3);
    case 'M':
      if (token == "MMMM") return std::string(kMonths[month_number - 1]);
      if (token == "MMM") return std::string(kMonths[month_number - 1].substr(0, 3));
      return number_token(token, month_number);
    case 'D':
      if (token == "DDDD") return padded(day_of_year(t.date), 3);
      if (token == "DDD") return std::to_string(day_of_year(t.date));
      if (token == "DDDo") return ordinal(day_of_year(t.date));
      return number_token(token, day_number);
    case 'd': {
      const auto day = week_day(t.date);
      if (token == "dddd") return std::string(kDays[day]);
      if (token == "ddd" || token == "dd") return std::string(kDays[day].substr(0, token.size()));
      return token == "do" ? ordinal(day) : std::to_string(day);
    }
    case 'e':
      return std::to_string(week_day(t.date));
    default:  // E
      return std::to_string((week_day(t.date) + 6) % 7 + 1);
  }
}

std::string week_token(std::string_view token, const WallTime& t) {
  const bool is_iso = token.front() == 'W' || token.front() == 'G';
  const auto week = is_iso ? week_of(t.date, 1, 4) : week_of(t.date, 0, 6);
  if (token.front() == 'w' || token.front() == 'W') return number_token(token, week.number);
  return token.size() == 2 ? padded(week.year % 100, 2) : padded(week.year, 4);
}

std::string time_token(std::string_view token, const WallTime& t) {
  switch (token.front()) {
    case 'H':
      return number_token(token, t.hour);
    case 'h':
      return number_token(token, (t.hour + 11) % 12 + 1);
    case 'k':
      return number_token(token, t.hour == 0 ? 24 : t.hour);
    case 'm':
      return number_token(token, t.minute);
    case 's':
      return number_token(token, t.second);
    case 'A':
      return t.hour < 12 ? "AM" : "PM";
    case 'a':
      return t.hour < 12 ? "am" : "pm";
    case 'Z':
      return offset_text(t, token == "Z" ? ":" : "");
    case 'X':
      return std::to_string(unix_millis(t) / 1000);
    default:  // x
      return std::to_string(unix_millis(t));
  }
}

std::string render_token(std::string_view token, const WallTime& t) {
  const char c = token.front();
  if (c == 'L' || c == 'l') return format_moment(t, long_form(token));
  if (std::string_view("wWgG").find(c) != std::string_view::npos) return week_token(token, t);
  if (std::string_view("YQMDdeE").find(c) != std::string_view::npos) return date_token(token, t);
  return time_token(token, t);
}

}  // namespace

WallTime wall_time(Timestamp time, std::chrono::seconds offset) {
  const auto local = time + offset;
  const auto day = floor<days>(local);
  const hh_mm_ss clock(local - day);
  return {year_month_day(day),
          static_cast<int>(clock.hours().count()),
          static_cast<int>(clock.minutes().count()),
          static_cast<int>(clock.seconds().count()),
          static_cast<int>(clock.subseconds().count()),
          static_cast<int>(offset / minutes(1))};
}

std::string format_moment(const WallTime& time, std::string_view format) {
  std::string out;
  for (std::size_t at = 0; at < format.size();) {
    if (format[at] == '[') {
      if (const auto close = format.find(']', at); close != format.npos) {
        out += format.substr(at + 1, close - at - 1);
        at = close + 1;
        continue;
      }
    }
    if (format[at] == '\\' && at + 1 < format.size()) {
      out += format[at + 1];
      at += 2;
      continue;
    }
    if (format[at] == 'S') {  // tenths, hundredths, thousandths; Moment fills up with zeros
      auto end = at;
      while (end < format.size() && format[end] == 'S' && end - at < 9) ++end;
      out += (padded(time.millisecond, 3) + "000000").substr(0, end - at);
      at = end;
      continue;
    }
    std::string_view token;
    for (const auto candidate : kTokens)
      if (format.substr(at).starts_with(candidate)) {
        token = candidate;
        break;
      }
    if (token.empty()) {
      out += format[at++];
      continue;
    }
    out += render_token(token, time);
    at += token.size();
  }
  return out;
}

}  // namespace indx
