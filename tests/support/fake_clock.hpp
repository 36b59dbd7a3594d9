#pragma once
#include "base/clock.hpp"

#include <atomic>

namespace indx {

/// A clock that stands still until told otherwise. Starts at 2026-03-16T10:00:00Z.
class FakeClock : public Clock {
 public:
  Timestamp now() const override { return from_millis(wall_millis_); }
  std::chrono::nanoseconds monotonic() const override { return milliseconds(monotonic_millis_); }

  /// Time goes by.
  void advance(milliseconds by) {
    wall_millis_ += by.count();
    monotonic_millis_ += by.count();
  }
  /// The wall clock is changed; the monotonic one does not see it.
  void set(Timestamp wall) { wall_millis_ = to_millis(wall); }

 private:
  std::atomic<std::int64_t> wall_millis_{1773655200000};
  std::atomic<std::int64_t> monotonic_millis_{1000};
};

}  // namespace indx
