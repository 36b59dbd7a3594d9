#include "actors/engine_metrics.hpp"

#include "base/text.hpp"
#include "jobs/job_state.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <unistd.h>

namespace indx {
namespace {

double in_seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(std::max(time, std::chrono::nanoseconds(0))).count();
}

constexpr const char* kUnknownKind = "unknown";
using JobsByState = std::map<std::pair<std::string, JobState>, std::int64_t>;

void add_states(JobsByState& jobs, const std::string& kind) {
  for (const JobState state : job_states()) jobs.try_emplace({kind, state}, 0);
}

/// A label value: kinds of other versions of the program are no list that ends.
std::string kind_label(const Parts& parts, const std::string& kind) {
  return parts.registry.find(kind) != nullptr ? kind : kUnknownKind;
}

double file_size_or_zero(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<double>(size);
}

/// From /proc/self/statm; 0 where there is none.
double resident_bytes_now() {
  std::ifstream in("/proc/self/statm");
  double pages = 0, resident = 0;
  in >> pages >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

void count_job_events(Parts& parts, const std::vector<Event>& events) {
  for (const Event& event : events) {
    const auto why = event.data.value("reason", "");
    // With another reason an operator asked for it.
    if (event.kind == "job.snoozed")
      parts.metrics.job_snoozes.of({kind_label(parts, event.data.value("operation", ""))}).add();
    const bool is_retry = event.kind == "job.retrying" && (why.empty() || why == "interrupted");
    if (!is_retry && event.kind != "job.finished") continue;
    const auto kind = kind_label(parts, event.data.value("operation", ""));
    if (is_retry)
      parts.metrics.job_retries.of({kind}).add();
    else
      parts.metrics.jobs_finished.of({kind, event.data.value("state", "")}).add();
  }
}

void count_commit(Metrics& metrics, const std::vector<Result<Json>>& results,
                  std::chrono::nanoseconds took) {
  metrics.commit_changes.observe(static_cast<double>(results.size()));
  metrics.commit_seconds.observe(in_seconds(took));
  for (const auto& result : results)
    if (!result.has_value() && result.error().reason == Reason::StaleLease)
      metrics.job_leases_lost.add();
}

void count_model_call(Metrics& metrics, const std::string& provider,
                      const Result<GenerateReply>& reply) {
  metrics.model_calls.of({provider, reply.has_value() ? "ok" : reply.error().name()}).add();
}

JobTiming::JobTiming(Parts& parts, const Job& job)
    : parts_(parts), kind_(kind_label(parts, job.kind)), began_(parts.clock.monotonic()) {
  parts_.metrics.job_wait_seconds.of({kind_}).observe(in_seconds(parts.clock.now() - job.run_at));
}

JobTiming::~JobTiming() {
  parts_.metrics.job_run_seconds.of({kind_}).observe(in_seconds(parts_.clock.monotonic() - began_));
}

Status refresh_engine_metrics(Core& core) {
  auto& parts = core.parts;
  auto& metrics = parts.metrics;
  std::int64_t newest = 0;
  const auto counts = INDX_TRY(core.read_state([&](Database& db) -> Result<std::vector<JobCount>> {
    newest = INDX_TRY(EventStore(db).newest_id());
    metrics.ai_spend_today.set(INDX_TRY(UsageStore(db).totals_of_day(parts.clock.now())).cost_usd);
    return JobQueue(db, parts.clock, parts.random, {}).counts();
  }));
  JobsByState jobs;
  // A state without jobs is told as 0; else what it was last would stay for good.
  for (const Operation& operation : parts.registry.all())
    if (operation.execution != Execution::Inline) add_states(jobs, operation.name);
  add_states(jobs, kUnknownKind);
  for (const JobCount& one : counts) jobs[{kind_label(parts, one.kind), one.state}] += one.count;
  for (const auto& [key, count] : jobs)
    metrics.jobs.of({key.first, name(key.second)}).set(static_cast<double>(count));

  for (const auto* database : {"state", "index"})
    metrics.wal_bytes.of({database})
        .set(file_size_or_zero(cat(parts.config.index_dir, "/", database, ".db-wal")));
  metrics.state_queue_depth.set(parts.state_permits.taken());
  const auto told = parts.told_event.load();
  metrics.event_lag.set(static_cast<double>(std::max(newest - told, std::int64_t{0})));
  if (parts.answers) metrics.ai_cache_bytes.set(static_cast<double>(parts.answers->size_bytes()));
  metrics.resident_bytes.set(resident_bytes_now());
  return {};
}

}  // namespace indx
