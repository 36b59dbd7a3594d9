// How tries and jobs end, and what goes on then: retries, parents, children, a job that runs once
// more.
#include "base/hash.hpp"
#include "base/text.hpp"
#include "jobs/job_queue.hpp"
#include "jobs/job_row.hpp"
#include "store/blob_dir.hpp"
#include "store/columns.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr std::size_t kMaxResultBytes = std::size_t{16} << 20U;
constexpr std::size_t kMaxInlineResultBytes = 256 * 1024;
/// Steps that an end deletes itself; prune takes what is left, so that no commit gets long.
constexpr int kStepsDeletedAtOnce = 1000;
/// Retries are spread over a window that grows with the number of jobs that wait for theirs: at
/// most about 7 a second.
constexpr milliseconds kSpreadPerWaitingRetry{150};
constexpr int kMaxWaitingRetriesCounted = 1000;

/// What a job ends with when its result cannot be kept.
JobOutcome with_result_that_fits(const JobOutcome& outcome) {
  if (!outcome.result || json_text(*outcome.result).size() <= kMaxResultBytes) return outcome;
  JobOutcome too_large = outcome;
  too_large.result = std::nullopt;
  if (outcome.kind != JobOutcome::Kind::Succeeded) return too_large;
  too_large.kind = JobOutcome::Kind::Failed;
  too_large.error =
      make_error(Reason::TooLarge, cat("The result of the job is larger than ", kMaxResultBytes,
                                       " bytes; run it on fewer notes."));
  return too_large;
}

/// Whether the try that runs has stored a step.
Result<bool> has_stored_step(Database& db, const Job& job) {
  auto query = db.prepare("SELECT 1 FROM job_steps WHERE job = ?1 AND lease = ?2 LIMIT 1");
  query.bind(job.id.value, job.lease);
  return query.step();
}

bool failed(const Job& job) { return job.is_final() && job.state != JobState::Succeeded; }

Result<bool> has_live_children(Database& db, const JobId& parent) {
  auto query = db.prepare("SELECT 1 FROM jobs WHERE parent = ?1 AND finished_at IS NULL LIMIT 1");
  query.bind(parent.value);
  return query.step();
}

/// Whether a child failed since this try began, so that it may not have been seen. What ended in
/// the future did so before the clock was set back: it would wake the parent again and again.
Result<bool> has_unseen_failure(Database& db, const JobId& parent, Timestamp since, Timestamp now) {
  auto query = db.prepare(
      "SELECT 1 FROM jobs WHERE parent = ?1 AND state IN ('failed', 'dead', 'cancelled') AND "
      "finished_at BETWEEN ?2 AND ?3 LIMIT 1");
  query.bind(parent.value, to_millis(since), to_millis(now));
  return query.step();
}

}  // namespace

/// After so many `tries` that ended alike.
Result<milliseconds> JobQueue::next_try_delay(const Job& job, int tries, const JobOutcome& outcome,
                                              const std::vector<KnownKind>& known) {
  auto query = db_.prepare(
      "SELECT COUNT(*) FROM (SELECT 1 FROM jobs WHERE state IN ('scheduled', 'sleeping') AND "
      "(attempts > 0 OR snoozes > 0) LIMIT ?1)");
  query.bind(kMaxWaitingRetriesCounted);
  INDX_TRY(query.step());
  const auto window = static_cast<double>(kSpreadPerWaitingRetry.count() * query.integer(0));
  const milliseconds spread(static_cast<std::int64_t>(random_.uniform() * window));
  const auto kind = std::find_if(known.begin(), known.end(),
                                 [&](const KnownKind& one) { return one.kind == job.kind; });
  return spread + retry_delay(kind == known.end() ? settings_.retry : kind->retry, tries,
                              outcome.retry_after.value_or(milliseconds(0)), random_);
}

/// False: it was granted often enough, or is too much to ask.
Result<bool> JobQueue::snooze(Job& job, const JobOutcome& outcome,
                              const std::vector<KnownKind>& known) {
  if (INDX_TRY(has_stored_step(db_, job))) job.snoozes = 0;
  if (job.snoozes >= kMaxSnoozes || outcome.retry_after.value_or(milliseconds(0)) > kLongestSnooze)
    return false;
  ++job.snoozes;
  const Timestamp now = clock_.now();
  INDX_TRY(keep_fault(job, {"snoozed", job.lease, *job.error, now}));
  job.run_at = now + INDX_TRY(next_try_delay(job, job.snoozes, outcome, known));
  apply(job, JobEvent::Snooze, now);
  return true;
}

