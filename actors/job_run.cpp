#include "actors/job_run.hpp"

#include "actors/engine_context.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace indx {
namespace {

JobOutcome outcome_of(const Result<Json>& result, CancelReason why) {
  JobOutcome outcome;
  if (result.has_value()) {
    outcome.result = result.value();
    return outcome;
  }
  if (why == CancelReason::Shutdown) {
    outcome.kind = JobOutcome::Kind::Returned;
  } else if (result.error().reason == Reason::Cancelled) {
    outcome.kind = JobOutcome::Kind::Cancelled;
    outcome.error = result.error();
    if (!result.error().details.empty())
      outcome.result = result.error().details;  // how far it came
  } else {
    outcome.kind = JobOutcome::Kind::Failed;
    outcome.error = result.error();
    if (const auto wait = result.error().details.find("retry_after_ms");
        wait != result.error().details.end() && wait->is_number())
      outcome.retry_after = milliseconds(wait->get<std::int64_t>());
  }
  return outcome;
}

Result<Json> call_handler(const Operation& operation, const std::shared_ptr<Run>& run,
                          const Json& input) {
  EngineContext context(run);
  try {
    return operation.handler(context, input);
  } catch (const std::exception& error) {
    log_error("handler threw", {{"operation", operation.name}, {"error", error.what()}});
    return internal_error(cat(operation.name, " failed unexpectedly; see the log."));
  }
}

}  // namespace

void run_job(Core& core, const Job& job) {
  const LogContext log_context(job.owner.request_id, job.id.value);
  const Lease lease{job.id, job.lease, core.parts.instance};
  const auto run = std::make_shared<Run>(core, to_principal(job.owner), CancelToken(), job.kind);
  run->lease = lease;
  run->started = core.parts.clock.monotonic();
  core.parts.running.add(job.id, run->cancel);
  if (job.cancel_requested) run->cancel.cancel(CancelReason::Requested);
  if (core.parts.is_draining) run->cancel.cancel(CancelReason::Shutdown);
  log_info("job started", {{"operation", job.kind}, {"lease", job.lease}});

  const Operation* operation = core.parts.registry.find(job.kind);
  const auto result = operation != nullptr
                          ? call_handler(*operation, run, job.input)
                          : Result<Json>(internal_error(cat("Unknown operation ", job.kind, ".")));
  const auto outcome = outcome_of(result, run->cancel.reason());
  std::optional<JobProgress> untold;
  {
    const std::scoped_lock lock(run->mutex);
    if (run->has_untold_progress) untold = run->progress;
  }
  // The end must be stored: a busy database is asked again until it answers or the engine stops.
  for (int attempt = 0;; ++attempt) {
    const auto ended = core.change(
        [lease, outcome, untold, subject = job.owner.subject, &core](State& state) -> Result<Json> {
          if (untold) INDX_TRY(state.set_progress(lease, *untold, subject));
          const Job now = INDX_TRY(state.finish(lease, outcome));
          if (now.is_final()) core.parts.running.remove(now.id);
          return Json();
        });
    if (ended.has_value()) break;
    if (attempt == 0) log_warn("end of job not stored", {{"error", ended.error().message}});
    // While this instance lives nobody else takes the job back, so only a stop or a final answer
    // ends the asking.
    if (!ended.error().is_retryable() || (core.parts.is_draining && attempt >= 10)) break;
    std::this_thread::sleep_for(milliseconds(200));
  }
  core.parts.running.remove(job.id);
  log_info("job ended", {{"operation", job.kind}, {"ok", result.has_value()}});
}

}  // namespace indx
