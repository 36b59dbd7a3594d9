#include "actors/state.hpp"

#include "base/log.hpp"
#include "base/secret_box.hpp"
#include "base/text.hpp"
#include "jobs/job_state.hpp"

#include <algorithm>

namespace indx {
namespace {

/// The tries of a job whose start and end are durable events; of later ones only the last end is.
constexpr std::int64_t kTriesTold = 40;

Event job_event(const std::string& kind, const Job& job, JobState state, const Json& data = {}) {
  Json all = Json::object();
  all["job"] = job.id.value;
  all["operation"] = job.kind;
  all["state"] = name(state);
  if (!data.empty()) all.update(data);
  return {.kind = kind,
          .at = {},
          .actor = job.owner.surface,
          .subject = job.owner.subject,
          .job_id = job.id.value,
          .data = std::move(all)};
}

}  // namespace

State::State(Settings all, const Clock& the_clock, Random& the_random, Database connection)
    : settings(std::move(all)),
      clock(the_clock),
      random(the_random),
      db(std::move(connection)),
      queue(db, clock, random,
            {settings.jobs.lease, {}, settings.dir + "/spill", settings.secret_key}),
      events(db),
      tokens(db),
      versions(db, settings.dir),
      intents(db),
      idempotency(db),
      usage(db),
      schedules(db, clock),
      job_writes(db) {}

Result<std::unique_ptr<State>> State::open(const Settings& settings, const Clock& clock,
                                           Random& random) {
  auto db = INDX_TRY(open_state_db(settings.dir, settings.durability));
  Settings keyed = settings;
  keyed.secret_key = INDX_TRY(read_or_make_secret_key(settings.dir + "/key"));
  return std::unique_ptr<State>(new State(std::move(keyed), clock, random, std::move(db)));
}

Status State::tell(Event event) {
  if (event.at == Timestamp{}) event.at = clock.now();
  event.id = INDX_TRY(events.append(event));
  fresh_events.push_back(std::move(event));
  return {};
}

Status State::tell_job(Event event, bool is_news) {
  if (is_news) return tell(std::move(event));
  tell_passing(std::move(event));
  return {};
}

Status State::tell_job(const std::string& kind, const Job& job, Json data) {
  // A job that goes on and on would fill the log.
  return tell_job(job_event(kind, job, job.state, data), job.lease <= kTriesTold || job.is_final());
}

Status State::tell_started(const Job& job, Timestamp at) {
  Event event = job_event("job.started", job, job.state, {{"lease", job.lease}});
  event.at = at;
  return tell_job(std::move(event), job.lease <= kTriesTold);
}

Status State::tell_end(const Job& job) {
  Json data = Json::object();
  if (job.error) data["error"] = job.error->to_json();
  return tell_job("job.finished", job, std::move(data));
}

Status State::tell_others(const std::vector<Job>& jobs) {
  for (const Job& job : jobs) {
    jobs_changed = true;
    if (job.is_final()) {
      INDX_TRY(tell_end(job));
    } else if (job.state == JobState::Running) {
      if (job.cancel_requested) fresh_stops.emplace_back(job.id, CancelReason::Requested);
    } else if (job.lease == 0) {
      INDX_TRY(tell_job("job.created", job));
      if (settings.only_jobs) settings.only_jobs->push_back(job.id);
    } else {
      tell_passing(job_event("job.resumed", job, job.state));  // its children came
    }
  }
  return {};
}

Result<JobStore::Enqueued> State::enqueue(const JobRequest& request) {
  auto enqueued = INDX_TRY(queue.enqueue(request));
  if (enqueued.is_new) INDX_TRY(tell_job("job.created", enqueued.job));
  if (settings.only_jobs) settings.only_jobs->push_back(enqueued.job.id);
  jobs_changed = true;
  return enqueued;
}

Result<std::vector<Job>> State::claim(int count, int ahead) {
  if (settings.only_jobs && settings.only_jobs->empty()) return std::vector<Job>();
  auto jobs = INDX_TRY(queue.claim(settings.instance, settings.kinds, count,
                                   settings.only_jobs.value_or(std::vector<JobId>()), ahead));
  // Behind them may come jobs that could not start, and what changed with those.
  const auto others = std::stable_partition(jobs.begin(), jobs.end(), [](const Job& job) {
    return job.state == JobState::Running && !job.cancel_requested;
  });
  INDX_TRY(tell_others({others, jobs.end()}));
  jobs.erase(others, jobs.end());
  const auto wanted = std::min(jobs.size(), static_cast<std::size_t>(std::max(0, count)));
  for (std::size_t i = 0; i < wanted; ++i) INDX_TRY(tell_started(jobs[i], clock.now()));
  return jobs;
}

Result<Job> State::finish(const Lease& lease, const JobOutcome& outcome) {
  using Kind = JobOutcome::Kind;
  auto ended = INDX_TRY(queue.finish(lease, outcome, settings.kinds));
  const Job& job = ended.job;
  if (job.is_final())
    INDX_TRY(tell_end(job));
  else if (job.state == JobState::Paused)
    INDX_TRY(tell_job("job.paused", job));
  else if (outcome.kind == Kind::Snoozed && job.state == JobState::Sleeping)
    INDX_TRY(tell_job("job.snoozed", job,
                      {{"reason", job.error->name()},
                       {"snoozes", job.snoozes},
                       {"run_at", format_time(job.run_at)},
                       {"error", job.error->to_json()}}));
  else if (outcome.kind == Kind::Failed || outcome.kind == Kind::TimedOut ||
           outcome.kind == Kind::Snoozed)
    INDX_TRY(tell_job("job.retrying", job,
                      {{"attempts", job.attempts}, {"run_at", format_time(job.run_at)}}));
  else if (job.state == JobState::Sleeping)
    tell_passing(
        job_event("job.sleeping", job, job.state,
                  {{"run_at", format_time(job.run_at)},
                   {"waits_for", outcome.waits_for.empty() ? Json() : Json(outcome.waits_for)}}));
  else if (job.state == JobState::Waiting)
    tell_passing(job_event("job.waiting", job, job.state));
  INDX_TRY(tell_others(ended.others));
  jobs_changed = true;
  return std::move(ended.job);
}

Result<bool> State::end_try(const Job& claimed, const Lease& lease, const JobOutcome& outcome) {
  if (outcome.kind != JobOutcome::Kind::Succeeded ||
      !INDX_TRY(queue.succeed(lease, outcome.result.value_or(Json())))) {
    const Job job = INDX_TRY(finish(lease, outcome));
    return job.is_final();
  }
  INDX_TRY(tell(job_event("job.finished", claimed, JobState::Succeeded)));
  jobs_changed = true;
  return true;
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
  INDX_TRY(recall_unbegun());
  const auto before = INDX_TRY(queue.get(id));
  auto ended = INDX_TRY(queue.request_cancel(id));
  if (before && !before->is_final()) {
    if (ended.job.is_final()) INDX_TRY(tell_end(ended.job));
    INDX_TRY(tell_others(ended.others));
    if (!ended.job.is_final()) fresh_stops.emplace_back(id, CancelReason::Requested);
    jobs_changed = true;
  }
  return std::move(ended.job);
}

Status State::cancel_jobs_of(const std::string& subject) {
  JobFilter live{.subject = subject};
  for (auto state = JobState::Scheduled; !is_final(state);
       state = static_cast<JobState>(static_cast<int>(state) + 1))
    live.states.push_back(state);
  std::vector<JobId> ids;
  std::optional<std::string> cursor = "";
  while (cursor) {
    auto page = INDX_TRY(queue.list(live, 500, *cursor));
    for (const Job& job : page.jobs) ids.push_back(job.id);
    cursor = std::move(page.next_cursor);
  }
  for (const auto& id : ids) INDX_TRY(request_cancel(id));  // some end along with others
  return {};
}

Status State::rescue_orphans(bool with_jobs, const JobStore::HasBegun& has_begun) {
  const auto rescued =
      with_jobs ? INDX_TRY(queue.rescue(settings.instance, true, has_begun)) : std::vector<Job>();
  for (const Job& job : rescued) {
    if (job.crashes == 0) {  // changed along with an orphan
      INDX_TRY(tell_others({job}));
      continue;
    }
    log_warn("job of a process that died was taken back",
             {{"job_id", job.id.value}, {"state", name(job.state)}, {"crashes", job.crashes}});
    if (job.is_final())
      INDX_TRY(tell_end(job));
    else
      INDX_TRY(
          tell_job("job.retrying", job, {{"reason", "interrupted"}, {"crashes", job.crashes}}));
  }
  const auto lost = INDX_TRY(usage.mark_interrupted());
  if (lost > 0) log_warn("model calls were cut off by a crash", {{"calls", lost}});
  INDX_TRY(idempotency.release_orphans());
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
