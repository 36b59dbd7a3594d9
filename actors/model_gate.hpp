#pragma once
#include "ai/rate_limit.hpp"
#include "base/clock.hpp"
#include "base/metrics.hpp"

#include <functional>
#include <mutex>

namespace indx {

/// Returns early on cancel.
void wait_unless_cancelled(std::chrono::nanoseconds time, const CancelToken& cancel);

/// Where every model call of this process passes, of jobs and of inline calls alike: it keeps them
/// within the limits of the provider, and silent while that has asked to be left alone. Counts what
/// waits. Thread-safe; holds its lock for no wait.
class ModelGate {
 public:
  using Time = std::chrono::nanoseconds;
  /// Returns early on cancel.
  using Wait = std::function<void(Time time, const CancelToken& cancel)>;
  /// A provider that asks for more is tried again all the same: other calls must not wait for days
  /// because of one odd answer.
  static constexpr milliseconds kLongestHold = std::chrono::hours(1);

  /// `wait`: empty for the real thing.
  ModelGate(RateLimits limits, const Clock& clock, Metrics& metrics, Wait wait = {});

  struct Admission {
    bool is_admitted = true;
    std::uint64_t place = 0;        ///< for `settle`
    RateWait why = RateWait::None;  ///< not admitted: what keeps the call
    Time left{};                    ///< and how long at least
  };
  /// Waits at most `longest` (up to a minute) for a call's turn; when that is later, it says so at
  /// once instead. `on_wait` is told before each wait how long it will be. `cancelled` as soon as
  /// the token is.
  Result<Admission> admit(std::int64_t tokens, Time longest, const CancelToken& cancel,
                          const std::function<void(RateWait why, Time time)>& on_wait);
  /// A call ended: its real usage replaces the estimate, and a Retry-After holds everybody.
  void settle(std::uint64_t place, const Result<GenerateReply>& reply);
  /// A call that was admitted is not made.
  void give_back(std::uint64_t place);

  const RateLimits& limits() const { return limits_; }

 private:
  /// Waits for the place. False: the provider asked to be left alone meanwhile.
  Result<bool> wait_for(const RateLimiter::Place& place, const CancelToken& cancel);

  const RateLimits limits_;
  const Clock& clock_;
  Metrics& metrics_;
  const Wait wait_;
  std::mutex mutex_;
  RateLimiter limiter_;
};

}  // namespace indx
