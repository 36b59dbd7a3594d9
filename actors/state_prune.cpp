#include "actors/state.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr std::chrono::hours kEventAge{24 * 30};
constexpr std::chrono::hours kJobAge{24 * 7};  // JobQueue::prune keeps failed and dead ones longer
constexpr std::chrono::hours kIdempotencyAge{24};

}  // namespace

Result<Pruned> State::prune(int limit) {
  const auto now = clock.now();
  Pruned pruned;
  pruned.versions = INDX_TRY(versions.prune(settings.versions, now, limit));
  pruned.events = INDX_TRY(events.prune(now - kEventAge, limit));
  pruned.idempotency_keys = INDX_TRY(idempotency.prune(now - kIdempotencyAge, limit));
  pruned.jobs = INDX_TRY(queue.prune(now - kJobAge, limit));
  pruned.slots = INDX_TRY(schedules.prune(limit));
  pruned.is_done = std::max({pruned.versions, pruned.events, pruned.idempotency_keys, pruned.jobs,
                             pruned.slots}) < limit;
  return pruned;
}

}  // namespace indx
