#pragma once
#include "base/clock.hpp"

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace indx {

/// A token bucket for each subject: `per_minute` calls a minute, and as many at once after a minute
/// of rest. Thread-safe.
class CallLimiter {
 public:
  CallLimiter(const Clock& clock, int per_minute) : clock_(clock), per_minute_(per_minute) {}

  /// Takes one call; nullopt: it may go on, else how long to wait for the next one.
  std::optional<std::chrono::nanoseconds> take(const std::string& subject);

 private:
  struct Bucket {
    double calls = 0;  ///< left
    std::chrono::nanoseconds filled_at{0};
  };
  /// Forgets buckets that are full again, so that many subjects cost no memory for long.
  void drop_full(std::chrono::nanoseconds now);
  double refilled(const Bucket& bucket, std::chrono::nanoseconds now) const;

  const Clock& clock_;
  int per_minute_;
  std::mutex mutex_;
  std::unordered_map<std::string, Bucket> buckets_;
};

}  // namespace indx
