#include "jobs/retry_policy.hpp"

#include <algorithm>

namespace indx {

milliseconds retry_delay(const RetryPolicy& policy, int attempt, milliseconds floor,
                         Random& random) {
  milliseconds delay = std::min(policy.base, policy.cap);
  for (int i = 1; i < attempt && delay < policy.cap; ++i) delay = std::min(delay * 2, policy.cap);
  const auto jitter =
      static_cast<std::int64_t>(random.uniform() * static_cast<double>(delay.count()) / 2);
  return std::max(delay, floor) + milliseconds(jitter);
}

}  // namespace indx
