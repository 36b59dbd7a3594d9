#pragma once
#include "base/clock.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace indx {

/// A point in time as a wall clock shows it.
struct WallTime {
  std::chrono::year_month_day date;
  int hour = 0, minute = 0, second = 0, millisecond = 0;
  int offset_minutes = 0;  ///< east of UTC
};
WallTime wall_time(Timestamp time, std::chrono::seconds offset);

/// A date in the tokens of Moment.js (`YYYY-MM-DD`, `dddd Do`, `[literal]`, …), English names and
/// weeks. Daily notes and templates use them.
std::string format_moment(const WallTime& time, std::string_view format);

}  // namespace indx
