#include "base/clock.hpp"

#include <charconv>
#include <cstdio>

namespace indx {

Timestamp SystemClock::now() const {
  return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
}

std::chrono::nanoseconds SystemClock::monotonic() const {
  return std::chrono::steady_clock::now().time_since_epoch();
}

std::string format_time(Timestamp time) {
  using namespace std::chrono;
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  char text[40];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", int(date.year()),
                unsigned(date.month()), unsigned(date.day()), int(clock.hours().count()),
                int(clock.minutes().count()), int(clock.seconds().count()),
                int(clock.subseconds().count()));
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
