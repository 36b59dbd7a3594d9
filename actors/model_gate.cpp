#include "actors/model_gate.hpp"

#include <algorithm>
#include <condition_variable>

namespace indx {
namespace {

Error cancelled_in_line() {
  return make_error(Reason::Cancelled, "The call was cancelled while it waited for its turn.");
}

}  // namespace

void wait_unless_cancelled(std::chrono::nanoseconds time, const CancelToken& cancel) {
  std::mutex mutex;
  std::condition_variable wake;
  const auto registration = cancel.on_cancel([&] {
    const std::scoped_lock lock(mutex);
    wake.notify_all();
  });
  std::unique_lock lock(mutex);
  wake.wait_for(lock, time, [&] { return cancel.is_cancelled(); });
}

ModelGate::ModelGate(RateLimits limits, const Clock& clock, Metrics& metrics, Wait wait)
    : limits_(limits),
      clock_(clock),
      metrics_(metrics),
      wait_(wait ? std::move(wait) : Wait(wait_unless_cancelled)),
      limiter_(limits) {}

Result<ModelGate::Admission> ModelGate::admit(
    std::int64_t tokens, Time longest, const CancelToken& cancel,
    const std::function<void(RateWait why, Time time)>& on_wait) {
  const Time begin = clock_.monotonic();
  for (;;) {
    if (cancel.is_cancelled()) return cancelled_in_line();
    RateLimiter::Place place;
    Time now{};
    {
      const std::scoped_lock lock(mutex_);
      now = clock_.monotonic();  // under the lock: the limiter's time must not go back
      place = limiter_.take(now, tokens, std::max(longest - (now - begin), Time(0)));
    }
    if (place.id == 0) {
      metrics_.model_calls_put_off.of({name(place.why)}).add();
      return Admission{.is_admitted = false, .why = place.why, .left = place.at - now};
    }
    if (place.at <= now) return Admission{.place = place.id};
    if (on_wait) on_wait(place.why, place.at - now);
    if (INDX_TRY(wait_for(place, cancel))) return Admission{.place = place.id};
  }
}

Result<bool> ModelGate::wait_for(const RateLimiter::Place& place, const CancelToken& cancel) {
  const Time begin = clock_.monotonic();
  metrics_.model_calls_waiting.add(1);
  for (Time now = begin; now < place.at && !cancel.is_cancelled(); now = clock_.monotonic())
    wait_(place.at - now, cancel);
  metrics_.model_calls_waiting.add(-1);
  const Time now = clock_.monotonic();
  metrics_.model_wait_seconds.of({name(place.why)})
      .observe(std::chrono::duration<double>(now - begin).count());
  const std::scoped_lock lock(mutex_);
  const bool is_due = limiter_.held_until() <= now;
  if (!is_due || cancel.is_cancelled()) limiter_.give_back(place.id);
  if (cancel.is_cancelled()) return cancelled_in_line();
  return is_due;
}

void ModelGate::settle(std::uint64_t place, const Result<GenerateReply>& reply) {
  const std::scoped_lock lock(mutex_);
  if (const auto used = used_tokens(reply)) limiter_.settle(place, *used);
  if (reply.has_value() || !asks_to_wait(reply.error())) return;
  const milliseconds pause =
      std::min(retry_after(reply.error()).value_or(milliseconds(0)), kLongestHold);
  limiter_.hold(clock_.monotonic() + pause);
}

void ModelGate::give_back(std::uint64_t place) {
  const std::scoped_lock lock(mutex_);
  limiter_.give_back(place);
}

}  // namespace indx