Status JobQueue::end_try(Job& job, const JobOutcome& outcome, const std::vector<KnownKind>& known) {
  using Kind = JobOutcome::Kind;
  const Timestamp now = clock_.now();
  const Timestamp began = job.leased_at.value_or(now);
  const bool goes_on = outcome.kind == Kind::Returned || outcome.kind == Kind::Sleeping ||
                       outcome.kind == Kind::Snoozed || outcome.kind == Kind::Waiting;
  if (job.cancel_requested && goes_on) {
    end_cancelled(job, now);
    return {};
  }
  switch (outcome.kind) {
    case Kind::Succeeded:
      apply(job, JobEvent::Succeed, now);
      job.result = outcome.result.value_or(Json());
      job.error = std::nullopt;
      return {};
    case Kind::Cancelled:
      if (outcome.error) job.error = outcome.error;
      end_cancelled(job, now);
      job.result = outcome.result;
      return {};
    case Kind::Returned:
      if (!job.pause_requested) ++job.interruptions;
      apply(job, JobEvent::Return, now);
      return {};
    case Kind::Sleeping:
      job.run_at = outcome.wake_at.value_or(now);
      apply(job, JobEvent::Sleep, now);
      return {};
    case Kind::Waiting:
      apply(job, JobEvent::Wait, now);
      // What ended meanwhile woke nobody.
      if (!INDX_TRY(has_live_children(db_, job.id)) ||
          INDX_TRY(has_unseen_failure(db_, job.id, began, now)))
        apply(job, JobEvent::ChildrenEnded, now);
      return {};
    case Kind::Snoozed:
    case Kind::Failed:
    case Kind::TimedOut:
      break;
  }
  job.error = outcome.error.value_or(internal_error("The job failed without saying why."));
  if (outcome.kind == Kind::Snoozed && INDX_TRY(snooze(job, outcome, known))) return {};
  const bool timed_out = outcome.kind == Kind::TimedOut;
  INDX_TRY(keep_fault(job, {timed_out ? "timed_out" : "failed", job.lease, *job.error, now}));
  // What is spent for the day does not come back within the time that tries take.
  const bool is_spent = job.error->reason == Reason::AiQuotaExceeded;
  if (!timed_out && (is_spent || !job.error->is_retryable())) {
    apply(job, JobEvent::FailForGood, now);
    job.result = outcome.result;
    return {};
  }
  ++job.attempts;
  if (job.cancel_requested) {
    end_cancelled(job, now);
  } else if (job.attempts >= job.max_attempts) {
    apply(job, JobEvent::GiveUp, now);
  } else {
    job.run_at = now + INDX_TRY(next_try_delay(job, job.attempts, outcome, known));
    apply(job, JobEvent::Retry, now);
  }
  return {};
}

/// Stores a job whose try ended, and does what its end brings about. Gives the other jobs that
/// changed.
Status JobQueue::save_ended(Job& job, std::vector<Job>& others) {
  std::string file;
  if (job.result) {
    if (const auto text = json_text(*job.result); text.size() > kMaxInlineResultBytes) {
      file = sha256_hex(text);
      INDX_TRY(BlobDir(settings_.spill_dir).write(file, text));
    }
  }
  INDX_TRY(save_job(db_, job, file));
  if (!job.is_final()) return {};
  if (job.step_count > 0 && (job.state == JobState::Succeeded || job.state == JobState::Cancelled))
    INDX_TRY(delete_steps(job.id, kStepsDeletedAtOnce));
  if (const auto again = std::exchange(job.again_input, std::nullopt);
      again && job.state != JobState::Cancelled) {
    JobRequest request{.kind = job.kind,
                       .operation_version = job.operation_version,
                       .input = *again,
                       .owner = job.owner,
                       .keep = job.keep,
                       .priority = job.priority,
                       .max_attempts = job.max_attempts,
                       .max_crashes = job.max_crashes,
                       .unique_key = job.unique_key,
                       .limit_key = job.limit_key,
                       .limit_running = job.limit_running,
                       .time_limit = job.time_limit,
                       .schedule = job.schedule};
    others.push_back(INDX_TRY(add(request)));
  }
  INDX_TRY(cancel_children(job, others));
  return wake_parent(job, others);
}

