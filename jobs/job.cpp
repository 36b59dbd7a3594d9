#include "jobs/job.hpp"

#include "jobs/job_state.hpp"

namespace indx {
namespace {

template <typename T>
Json json_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}
Json time_or_null(const std::optional<Timestamp>& time) {
  return time ? Json(format_time(*time)) : Json();
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

/// What a caller needs who knows four states only.
std::string_view status(JobState state) {
  if (state == JobState::Running) return "running";
  if (state == JobState::Succeeded) return "succeeded";
  return is_final(state) ? "failed" : "pending";
}

}  // namespace

bool Job::is_final() const { return indx::is_final(state); }

Json to_json(const JobProgress& progress) {
  return {{"done", progress.done},
          {"total", json_or_null(progress.total)},
          {"unit", progress.unit},
          {"phase", progress.phase},
          {"current", progress.current},
          {"waits_for", progress.waits_for.empty() ? Json() : Json(progress.waits_for)},
          {"rate_per_second", progress.rate_per_second},
          {"eta_seconds", json_or_null(progress.eta_seconds)},
          {"model_calls", progress.model_calls},
          {"cost_usd", progress.cost_usd}};
}

Json to_json(const Job& job) {
  return {{"id", job.id.value},
          {"kind", job.kind},
          {"state", name(job.state)},
          {"status", status(job.state)},
          {"progress", to_json(job.progress)},
          {"processed", job.progress.done},
          {"total", json_or_null(job.progress.total)},
          {"attempts", job.attempts},
          {"crashes", job.crashes},
          {"interruptions", job.interruptions},
          {"snoozes", job.snoozes},
          {"max_attempts", job.max_attempts},
          {"priority", job.priority},
          {"cancel_requested", job.cancel_requested},
          {"pause_requested", job.pause_requested},
          {"runs_again", job.again_input.has_value()},
          {"unique_key", text_or_null(job.unique_key)},
          {"limit_key", text_or_null(job.limit_key)},
          {"time_limit_ms", job.time_limit.count() > 0 ? Json(job.time_limit.count()) : Json()},
          {"parent", text_or_null(job.parent)},
          {"schedule", text_or_null(job.schedule)},
          {"reverts", text_or_null(job.reverts)},
          {"steps", job.step_count},
          {"result", json_or_null(job.result)},
          {"error", job.error ? job.error->to_json() : Json()},
          {"leased_by", job.leased_by.empty() ? Json() : Json(job.leased_by)},
          {"leased_at", time_or_null(job.leased_at)},
          {"heartbeat_at", time_or_null(job.heartbeat_at)},
          {"run_at", format_time(job.run_at)},
          {"created_at", format_time(job.created_at)},
          {"started_at", time_or_null(job.started_at)},
          {"updated_at", format_time(job.updated_at)},
          {"finished_at", time_or_null(job.finished_at)},
          {"input", job.input}};
}

}  // namespace indx
