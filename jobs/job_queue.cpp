#include "jobs/job_queue.hpp"

#include "base/hash.hpp"
#include "base/ids.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "jobs/job_json.hpp"
#include "jobs/job_state.hpp"
#include "store/columns.hpp"

#include <algorithm>
#include <charconv>

namespace indx {
namespace {

constexpr std::size_t kMaxInputBytes = std::size_t{1} << 20U;
constexpr std::size_t kMaxResultBytes = std::size_t{16} << 20U;
constexpr std::size_t kMaxKindBytes = 100;
constexpr int kMaxPageSize = 1000;
/// Steps that finish deletes itself; prune takes what is left, so that no commit gets long.
constexpr int kStepsDeletedAtOnce = 1000;
/// Retries are spread over a window that grows with the number of jobs that wait for theirs: at
/// most about 7 a second.
constexpr milliseconds kSpreadPerWaitingRetry{150};
constexpr int kMaxWaitingRetriesCounted = 1000;

/// The rows are for read_job.
std::string select_jobs(std::string_view rest) {
  return cat(
      "SELECT id, kind, operation_version, state, input, owner, keep, priority, attempts, crashes, "
      "interruptions, "
      "max_attempts, max_crashes, lease, leased_by, leased_at, heartbeat_at, cancel_requested, "
      "progress, result, "
      "error, run_at, created_at, updated_at, started_at, finished_at FROM jobs ",
      rest);
}

Job read_job(const Database::Statement& row) {
  const auto integer = [&](int column) { return static_cast<int>(row.integer(column)); };
  const auto state = parse_job_state(row.text(3));
  INDX_ASSERT(state.has_value());  // a CHECK holds it
  Job job{.id = {row.text(0)},
          .kind = row.text(1),
          .operation_version = integer(2),
          .state = *state,
          .input = json_value(row.text(4)),
          .owner = parse_owner(row.text(5)),
          .keep = row.integer(6) != 0,
          .priority = integer(7),
          .attempts = integer(8),
          .crashes = integer(9),
          .interruptions = integer(10),
          .max_attempts = integer(11),
          .max_crashes = integer(12),
          .lease = row.integer(13),
          .leased_by = row.text(14),
          .leased_at = optional_time_at(row, 15),
          .heartbeat_at = optional_time_at(row, 16),
          .cancel_requested = row.integer(17) != 0,
          .progress = parse_progress(row.text(18)),
          .result = std::nullopt,
          .error = std::nullopt,
          .run_at = time_at(row, 21),
          .created_at = time_at(row, 22),
          .updated_at = time_at(row, 23),
          .started_at = optional_time_at(row, 24),
          .finished_at = optional_time_at(row, 25)};
  if (!row.is_null(19)) job.result = json_value(row.text(19));
  if (!row.is_null(20)) job.error = error_from_json(json_value(row.text(20)));
  return job;
}

Result<std::optional<Job>> find_job(Database& db, const JobId& id) {
  auto query = db.prepare(select_jobs("WHERE id = ?1"));
  query.bind(id.value);
  if (!INDX_TRY(query.step())) return std::optional<Job>();
  return std::optional(read_job(query));
}

Status insert_job(Database& db, const Job& job) {
  const std::string input = INDX_TRY(input_text(job.input));
  if (input.size() > kMaxInputBytes)
    return make_error(
        Reason::TooLarge,
        cat("The input of the job has ", input.size(), " bytes; at most ", kMaxInputBytes,
            " are accepted. Name notes by a scope instead of sending them."));
  const std::string owner = INDX_TRY(owner_text(job.owner));
  INDX_TRY(db.prepare("INSERT INTO jobs (id, kind, operation_version, state, input, owner, "
                      "subject, keep, priority, "
                      "max_attempts, max_crashes, progress, run_at, created_at, updated_at) "
                      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)")
               .bind(job.id.value, job.kind, job.operation_version, name(job.state), input, owner,
                     job.owner.subject, job.keep, job.priority, job.max_attempts, job.max_crashes,
                     progress_text(job.progress), to_millis(job.run_at), to_millis(job.created_at),
                     to_millis(job.updated_at))
               .run());
  return {};
}

/// Writes what changes in a job's life; kind, input and owner never do.
Status save_job(Database& db, const Job& job) {
  INDX_TRY(db.prepare("UPDATE jobs SET state = ?2, attempts = ?3, crashes = ?4, interruptions = "
                      "?5, lease = ?6, leased_by = ?7, "
                      "leased_at = ?8, heartbeat_at = ?9, cancel_requested = ?10, result = ?11, "
                      "error = ?12, run_at = ?13, "
                      "updated_at = ?14, started_at = ?15, finished_at = ?16 WHERE id = ?1")
               .bind(job.id.value, name(job.state), job.attempts, job.crashes, job.interruptions,
                     job.lease, null_if_empty(job.leased_by), optional_millis(job.leased_at),
                     optional_millis(job.heartbeat_at), job.cancel_requested,
                     result_text(job.result), error_text(job.error), to_millis(job.run_at),
                     to_millis(job.updated_at), optional_millis(job.started_at),
                     optional_millis(job.finished_at))
               .run());
  return {};
}

/// Moves the job along the transition table and keeps what the table's CHECKs demand of every
/// state.
void apply(Job& job, JobEvent event, Timestamp now) {
  const auto next = next_state(job.state, event);
  INDX_ASSERT(next.has_value());
  job.state = *next;
  job.updated_at = now;
  if (job.state != JobState::Running) {
    job.leased_by.clear();
    job.leased_at = job.heartbeat_at = std::nullopt;
  }
  if (job.is_final()) job.finished_at = now;
}

void start_try(Job& job, const std::string& instance, Timestamp now) {
  apply(job, JobEvent::Claim, now);
  ++job.lease;
  job.leased_by = instance;
  job.leased_at = job.heartbeat_at = now;
  if (!job.started_at) job.started_at = now;
}

void cancel(Job& job, Timestamp now) {
  apply(job, JobEvent::Cancel, now);
  job.cancel_requested = true;
  if (!job.error || job.error->reason != Reason::Cancelled)
    job.error = make_error(Reason::Cancelled, "The job was cancelled.");
}

bool is_known(const Job& job, const std::vector<JobQueue::KnownKind>& known) {
  return std::any_of(known.begin(), known.end(), [&](const JobQueue::KnownKind& kind) {
    return kind.kind == job.kind &&
           (kind.version == job.operation_version || kind.resumes_other_versions);
  });
}

std::string id_list(const std::vector<JobId>& ids) {
  Json list = Json::array();
  for (const auto& id : ids) list.push_back(id.value);
  return json_text(list);
}

Result<std::vector<Job>> read_jobs(Database::Statement query) {
  std::vector<Job> jobs;
  while (INDX_TRY(query.step())) jobs.push_back(read_job(query));
  return jobs;
}

/// The first ready job by priority, due time and arrival.
Result<std::optional<Job>> first_ready(Database& db, const std::vector<JobId>& only) {
  static const std::string kFirst = select_jobs(
      "WHERE state = 'ready' AND (?1 = '[]' OR id IN (SELECT value FROM json_each(?1))) AND "
      "(crashes = 0 OR "
      "crashes + 1 < max_crashes OR NOT EXISTS (SELECT 1 FROM jobs AS other WHERE other.state = "
      "'running' AND "
      "other.crashes > 0 AND other.crashes + 1 >= other.max_crashes)) ORDER BY priority DESC, "
      "run_at, seq LIMIT 1");
  auto query = db.prepare(kFirst);
  query.bind(id_list(only));
  if (!INDX_TRY(query.step())) return std::optional<Job>();
  return std::optional(read_job(query));
}

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

std::string cursor_after(std::int64_t seq) { return base64_encode(cat("jobs:", seq)); }

Result<std::int64_t> parse_job_cursor(const std::string& cursor) {
  const auto decoded = base64_decode(cursor);
  std::string_view text = decoded.bytes;
  std::int64_t seq = 0;
  if (decoded.ok && text.starts_with("jobs:")) {
    text.remove_prefix(5);
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), seq);
    if (failed == std::errc() && end == text.data() + text.size() && seq > 0) return seq;
  }
  return invalid("The cursor is not one that a list of jobs gave; start again without it.");
}

}  // namespace

