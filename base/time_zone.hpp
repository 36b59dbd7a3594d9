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

  std::chrono::seconds offset_at(Timestamp time) const;

 private:
  struct Change {
    std::int64_t from = 0;  // seconds since 1970
    std::int32_t offset = 0;
  };
  std::int32_t first_offset_ = 0;
  std::vector<Change> changes_;
};

}  // namespace indx
