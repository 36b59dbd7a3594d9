// What operators do: pause, resume, try again; and the errors that stay to be read.
#include "base/text.hpp"
#include "jobs/job_json.hpp"
#include "jobs/job_queue.hpp"
#include "jobs/job_row.hpp"
#include "store/columns.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr int kFaultsKept = 20;

}  // namespace

Result<Job> JobQueue::pause(const JobId& id) {
  return db_.savepoint([&]() -> Result<Job> {
    auto row = INDX_TRY(find_job_row(db_, id));
    if (!row) return no_such_job(id);
    Job job = std::move(row->job);
    if (job.is_final())
      return make_error(Reason::Conflict,
                        cat("The job ", id.value, " has ended: it is ", name(job.state),
                            ", and nothing of it is left to hold back."),
                        {{"job_id", id.value}, {"state", name(job.state)}});
    if (job.state == JobState::Paused) return job;
    if (job.state == JobState::Running) {
      job.pause_requested = true;
      job.updated_at = clock_.now();
    } else {
      apply(job, JobEvent::Pause, clock_.now());
    }
    INDX_TRY(save_job(db_, job));
    return job;
  });
}

Result<Job> JobQueue::resume(const JobId& id) {
  return db_.savepoint([&]() -> Result<Job> {
    auto row = INDX_TRY(find_job_row(db_, id));
    if (!row) return no_such_job(id);
    if (row->job.is_final()) return INDX_TRY(get(id)).value_or(std::move(row->job));
    Job job = std::move(row->job);
    const Timestamp now = clock_.now();
    if (job.state == JobState::Paused) {
      apply(job, JobEvent::Resume, now);
      if (job.run_at <= now) apply(job, JobEvent::Due, now);
    } else if (job.pause_requested) {
      job.pause_requested = false;  // it may pause all the same; then it is resumed again
      job.updated_at = now;
    } else {
      return job;
    }
    INDX_TRY(save_job(db_, job));
    return job;
  });
}

Status JobQueue::pause_kind(const std::string& what, const std::string& subject) {
  INDX_TRY(db_.prepare("INSERT INTO job_pauses VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING")
               .bind(what, subject, to_millis(clock_.now()))
               .run());
  return {};
}

Status JobQueue::resume_kind(const std::string& what) {
  INDX_TRY(db_.prepare("DELETE FROM job_pauses WHERE what = ?1").bind(what).run());
  return {};
}

Result<std::vector<JobPause>> JobQueue::pauses() {
  auto query = db_.prepare("SELECT what, subject, at FROM job_pauses ORDER BY what");
  std::vector<JobPause> pauses;
  while (INDX_TRY(query.step()))
    pauses.push_back({query.text(0), query.text(1), time_at(query, 2)});
  return pauses;
}

/// Whether its steps no longer tell what is there: some of a cancelled job are deleted already, and
/// those of one that was undone stand for writes that are no more.
Result<bool> JobQueue::has_stale_steps(const Job& job) {
  if (job.step_count == 0 || job.state == JobState::Cancelled) return job.step_count > 0;
  auto undo = db_.prepare("SELECT 1 FROM jobs WHERE reverts = ?1 AND lease > 0 LIMIT 1");
  undo.bind(job.id.value);
  return undo.step();
}

/// With all its tries. A `conflict` when its unique key is taken.
Status JobQueue::redrive_one(Job& job, Timestamp run_at) {
  const auto twin = INDX_TRY(live_twin(job.kind, job.unique_key));
  if (twin)
    return make_error(Reason::Conflict,
                      cat("The job ", twin->id.value, " does the same already; wait for its end."),
                      {{"job_id", twin->id.value}});
  if (INDX_TRY(has_stale_steps(job))) {
    INDX_TRY(delete_steps(job.id, job.step_count));
    job.step_count = 0;
  }
  const Timestamp now = clock_.now();
  apply(job, JobEvent::Redrive, now);
  job.attempts = job.crashes = job.snoozes = 0;
  job.cancel_requested = false;
  job.result = std::nullopt;
  job.run_at = run_at;
  if (run_at <= now) apply(job, JobEvent::Due, now);
  return save_job(db_, job);
}

Result<std::vector<Job>> JobQueue::redrive(const JobFilter& filter, milliseconds spread,
                                           int limit) {
  static const std::string kEnded = select_jobs(
      "WHERE finished_at IS NOT NULL AND state IN (SELECT value FROM json_each(?1)) AND (?2 = '' "
      "OR kind = ?2) AND (?3 = '' OR subject = ?3) AND (?4 = '' OR parent = ?4) ORDER BY "
      "finished_at, seq LIMIT ?5");
  Json states = Json::array();
  for (const auto state : filter.states)
    if (next_state(state, JobEvent::Redrive)) states.push_back(name(state));
  return db_.savepoint([&]() -> Result<std::vector<Job>> {
    std::vector<Job> redriven;
    for (auto& job : INDX_TRY(read_jobs(db_, kEnded,
                                        {json_text(states), filter.kind, filter.subject,
                                         filter.parent, std::int64_t{std::max(0, limit)}}))) {
      const milliseconds wait(
          static_cast<std::int64_t>(random_.uniform() * static_cast<double>(spread.count())));
      const Status done = redrive_one(job, clock_.now() + wait);
      if (!done.has_value() && done.error().reason == Reason::Conflict) continue;
      INDX_TRY(done);
      redriven.push_back(std::move(job));
    }
    return redriven;
  });
}

Result<Job> JobQueue::retry(const JobId& id) {
  return db_.savepoint([&]() -> Result<Job> {
    auto row = INDX_TRY(find_job_row(db_, id));
    if (!row) return no_such_job(id);
    if (!next_state(row->job.state, JobEvent::Redrive))
      return make_error(Reason::Conflict,
                        cat("The job ", id.value, " is ", name(row->job.state),
                            "; only one that failed, is dead or was cancelled is tried again."),
                        {{"job_id", id.value}, {"state", name(row->job.state)}});
    INDX_TRY(redrive_one(row->job, clock_.now()));
    return std::move(row->job);
  });
}

Status JobQueue::keep_fault(const Job& job, const JobFault& fault) {
  INDX_TRY(db_.prepare("INSERT INTO job_errors (job, lease, what, error, at) VALUES (?1, ?2, ?3, "
                       "?4, ?5)")
               .bind(job.id.value, fault.lease, fault.what, error_text(std::optional(fault.error)),
                     to_millis(fault.at))
               .run());
  INDX_TRY(db_.prepare("DELETE FROM job_errors WHERE job = ?1 AND id <= (SELECT id FROM job_errors "
                       "WHERE job = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)")
               .bind(job.id.value, kFaultsKept)
               .run());
  return {};
}

Result<std::vector<JobFault>> JobQueue::faults(const JobId& id) {
  auto query =
      db_.prepare("SELECT what, lease, error, at FROM job_errors WHERE job = ?1 ORDER BY id");
  query.bind(id.value);
  std::vector<JobFault> faults;
  while (INDX_TRY(query.step()))
    faults.push_back({query.text(0), query.integer(1), error_from_json(json_value(query.text(2))),
                      time_at(query, 3)});
  return faults;
}

}  // namespace indx