JobQueue::JobQueue(Database& db, const Clock& clock, Random& random, Settings settings)
    : db_(db), clock_(clock), random_(random), settings_(std::move(settings)) {}

Result<Job> JobQueue::enqueue(const JobRequest& request) {
  if (request.kind.empty() || request.kind.size() > kMaxKindBytes || !is_valid_utf8(request.kind))
    return invalid("The kind of a job must be the name of an operation.");
  if (request.max_attempts < 1 || request.max_crashes < 1)
    return invalid("A job needs at least one attempt and one crash before it is given up.");
  const Timestamp now = clock_.now();
  const Timestamp run_at = request.run_at.value_or(now);
  Job job;
  job.id = {new_ulid(now, random_)};
  job.kind = request.kind;
  job.operation_version = request.operation_version;
  job.state = run_at > now ? JobState::Scheduled : JobState::Ready;
  job.input = request.input;
  job.owner = request.owner;
  job.keep = request.keep;
  job.priority = request.priority;
  job.max_attempts = request.max_attempts;
  job.max_crashes = request.max_crashes;
  job.run_at = run_at;
  job.created_at = job.updated_at = now;
  INDX_TRY(insert_job(db_, job));
  return job;
}

Status JobQueue::promote_due() {
  INDX_TRY(db_.prepare("UPDATE jobs SET state = ?2, updated_at = ?1 WHERE state IN ('scheduled', "
                       "'sleeping') AND run_at <= ?1")
               .bind(to_millis(clock_.now()), name(*next_state(JobState::Scheduled, JobEvent::Due)))
               .run());
  return {};
}

