#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace indx {

/// Wall-clock time with the resolution that we store: milliseconds since 1970-01-01 UTC.
using Timestamp = std::chrono::sys_time<std::chrono::milliseconds>;
using std::chrono::milliseconds;

/// Where time comes from, so that tests can set it. Safe to call from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Timestamp now() const = 0;
  /// Never goes back and is not touched by clock changes; for leases, limits and durations.
  virtual std::chrono::nanoseconds monotonic() const = 0;
};

class SystemClock : public Clock {
 public:
  Timestamp now() const override;
  std::chrono::nanoseconds monotonic() const override;
};

/// `2026-03-16T10:00:00.123Z`; outside the years 0 to 9999 the nearest time in them.
std::string format_time(Timestamp time);
std::optional<Timestamp> parse_time(std::string_view text);
inline std::int64_t to_millis(Timestamp time) { return time.time_since_epoch().count(); }
inline Timestamp from_millis(std::int64_t millis) { return Timestamp(milliseconds(millis)); }

}  // namespace indx
