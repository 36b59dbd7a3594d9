#include "jobs/job_row.hpp"

#include "base/text.hpp"
#include "jobs/job_json.hpp"
#include "store/columns.hpp"

namespace indx {
namespace {

Job read_job(const Database::Statement& row) {
  const auto integer = [&](int column) { return static_cast<int>(row.integer(column)); };
  const auto state = parse_job_state(row.text_view(3));
  INDX_ASSERT(state.has_value());  // a CHECK holds it
  Job job{.id = {row.text(0)},
          .kind = row.text(1),
          .operation_version = integer(2),
          .state = *state,
          .input = json_value(row.text_view(4)),
          .owner = parse_owner(row.text_view(5)),
          .keep = row.integer(6) != 0,
          .priority = integer(7),
          .attempts = integer(8),
          .crashes = integer(9),
          .interruptions = integer(10),
          .snoozes = integer(38),
          .max_attempts = integer(11),
          .max_crashes = integer(12),
          .unique_key = row.text(13),
          .limit_key = row.text(14),
          .limit_running = integer(15),
          .time_limit = milliseconds(row.integer(16)),
          .parent = row.text(17),
          .schedule = row.text(18),
          .reverts = row.text(19),
          .secrets = nullptr,
          .again_input = std::nullopt,
          .lease = row.integer(21),
          .leased_by = row.text(22),
          .leased_at = optional_time_at(row, 23),
          .heartbeat_at = optional_time_at(row, 24),
          .cancel_requested = row.integer(25) != 0,
          .pause_requested = row.integer(26) != 0,
          .progress = parse_progress(row.text_view(27)),
          .step_count = row.integer(28),
          .result = std::nullopt,
          .error = std::nullopt,
          .run_at = time_at(row, 30),
          .created_at = time_at(row, 31),
          .updated_at = time_at(row, 32),
          .started_at = optional_time_at(row, 33),
          .finished_at = optional_time_at(row, 34)};
  if (!row.is_null(20)) job.again_input = json_value(row.text(20));
  if (!row.is_null(29)) job.error = error_from_json(json_value(row.text(29)));
  if (!row.is_null(35)) job.result = json_value(row.text(35));
  return job;
}

void bind_all(Database::Statement& query, const std::vector<JobValue>& values) {
  int index = 0;
  for (const auto& value : values)
    std::visit([&](const auto& one) { query.bind_one(++index, one); }, value);
}

std::optional<std::string> again_text(const Job& job) {
  if (!job.again_input || job.is_final()) return std::nullopt;
  return json_text(*job.again_input);
}

}  // namespace

std::string select_jobs(std::string_view rest, bool with_results) {
  return cat(
      "SELECT id, kind, operation_version, state, input, owner, keep, priority, attempts, crashes, "
      "interruptions, max_attempts, max_crashes, unique_key, limit_key, limit_running, time_limit, "
      "parent, schedule, reverts, again_input, lease, leased_by, leased_at, heartbeat_at, "
      "cancel_requested, pause_requested, progress, step_count, error, run_at, created_at, "
      "updated_at, started_at, finished_at, ",
      with_results ? "result, result_sha256, secrets" : "NULL, NULL, NULL", ", snoozes FROM jobs ",
      rest);
}

Result<std::vector<Job>> read_jobs(Database& db, const std::string& query,
                                   const std::vector<JobValue>& values) {
  auto rows = db.prepare(query);
  bind_all(rows, values);
  std::vector<Job> jobs;
  while (INDX_TRY(rows.step())) jobs.push_back(read_job(rows));
  return jobs;
}

Result<std::optional<JobRow>> read_job_row(Database& db, const std::string& query,
                                           const JobValue& value) {
  auto rows = db.prepare(query);
  bind_all(rows, {value});
  if (!INDX_TRY(rows.step())) return std::optional<JobRow>();
  return std::optional(JobRow{read_job(rows), rows.text(36), rows.text(37)});
}

Result<std::optional<JobRow>> find_job_row(Database& db, const JobId& id) {
  static const std::string kFind = select_jobs("WHERE id = ?1", true);
  return read_job_row(db, kFind, id.value);
}

Result<std::string> checked_input_text(const Json& input) {
  auto text = INDX_TRY(input_text(input));
  if (text.size() <= kMaxJobInputBytes) return text;
  return make_error(
      Reason::TooLarge,
      cat("The input of the job has ", text.size(), " bytes; at most ", kMaxJobInputBytes,
          " are accepted. Name notes by a scope instead of sending them."));
}

Status insert_job(Database& db, const Job& job, const std::string& sealed_secrets) {
  const std::string input = INDX_TRY(checked_input_text(job.input));
  const std::string owner = INDX_TRY(owner_text(job.owner));
  auto insert = db.prepare(
      "INSERT OR FAIL INTO jobs (id, kind, operation_version, state, input, owner, subject, keep, "
      "priority, max_attempts, max_crashes, unique_key, limit_key, limit_running, time_limit, "
      "parent, schedule, reverts, progress, run_at, created_at, updated_at, secrets) VALUES (?1, "
      "?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, "
      "?22, ?23)");
  insert.bind(job.id.value, job.kind, job.operation_version, name(job.state), input, owner,
              job.owner.subject, job.keep, job.priority, job.max_attempts, job.max_crashes,
              null_if_empty(job.unique_key), null_if_empty(job.limit_key), job.limit_running,
              job.time_limit.count(), null_if_empty(job.parent), null_if_empty(job.schedule),
              null_if_empty(job.reverts), no_progress_text(), to_millis(job.run_at),
              to_millis(job.created_at), to_millis(job.updated_at));
  if (!sealed_secrets.empty()) insert.bind_blob(23, sealed_secrets);
  INDX_TRY(insert.run());
  return {};
}

Status save_job(Database& db, const Job& job, const std::string& result_file) {
  INDX_TRY(
      db.prepare(
            "UPDATE OR FAIL jobs SET state = ?2, attempts = ?3, crashes = ?4, interruptions = ?5, "
            "lease = ?6, leased_by = ?7, leased_at = ?8, heartbeat_at = ?9, cancel_requested "
            "= ?10, pause_requested = ?11, error = ?12, run_at = ?13, updated_at = ?14, "
            "started_at = ?15, finished_at = ?16, again_input = ?17, result = ?18, "
            "result_sha256 = ?19, snoozes = ?20 WHERE id = ?1")
          .bind(job.id.value, name(job.state), job.attempts, job.crashes, job.interruptions,
                job.lease, null_if_empty(job.leased_by), optional_millis(job.leased_at),
                optional_millis(job.heartbeat_at), job.cancel_requested, job.pause_requested,
                error_text(job.error), to_millis(job.run_at), to_millis(job.updated_at),
                optional_millis(job.started_at), optional_millis(job.finished_at), again_text(job),
                result_file.empty() ? result_text(job.result) : std::nullopt,
                null_if_empty(result_file), job.snoozes)
          .run());
  return {};
}

void apply(Job& job, JobEvent event, Timestamp now) {
  const auto next = next_state(job.state, event);
  INDX_ASSERT(next.has_value());
  job.state = *next;
  job.updated_at = now;
  if (job.state != JobState::Running) {
    job.leased_by.clear();
    job.leased_at = job.heartbeat_at = std::nullopt;
    job.pause_requested = false;
  }
  job.finished_at = job.is_final() ? std::optional(now) : std::nullopt;
}

void end_cancelled(Job& job, Timestamp now) {
  apply(job, JobEvent::Cancel, now);
  job.cancel_requested = true;
  if (!job.error || job.error->reason != Reason::Cancelled)
    job.error = make_error(Reason::Cancelled, "The job was cancelled.");
}

Error no_such_job(const JobId& id) {
  return not_found(cat("There is no job ", id.value, "."), {{"job_id", id.value}});
}

Error stale_lease(const Lease& lease) {
  return make_error(
      Reason::StaleLease,
      cat("The job ", lease.job.value, " ended or was handed to another worker; drop this result."),
      {{"job_id", lease.job.value}});
}

}  // namespace indx