Status JobQueue::support(const std::vector<KnownKind>& known) {
  for (auto& job : INDX_TRY(read_jobs(db_.prepare(
           select_jobs("WHERE state = 'unsupported' GROUP BY kind, operation_version"))))) {
    if (!is_known(job, known)) continue;
    apply(job, JobEvent::Support, clock_.now());
    INDX_TRY(db_.prepare("UPDATE jobs SET state = ?3, updated_at = ?4 WHERE state = 'unsupported' "
                         "AND kind = ?1 AND "
                         "operation_version = ?2")
                 .bind(job.kind, job.operation_version, name(job.state), to_millis(job.updated_at))
                 .run());
  }
  return {};
}

Result<std::optional<Job>> JobQueue::claim(const std::string& instance,
                                           const std::vector<KnownKind>& known,
                                           const std::vector<JobId>& only) {
  if (instance.empty()) return invalid("A claim needs the name of an instance.");
  return db_.savepoint([&]() -> Result<std::optional<Job>> {
    INDX_TRY(promote_due());
    INDX_TRY(support(known));
    while (auto job = INDX_TRY(first_ready(db_, only))) {
      const bool can_run = is_known(*job, known);
      if (can_run)
        start_try(*job, instance, clock_.now());
      else
        apply(*job, JobEvent::Park, clock_.now());
      INDX_TRY(save_job(db_, *job));
      if (can_run) return job;
    }
    return std::optional<Job>();
  });
}

