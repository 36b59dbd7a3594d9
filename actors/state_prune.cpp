#include "actors/state.hpp"
#include "ops/jobs.hpp"

namespace indx {
namespace {

constexpr std::chrono::hours kEventAge{24 * 30};
constexpr std::chrono::hours kIdempotencyAge{24};
constexpr std::chrono::hours kUsageAge{24 * 90};  // the totals of their days stay

}  // namespace

Result<Pruned> State::prune(int limit) {
  const auto now = clock.now();
  Pruned pruned;
  const auto left = [&] { return limit - static_cast<int>(pruned.total()); };
  pruned.jobs = INDX_TRY(queue.prune(now - kFinishedJobsKept, left()));
  if (left() > 0) pruned.slots = INDX_TRY(schedules.prune(left()));
  if (left() > 0)
    pruned.idempotency_keys = INDX_TRY(idempotency.prune(now - kIdempotencyAge, left()));
  if (left() > 0) pruned.events = INDX_TRY(events.prune(now - kEventAge, left()));
  if (left() > 0) pruned.versions = INDX_TRY(versions.prune(settings.versions, now, left()));
  if (left() > 0) pruned.model_calls = INDX_TRY(usage.prune(now - kUsageAge, left()));
  pruned.is_done = left() > 0;
  return pruned;
}

}  // namespace indx
