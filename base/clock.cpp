#include "base/clock.hpp"

#include <algorithm>
#include <charconv>

namespace indx {

Timestamp SystemClock::now() const {
  return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
}

std::chrono::nanoseconds SystemClock::monotonic() const {
  return std::chrono::steady_clock::now().time_since_epoch();
}

std::string format_time(Timestamp time) {
  using namespace std::chrono;
  // RFC 3339 has the years 0 to 9999; the times of files may lie outside.
  constexpr Timestamp kFirst = sys_days(year(0) / 1 / 1);
  constexpr Timestamp kLast = sys_days(year(10000) / 1 / 1) - milliseconds(1);
  time = std::clamp(time, kFirst, kLast);
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  std::string text = "0000-00-00T00:00:00.000Z";
  // By hand, for every row of a list has one: snprintf takes ten times as long.
  const auto put = [&](std::size_t last, long number) {
    for (; number > 0; number /= 10) text[last--] = static_cast<char>('0' + number % 10);
  };
  put(3, int(date.year()));
  put(6, unsigned(date.month()));
  put(9, unsigned(date.day()));
  put(12, clock.hours().count());
  put(15, clock.minutes().count());
  put(18, clock.seconds().count());
  put(22, clock.subseconds().count());
  return text;
}

std::optional<Timestamp> parse_time(std::string_view text) {
  using namespace std::chrono;
  if (text.size() != 24 || text[10] != 'T' || text[23] != 'Z') return std::nullopt;
  const auto number = [&](std::size_t at, std::size_t length) {
    int value = -1;
    const auto* end = text.data() + at + length;
    return std::from_chars(text.data() + at, end, value).ptr == end ? value : -1;
  };
  const year_month_day date{year(number(0, 4)), month(unsigned(number(5, 2))),
                            day(unsigned(number(8, 2)))};
  const int hour = number(11, 2), minute = number(14, 2), second = number(17, 2),
            millis = number(20, 3);
  if (!date.ok() || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 ||
      second > 59 || millis < 0)
    return std::nullopt;
  return Timestamp(sys_days(date)) + hours(hour) + minutes(minute) + seconds(second) +
         milliseconds(millis);
}

}  // namespace indx
