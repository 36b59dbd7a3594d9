#include "actors/job_run.hpp"

#include "actors/engine_context.hpp"
#include "actors/engine_metrics.hpp"
#include "actors/suspension.hpp"
#include "ai/rate_limit.hpp"
#include "base/json_text.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "jobs/job_secrets.hpp"

namespace indx {
namespace {

/// Whether it also counts an attempt depends on who says so: a provider that asks to be left alone
/// is no fault of the job.
JobOutcome failed_outcome(const Error& error) {
  JobOutcome outcome;
  outcome.kind = asks_to_wait(error) ? JobOutcome::Kind::Snoozed : JobOutcome::Kind::Failed;
  outcome.error = error;
  if (const auto wait = error.details.find("retry_after_ms");
      wait != error.details.end() && wait->is_number())
    outcome.retry_after = milliseconds(wait->get<std::int64_t>());
  return outcome;
}

JobOutcome suspended_outcome(const Error& suspended) {
  if (const auto why = cause_of_snooze(suspended)) return failed_outcome(*why);
  JobOutcome outcome;
  outcome.wake_at = wake_time(suspended);
  outcome.kind = outcome.wake_at ? JobOutcome::Kind::Sleeping : JobOutcome::Kind::Waiting;
  outcome.waits_for = suspended.details.value("waits_for", "");
  return outcome;
}

JobOutcome cancelled_outcome(const Error& error) {
  JobOutcome outcome;
  outcome.kind = JobOutcome::Kind::Cancelled;
  outcome.error = error;
  if (!error.details.empty()) outcome.result = error.details;  // how far it came
  return outcome;
}

JobOutcome outcome_of(const Result<Json>& result, CancelReason why, milliseconds time_limit) {
  JobOutcome outcome;
  if (result.has_value()) {
    outcome.result = result.value();
    return outcome;
  }
  if (why == CancelReason::Shutdown || why == CancelReason::Pause) {
    outcome.kind = JobOutcome::Kind::Returned;
    return outcome;
  }
  if (why == CancelReason::TimeLimit) {
    outcome.kind = JobOutcome::Kind::TimedOut;
    outcome.error = time_limit_passed(time_limit);
    return outcome;
  }
  if (result.error().reason == Reason::Suspended) return suspended_outcome(result.error());
  if (result.error().reason == Reason::Cancelled) return cancelled_outcome(result.error());
  return failed_outcome(result.error());
}

Result<Json> call_handler(const Operation& operation, const std::shared_ptr<Run>& run,
                          const Json& input) {
  EngineContext context(run);
  context.give_stream(run->core.parts.answer_streams.of(run->lease->job));
  try {
    return operation.handler(context, input);
  } catch (const std::exception& error) {
    log_error("handler threw", {{"operation", operation.name}, {"error", error.what()}});
    return internal_error(cat(operation.name, " failed unexpectedly; see the log."));
  }
}

/// A try that is held is given back, whatever its handler made of the error that says so. A cancel
/// still tells how far it came.
Result<Json> unless_held(Run& run, Result<Json> result) {
  if (!result.has_value() && result.error().reason == Reason::Cancelled) return result;
  const std::scoped_lock lock(run.mutex);
  if (run.held) return *run.held;
  return result;
}

}  // namespace

Error time_limit_passed(milliseconds limit) {
  return make_error(Reason::Timeout,
                    cat("The job ran longer than its time limit of ", limit.count(), " ms."),
                    {{"time_limit_ms", limit.count()}});
}

JobEnd run_job(Core& core, const Claimed& claimed) {
  const Job& job = *claimed.job;
  const JobTiming timing(core.parts, job);
  const LogContext log_context(job.owner.request_id, job.id.value);
  const Lease lease{job.id, job.lease, core.parts.instance};
  core.parts.running.begin(lease);
  const auto run = std::make_shared<Run>(core, to_principal(job.owner), claimed.cancel, job.kind);
  run->lease = lease;
  run->keep = job.keep;
  run->priority = job.priority;
  run->started = core.parts.clock.monotonic();
  run->progress = job.progress;
  run->has_untold_progress = !run->progress.waits_for.empty();  // it waits no longer
  run->progress.waits_for.clear();
  run->model_calls = job.progress.model_calls;  // of the tries before
  run->cost_usd = job.progress.cost_usd;
  log_debug("job started", {{"operation", job.kind}, {"lease", job.lease}});

  const Operation* operation = core.parts.registry.find(job.kind);
  const auto result =
      operation != nullptr
          ? unless_held(*run, call_handler(*operation, run, with_secrets(job.input, job.secrets)))
          : Result<Json>(internal_error(cat("Unknown operation ", job.kind, ".")));
  log_debug("job ended", {{"operation", job.kind}, {"ok", result.has_value()}});
  if (!core.parts.running.handler_returned(lease)) {
    --core.parts.stuck_handlers;
    log_warn("a handler that was given up returned at last", {{"operation", job.kind}});
    return {.lease = lease, .was_abandoned = true};
  }
  if (run->cancel.reason() == CancelReason::LeaseLost) return {.lease = lease};

  // shared: by the attempts to store it
  const auto outcome =
      std::make_shared<JobOutcome>(outcome_of(result, run->cancel.reason(), job.time_limit));
  hide_secrets(*outcome, job.secrets);
  std::optional<JobProgress> untold;
  {
    const std::scoped_lock lock(run->mutex);
    if (run->has_untold_progress) untold = run->progress;
  }
  const auto took = core.parts.clock.monotonic() - run->started;
  const bool is_plain = outcome->kind == JobOutcome::Kind::Succeeded && !untold;
  const bool is_recorded = is_plain && took <= kShortTry &&
                           core.parts.running.record_end(lease, json_text(*outcome->result));
  return {.lease = lease,
          .store = [lease, outcome, untold, job = claimed.job](State& state) -> Result<Json> {
            if (untold) INDX_TRY(state.set_progress(lease, *untold, job->owner.subject));
            INDX_TRY(state.end_try(*job, lease, *outcome));
            return Json();
          },
          .kind = job.kind,
          .took = took,
          .is_recorded = is_recorded};
}

}  // namespace indx