/// A parent goes on when its last child ended, or one failed, which it may not want to wait out.
Status JobQueue::wake_parent(const Job& child, std::vector<Job>& others) {
  if (child.parent.empty()) return {};
  auto row = INDX_TRY(find_job_row(db_, {child.parent}));
  if (!row || row->job.state != JobState::Waiting) return {};
  if (!failed(child) && INDX_TRY(has_live_children(db_, row->job.id))) return {};
  apply(row->job, JobEvent::ChildrenEnded, clock_.now());
  INDX_TRY(save_job(db_, row->job));
  others.push_back(std::move(row->job));
  return {};
}

Status JobQueue::cancel_children(const Job& parent, std::vector<Job>& others) {
  static const std::string kLiveChildren =
      select_jobs("WHERE parent = ?1 AND finished_at IS NULL ORDER BY seq");
  for (auto& child : INDX_TRY(read_jobs(db_, kLiveChildren, {parent.id.value})))
    others.push_back(INDX_TRY(cancel_one(std::move(child), others)));
  return {};
}

Result<Job> JobQueue::cancel_one(Job job, std::vector<Job>& others) {
  if (job.state == JobState::Running) {
    job.cancel_requested = true;
    job.updated_at = clock_.now();
    INDX_TRY(save_job(db_, job));
  } else {
    end_cancelled(job, clock_.now());
    INDX_TRY(save_ended(job, others));
  }
  return job;
}

Result<bool> JobQueue::succeed(const Lease& lease, const Json& result) {
  const auto text = json_text(result);
  if (text.size() > kMaxInlineResultBytes) return false;
  const auto ended = INDX_TRY(
      db_.prepare("UPDATE OR FAIL jobs SET state = ?4, leased_by = NULL, leased_at = NULL, "
                  "heartbeat_at = "
                  "NULL, pause_requested = 0, result = ?5, error = NULL, updated_at = ?6, "
                  "finished_at = ?6 WHERE id = ?1 AND state = 'running' AND lease = ?2 AND "
                  "leased_by = ?3 AND step_count = 0 AND parent IS NULL AND again_input IS NULL "
                  "AND NOT EXISTS (SELECT 1 FROM jobs AS child WHERE child.parent = ?1 AND "
                  "child.finished_at IS NULL)")
          .bind(lease.job.value, lease.generation, lease.instance,
                name(*next_state(JobState::Running, JobEvent::Succeed)), text,
                to_millis(clock_.now()))
          .run());
  return ended > 0;
}

Result<JobStore::Ended> JobQueue::finish(const Lease& lease, const JobOutcome& outcome,
                                         const std::vector<KnownKind>& known) {
  return db_.savepoint([&]() -> Result<Ended> {
    auto row = INDX_TRY(find_job_row(db_, lease.job));
    if (!row || row->job.state != JobState::Running || row->job.lease != lease.generation ||
        row->job.leased_by != lease.instance)
      return stale_lease(lease);
    Ended ended{std::move(row->job)};
    const bool pauses_now = ended.job.pause_requested;
    INDX_TRY(end_try(ended.job, with_result_that_fits(outcome), known));
    if (pauses_now && !ended.job.is_final()) apply(ended.job, JobEvent::Pause, clock_.now());
    INDX_TRY(save_ended(ended.job, ended.others));
    return ended;
  });
}

Result<JobStore::Ended> JobQueue::request_cancel(const JobId& id) {
  return db_.savepoint([&]() -> Result<Ended> {
    auto row = INDX_TRY(find_job_row(db_, id));
    if (!row) return no_such_job(id);
    if (row->job.is_final()) return Ended{INDX_TRY(get(id)).value_or(std::move(row->job))};
    Ended ended;
    ended.job = INDX_TRY(cancel_one(std::move(row->job), ended.others));
    if (!ended.job.is_final()) INDX_TRY(cancel_children(ended.job, ended.others));
    return ended;
  });
}

}  // namespace indx
