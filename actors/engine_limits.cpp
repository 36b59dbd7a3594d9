// What keeps the calls of models within the limits of their provider. A call whose turn comes soon
// waits in its lane: giving the job back would cost more than the wait. One whose turn is further
// away does not. A job then sleeps until its turn, so that its runner and lanes serve others; an
// inline call, whose caller waits and could come back by itself, is refused with the time to wait.
// No place is kept for a job that sleeps: it asks anew when it wakes, as all others do.
#include "actors/engine_context.hpp"
#include "actors/suspension.hpp"
#include "base/text.hpp"

namespace indx {
namespace {

constexpr std::chrono::seconds kLongestWaitOfJob{5};
constexpr std::chrono::seconds kLongestWaitOfCaller{30};

Error refused_by_limit(const ModelGate& gate, const ModelGate::Admission& asked) {
  const auto seconds =
      std::max(std::chrono::ceil<std::chrono::seconds>(asked.left), std::chrono::seconds(1));
  const auto why = asked.why == RateWait::RetryAfter
                       ? std::string("The AI provider asked for a pause")
                   : asked.why == RateWait::Tokens
                       ? cat("The limit of ", gate.limits().tokens_per_minute,
                             " tokens a minute (ai.tokens_per_minute) is used up")
                       : cat("The limit of ", gate.limits().requests_per_minute,
                             " model calls a minute (ai.requests_per_minute) is used up");
  return make_error(Reason::RateLimited, cat(why, "; try again in ", seconds.count(), " s."),
                    {{"limit", name(asked.why)}, {"retry_after_s", seconds.count()}});
}

}  // namespace

std::optional<Error> EngineContext::held() const {
  if (!run_->is_held) return std::nullopt;
  const std::scoped_lock lock(run_->mutex);
  return run_->held;
}

/// The job gives its runner back: calls that are under way end, and no other begins.
Error EngineContext::hold(Error suspension) {
  const std::scoped_lock lock(run_->mutex);
  // A snooze is bounded, so it is not lost behind a wait for the limits.
  if (!run_->held || cause_of_snooze(suspension)) run_->held = std::move(suspension);
  run_->is_held = true;
  run_->waits_for = cause_of_snooze(*run_->held) ? std::string(name(RateWait::RetryAfter))
                                                 : run_->held->details.value("waits_for", "");
  run_->progress.waits_for = run_->waits_for;
  run_->progress.model_calls = run_->model_calls;
  run_->progress.cost_usd = run_->cost_usd;
  run_->has_untold_progress = true;  // stored with the end of the try
  return *run_->held;
}

/// A pause that is too long for a lane is not waited for by the retries of the call.
void EngineContext::hold_for_long_pause(const Result<GenerateReply>& reply) {
  if (!is_job() || reply.has_value() || !asks_to_wait(reply.error())) return;
  if (retry_after(reply.error()).value_or(milliseconds(0)) > kLongestWaitOfJob)
    hold(snoozed_by(reply.error()));
}

/// The limit of a day is no matter of waiting a little. A job that was made to go on by itself
/// sleeps until the day ends; one that somebody waits for ends with the error, as an inline call
/// does: its stored steps are paid for, and `job_retry` goes on behind them.
Error EngineContext::held_by_daily_limit(Error refused) {
  if (!is_job() || refused.reason != Reason::AiQuotaExceeded) return refused;
  const auto reset = parse_time(refused.details.value("reset_at", ""));
  if (run_->keep && reset) return hold(suspended_until(*reset, "daily_cost"));
  return hold(std::move(refused));
}

/// A try's place for ModelGate::settle.
Result<std::uint64_t> EngineContext::admit_model_call(std::int64_t tokens, bool can_do_without) {
  auto& gate = core_.parts.model_gate;
  if (const auto suspension = held()) return *suspension;
  const auto tell_wait = [&](RateWait why, std::chrono::nanoseconds time) {
    if (!is_job() || time < kTellProgressEvery) return;
    bool is_news = false;
    {
      const std::scoped_lock lock(run_->mutex);
      is_news = run_->waits_for != name(why);
      run_->waits_for = name(why);
    }
    tell_progress(std::nullopt, is_news);
  };
  ++run_->waiting_calls;
  const bool waits_long = !is_job() && !can_do_without;
  const auto asked = gate.admit(tokens, waits_long ? kLongestWaitOfCaller : kLongestWaitOfJob,
                                run_->cancel, tell_wait);
  if (--run_->waiting_calls == 0) {
    const std::scoped_lock lock(run_->mutex);
    if (!run_->held && !run_->waits_for.empty()) {
      run_->waits_for.clear();
      run_->progress.waits_for.clear();
      run_->has_untold_progress = true;
    }
  }
  const auto admission = INDX_TRY(asked);
  if (admission.is_admitted) return admission.place;
  if (!is_job()) return refused_by_limit(gate, admission);
  const auto left = std::chrono::ceil<milliseconds>(admission.left);
  return hold(suspended_until(core_.parts.clock.now() + left, std::string(name(admission.why))));
}

}  // namespace indx