Result<std::vector<JobId>> JobQueue::heartbeat(const std::string& instance) {
  INDX_TRY(
      db_.prepare("UPDATE jobs SET heartbeat_at = ?2 WHERE state = 'running' AND leased_by = ?1")
          .bind(instance, to_millis(clock_.now()))
          .run());
  auto query = db_.prepare(
      "SELECT id FROM jobs WHERE state = 'running' AND leased_by = ?1 AND cancel_requested = 1 "
      "ORDER BY seq");
  query.bind(instance);
  std::vector<JobId> cancelled;
  while (INDX_TRY(query.step())) cancelled.push_back({query.text(0)});
  return cancelled;
}

Status JobQueue::check_lease(const Lease& lease) {
  auto query = db_.prepare(
      "SELECT 1 FROM jobs WHERE id = ?1 AND state = 'running' AND lease = ?2 AND leased_by = ?3");
  query.bind(lease.job.value, lease.generation, lease.instance);
  if (INDX_TRY(query.step())) return {};
  return make_error(
      Reason::StaleLease,
      cat("The job ", lease.job.value, " ended or was handed to another worker; drop this result."),
      {{"job_id", lease.job.value}});
}

Status JobQueue::set_progress(const Lease& lease, const JobProgress& progress) {
  INDX_TRY(check_lease(lease));
  INDX_TRY(
      db_.prepare("UPDATE jobs SET progress = ?2, updated_at = ?3, heartbeat_at = ?3 WHERE id = ?1")
          .bind(lease.job.value, progress_text(progress), to_millis(clock_.now()))
          .run());
  return {};
}

Result<milliseconds> JobQueue::next_try_delay(const Job& job, const JobOutcome& outcome) {
  auto query = db_.prepare(
      "SELECT COUNT(*) FROM (SELECT 1 FROM jobs WHERE state IN ('scheduled', 'sleeping') AND "
      "attempts > 0 LIMIT ?1)");
  query.bind(kMaxWaitingRetriesCounted);
  INDX_TRY(query.step());
  const auto window = static_cast<double>(kSpreadPerWaitingRetry.count() * query.integer(0));
  const milliseconds spread(static_cast<std::int64_t>(random_.uniform() * window));
  return spread + retry_delay(settings_.retry, job.attempts,
                              outcome.retry_after.value_or(milliseconds(0)), random_);
}

Status JobQueue::end_try(Job& job, const JobOutcome& outcome) {
  using Kind = JobOutcome::Kind;
  const Timestamp now = clock_.now();
  switch (outcome.kind) {
    case Kind::Succeeded:
      apply(job, JobEvent::Succeed, now);
      job.result = outcome.result.value_or(Json());
      job.error = std::nullopt;
      return {};
    case Kind::Cancelled:
      if (outcome.error) job.error = outcome.error;
      cancel(job, now);
      job.result = outcome.result;
      return {};
    case Kind::Returned:
      ++job.interruptions;
      job.cancel_requested ? cancel(job, now) : apply(job, JobEvent::Return, now);
      return {};
    case Kind::Failed:
      break;
  }
  job.error = outcome.error.value_or(internal_error("The job failed without saying why."));
  if (!job.error->is_retryable()) {
    apply(job, JobEvent::FailForGood, now);
    job.result = outcome.result;
    return {};
  }
  ++job.attempts;
  if (job.cancel_requested) {
    cancel(job, now);
  } else if (job.attempts >= job.max_attempts) {
    apply(job, JobEvent::GiveUp, now);
  } else {
    job.run_at = now + INDX_TRY(next_try_delay(job, outcome));
    apply(job, JobEvent::Retry, now);
  }
  return {};
}

Result<Job> JobQueue::finish(const Lease& lease, const JobOutcome& outcome) {
  return db_.savepoint([&]() -> Result<Job> {
    INDX_TRY(check_lease(lease));
    auto job = INDX_TRY(find_job(db_, lease.job));
    INDX_ASSERT(job.has_value());
    INDX_TRY(end_try(*job, with_result_that_fits(outcome)));
    INDX_TRY(save_job(db_, *job));
    if (job->state == JobState::Succeeded || job->state == JobState::Cancelled)
      INDX_TRY(delete_steps(job->id, kStepsDeletedAtOnce));
    return std::move(*job);
  });
}

