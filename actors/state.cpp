#include "actors/state.hpp"

#include "base/log.hpp"
#include "base/text.hpp"
#include "jobs/job_state.hpp"

namespace indx {
namespace {

constexpr std::chrono::hours kEventAge{24 * 30};
constexpr std::chrono::hours kJobAge{24 * 7};
constexpr std::chrono::hours kIdempotencyAge{24};
constexpr int kPruneBatch = 1000;

}  // namespace

State::State(Settings all, const Clock& the_clock, Random& the_random, Database connection)
    : settings(std::move(all)),
      clock(the_clock),
      random(the_random),
      db(std::move(connection)),
      queue(db, clock, random, {settings.jobs.lease, {}, settings.dir + "/spill"}),
      events(db),
      tokens(db),
      versions(db, settings.dir),
      intents(db),
      idempotency(db),
      usage(db) {}

Result<std::unique_ptr<State>> State::open(const Settings& settings, const Clock& clock,
                                           Random& random) {
  auto db = INDX_TRY(open_state_db(settings.dir, settings.durability));
  return std::unique_ptr<State>(new State(settings, clock, random, std::move(db)));
}

Status State::tell(Event event) {
  if (event.at == Timestamp{}) event.at = clock.now();
  event.id = INDX_TRY(events.append(event));
  fresh_events.push_back(std::move(event));
  return {};
}

Status State::tell_job(const std::string& kind, const Job& job, Json data) {
  Json all{{"job", job.id.value}, {"operation", job.kind}, {"state", name(job.state)}};
  all.update(data);
  return tell({.kind = kind,
               .actor = job.owner.surface,
               .subject = job.owner.subject,
               .job_id = job.id.value,
               .data = all});
}

Result<Job> State::enqueue(const JobRequest& request) {
  const Job job = INDX_TRY(queue.enqueue(request));
  INDX_TRY(tell_job("job.created", job));
  if (settings.only_jobs) settings.only_jobs->push_back(job.id);
  jobs_changed = true;
  return job;
}

Result<std::optional<Job>> State::claim() {
  if (settings.only_jobs && settings.only_jobs->empty()) return std::optional<Job>();
  auto job = INDX_TRY(queue.claim(settings.instance, settings.kinds,
                                  settings.only_jobs.value_or(std::vector<JobId>())));
  if (job) INDX_TRY(tell_job("job.started", *job, {{"lease", job->lease}}));
  return job;
}

Result<Job> State::finish(const Lease& lease, const JobOutcome& outcome) {
  const Job job = INDX_TRY(queue.finish(lease, outcome));
  if (job.is_final()) {
    Json data = Json::object();
    if (job.error) data["error"] = job.error->to_json();
    INDX_TRY(tell_job("job.finished", job, data));
  } else if (outcome.kind == JobOutcome::Kind::Failed) {
    INDX_TRY(tell_job("job.retrying", job,
                      {{"attempts", job.attempts}, {"run_at", format_time(job.run_at)}}));
  }
  jobs_changed = true;
  return job;
}

Status State::set_progress(const Lease& lease, const JobProgress& progress,
                           const std::string& subject) {
  INDX_TRY(queue.set_progress(lease, progress));
  tell_passing({.kind = "job.progress",
                .at = clock.now(),
                .actor = "system",
                .subject = subject,
                .job_id = lease.job.value,
                .data = {{"job", lease.job.value}, {"progress", to_json(progress)}}});
  return {};
}

Result<Job> State::request_cancel(const JobId& id) {
  const auto before = INDX_TRY(queue.get(id));
  const Job job = INDX_TRY(queue.request_cancel(id));
  if (job.is_final() && before && !before->is_final()) INDX_TRY(tell_job("job.finished", job));
  return job;
}

Status State::rescue_orphans(bool with_jobs) {
  const auto rescued =
      with_jobs ? INDX_TRY(queue.rescue(settings.instance, true)) : std::vector<Job>();
  for (const Job& job : rescued) {
    log_warn("job of a process that died was taken back",
             {{"job_id", job.id.value}, {"state", name(job.state)}, {"crashes", job.crashes}});
    if (job.is_final())
      INDX_TRY(
          tell_job("job.finished", job, {{"error", job.error ? job.error->to_json() : Json()}}));
    else
      INDX_TRY(
          tell_job("job.retrying", job, {{"reason", "interrupted"}, {"crashes", job.crashes}}));
  }
  const auto lost = INDX_TRY(usage.mark_lost());
  if (lost > 0) log_warn("model calls were cut off by a crash", {{"calls", lost}});
  INDX_TRY(idempotency.release_orphans());
  return {};
}

Status State::prune() {
  const auto now = clock.now();
  INDX_TRY(versions.prune(settings.versions, now, kPruneBatch));
  INDX_TRY(events.prune(now - kEventAge, kPruneBatch));
  INDX_TRY(idempotency.prune(now - kIdempotencyAge, kPruneBatch));
  INDX_TRY(queue.prune(now - kJobAge, kPruneBatch));
  return {};
}

Result<std::vector<JobId>> State::enqueue_all(const std::vector<JobRequest>& requests) {
  std::vector<JobId> ids;
  Json made = Json::object();  // by kind
  for (const auto& request : requests) {
    const auto accepted = INDX_TRY(queue.enqueue(request));
    ids.push_back(accepted.job.id);
    if (accepted.is_new) made[request.kind] = made.value(request.kind, 0) + 1;
  }
  if (settings.only_jobs)
    settings.only_jobs->insert(settings.only_jobs->end(), ids.begin(), ids.end());
  if (made.empty()) return ids;
  const JobOwner& owner = requests.front().owner;
  INDX_TRY(tell({.kind = "job.created_many",
                 .actor = owner.surface,
                 .subject = owner.subject,
                 .job_id = {},
                 .data = {{"operations", made}}}));
  jobs_changed = true;
  return ids;
}

}  // namespace indx
