#pragma once
#include "base/clock.hpp"
#include "base/random.hpp"

namespace indx {

/// Exponential back-off with jitter that only adds: base · 2^(attempt-1), at most `cap`, plus up to
/// half of it.
struct RetryPolicy {
  milliseconds base{1000};
  milliseconds cap{300000};
};
/// `attempt` counts from 1. Never below `floor` (a server's Retry-After).
milliseconds retry_delay(const RetryPolicy& policy, int attempt, milliseconds floor,
                         Random& random);

}  // namespace indx