Result<Job> JobQueue::request_cancel(const JobId& id) {
  return db_.savepoint([&]() -> Result<Job> {
    auto job = INDX_TRY(find_job(db_, id));
    if (!job) return not_found(cat("There is no job ", id.value, "."), {{"job_id", id.value}});
    if (job->is_final()) return std::move(*job);
    if (job->state == JobState::Running) {
      job->cancel_requested = true;
      job->updated_at = clock_.now();
    } else {
      cancel(*job, clock_.now());
    }
    INDX_TRY(save_job(db_, *job));
    if (job->is_final()) INDX_TRY(delete_steps(id, kStepsDeletedAtOnce));
    return std::move(*job);
  });
}

Result<std::vector<Job>> JobQueue::rescue(const std::string& live_instance, bool all_foreign) {
  return db_.savepoint([&]() -> Result<std::vector<Job>> {
    const Timestamp now = clock_.now();
    auto query = db_.prepare(select_jobs(
        "WHERE state = 'running' AND leased_by <> ?1 AND (?2 OR heartbeat_at < ?3) ORDER BY seq"));
    query.bind(live_instance, all_foreign, to_millis(now - settings_.lease));
    auto jobs = INDX_TRY(read_jobs(std::move(query)));
    for (auto& job : jobs) {
      ++job.crashes;
      if (job.cancel_requested) {
        cancel(job, now);
      } else if (job.crashes >= job.max_crashes) {
        apply(job, JobEvent::CrashedTooOften, now);
        job.error = internal_error(cat("The job crashed its process ", job.crashes, " times."));
      } else {
        apply(job, JobEvent::OwnerDied, now);
      }
      INDX_TRY(save_job(db_, job));
      if (job.state == JobState::Cancelled) INDX_TRY(delete_steps(job.id, kStepsDeletedAtOnce));
    }
    return jobs;
  });
}

Result<std::optional<Job>> JobQueue::get(const JobId& id) { return find_job(db_, id); }

Result<JobQueue::JobPage> JobQueue::list(const JobFilter& filter, int limit,
                                         const std::string& cursor) {
  std::optional<std::int64_t> before;
  if (!cursor.empty()) before = INDX_TRY(parse_job_cursor(cursor));
  Json states = Json::array();
  for (const auto state : filter.states) states.push_back(name(state));
  const int size = std::clamp(limit, 1, kMaxPageSize);
  auto query = db_.prepare(select_jobs(
      "WHERE (?1 IS NULL OR seq < ?1) AND (?2 = '[]' OR state IN (SELECT value FROM "
      "json_each(?2))) AND "
      "(?3 = '' OR kind = ?3) AND (?4 = '' OR subject = ?4) ORDER BY seq DESC LIMIT ?5"));
  query.bind(before, json_text(states), filter.kind, filter.subject, size + 1);
  JobPage page{.jobs = INDX_TRY(read_jobs(std::move(query))), .next_cursor = std::nullopt};
  if (page.jobs.size() <= static_cast<std::size_t>(size)) return page;
  page.jobs.pop_back();
  auto last = db_.prepare("SELECT seq FROM jobs WHERE id = ?1");
  last.bind(page.jobs.back().id.value);
  INDX_TRY(last.step());
  page.next_cursor = cursor_after(last.integer(0));
  return page;
}

Result<std::optional<Timestamp>> JobQueue::next_due() {
  auto query = db_.prepare("SELECT MIN(run_at) FROM jobs WHERE state IN ('scheduled', 'sleeping')");
  INDX_TRY(query.step());
  return optional_time_at(query, 0);
}

Result<int> JobQueue::count_live() {
  auto query = db_.prepare("SELECT COUNT(*) FROM jobs WHERE finished_at IS NULL");
  INDX_TRY(query.step());
  return static_cast<int>(query.integer(0));
}

}  // namespace indx
