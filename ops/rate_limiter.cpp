#include "ops/rate_limiter.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr std::size_t kManyBuckets = 10000;
constexpr double kNanosPerMinute = 60e9;
constexpr double kRounding = 1e-6;  // who waits exactly as long as told gets through

}  // namespace

double CallLimiter::refilled(const Bucket& bucket, std::chrono::nanoseconds now) const {
  const double passed = static_cast<double>((now - bucket.filled_at).count());
  return std::min<double>(per_minute_, bucket.calls + passed * per_minute_ / kNanosPerMinute);
}

void CallLimiter::drop_full(std::chrono::nanoseconds now) {
  std::erase_if(buckets_,
                [&](const auto& entry) { return refilled(entry.second, now) >= per_minute_; });
}

std::optional<std::chrono::nanoseconds> CallLimiter::take(const std::string& subject) {
  if (per_minute_ <= 0) return std::nullopt;
  const std::scoped_lock lock(mutex_);
  const auto now = clock_.monotonic();
  if (buckets_.size() >= kManyBuckets && !buckets_.contains(subject)) drop_full(now);
  const auto [it, is_new] =
      buckets_.try_emplace(subject, Bucket{static_cast<double>(per_minute_), now});
  Bucket& bucket = it->second;
  bucket.calls = refilled(bucket, now);
  bucket.filled_at = now;
  if (bucket.calls >= 1 - kRounding) {
    bucket.calls -= 1;
    return std::nullopt;
  }
  return std::chrono::nanoseconds(
      static_cast<std::int64_t>((1 - bucket.calls) * kNanosPerMinute / per_minute_));
}

}  // namespace indx
