#pragma once
#include "base/clock.hpp"
#include "base/result.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace indx {

/// Offsets from UTC of one place, read from the system's time zone files (TZif, RFC 8536). A value;
/// needs no environment and no global state.
class TimeZone {
 public:
  /// `Europe/Berlin`; empty: that of the system (`TZ`, then /etc/localtime, then UTC). Fails with
  /// `validation_failed` for a name that this system does not know.
  static Result<TimeZone> load(const std::string& name);
  static Result<TimeZone> parse(const std::string& tzif);

  /// IANA name of the zone that this system is set to; `UTC` when that cannot be found out.
  static std::string local_name();

  /// A time in which the clocks of the place are not changed.
  struct Stretch {
    Timestamp begin, end;         ///< the first begins, the last ends, out of all reach
    std::chrono::seconds offset;  ///< east of UTC
  };
  Stretch stretch_at(Timestamp time) const;
  std::chrono::seconds offset_at(Timestamp time) const { return stretch_at(time).offset; }

 private:
  struct Change {
    std::int64_t from = 0;  // seconds since 1970
    std::int32_t offset = 0;
  };
  std::int32_t first_offset_ = 0;
  std::vector<Change> changes_;
};

}  // namespace indx
