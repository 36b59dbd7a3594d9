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
  /// `has_message`: the peer's version knows progress in words.
  ProgressMeter(Json token, const Clock& clock, std::chrono::milliseconds gap,
                bool has_message = true)
      : token_(std::move(token)), clock_(clock), gap_(gap), has_message_(has_message) {}

  /// `notifications/progress`, or nullopt: the event says nothing new, or comes too soon.
  std::optional<Json> notification_for(const Event& event);

 private:
  const Json token_;
  const Clock& clock_;
  const std::chrono::milliseconds gap_;
  const bool has_message_;
  std::mutex mutex_;
  std::int64_t base_ = 0, last_done_ = -1, last_sent_ = -1;
  std::chrono::nanoseconds last_time_{};
};

}  // namespace indx
