#pragma once
#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/json.hpp"

#include <chrono>
#include <mutex>
#include <optional>
#include <string>

namespace indx {

/// Turns job progress into notifications that never go back and come at most once per gap.
/// Thread-safe.
class ProgressMeter {
 public:
  ProgressMeter(Json token, const Clock& clock, std::chrono::milliseconds gap)
      : token_(std::move(token)), clock_(clock), gap_(gap) {}

  /// `notifications/progress`, or nullopt: the event says nothing new, or comes too soon.
  std::optional<Json> notification_for(const Event& event);

 private:
  const Json token_;
  const Clock& clock_;
  const std::chrono::milliseconds gap_;
  std::mutex mutex_;
  std::int64_t base_ = 0, last_done_ = -1, last_sent_ = -1;
  std::chrono::nanoseconds last_time_{};
};

}  // namespace indx
