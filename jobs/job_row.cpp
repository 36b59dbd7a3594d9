#include "jobs/job_row.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "jobs/job_state.hpp"
#include "store/columns.hpp"

namespace indx {
namespace {

constexpr std::size_t kMaxInputBytes = std::size_t{1} << 20U;
constexpr std::size_t kMaxErrorBytes = 64 * 1024;
constexpr std::size_t kMaxErrorMessageBytes = 8 * 1024;

Result<std::string> utf8_json_text(const Json& value, std::string_view what) {
  try {
    return value.dump();
  } catch (const Json::exception&) {
    return invalid(cat("The ", what, " holds text that is not valid UTF-8."));
  }
}

std::string error_text(const Error& error) {
  std::string text = json_text(error.to_json());
  if (text.size() <= kMaxErrorBytes) return text;
  return json_text(make_error(error.reason, std::string(prefix_at_grapheme(error.message, kMaxErrorMessageBytes))).to_json());
}

Json owner_json(const JobOwner& owner) {
  return {{"subject", owner.subject},
          {"surface", owner.surface},
          {"scopes", owner.scopes},
          {"path_globs", owner.path_globs},
          {"request_id", owner.request_id}};
}

JobOwner read_owner(const std::string& column) {
  const Json json = json_value(column);
  JobOwner owner;
  try {
    owner = {json.at("subject"), json.at("surface"), json.at("scopes"), json.at("path_globs"), json.at("request_id")};
  } catch (const Json::exception&) {
    owner = {};  // a damaged owner has no rights
  }
  return owner;
}

JobProgress read_progress(const std::string& column) {
  const Json json = json_value(column);
  const auto integer = [&](const char* key) -> std::optional<std::int64_t> {
    const auto it = json.find(key);
    if (it == json.end() || !it->is_number()) return std::nullopt;
    return it->get<std::int64_t>();
  };
  const auto real = [&](const char* key) {
    const auto it = json.find(key);
    return it != json.end() && it->is_number() ? it->get<double>() : 0.0;
  };
  const auto text = [&](const char* key) {
    const auto it = json.find(key);
    return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
  };
  return {.done = integer("done").value_or(0),
          .total = integer("total"),
          .unit = text("unit"),
          .phase = text("phase"),
          .current = text("current"),
          .rate_per_second = real("rate_per_second"),
          .eta_seconds = integer("eta_seconds"),
          .model_calls = integer("model_calls").value_or(0),
          .cost_usd = real("cost_usd")};
}

std::optional<std::string> optional_error_text(const std::optional<Error>& error) {
  if (!error) return std::nullopt;
  return error_text(*error);
}
std::optional<std::string> optional_json_text(const std::optional<Json>& value) {
  if (!value) return std::nullopt;
  return json_text(*value);
}

}  // namespace

std::string progress_text(const JobProgress& progress) { return json_text(to_json(progress)); }

std::string select_jobs(std::string_view rest) {
  return cat("SELECT id, kind, operation_version, state, input, owner, keep, priority, attempts, crashes, interruptions, "
             "max_attempts, max_crashes, lease, leased_by, leased_at, heartbeat_at, cancel_requested, progress, result, "
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
          .owner = read_owner(row.text(5)),
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
          .progress = read_progress(row.text(18)),
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
  const std::string input = INDX_TRY(utf8_json_text(job.input, "input of the job"));
  if (input.size() > kMaxInputBytes)
    return make_error(Reason::TooLarge, cat("The input of the job has ", input.size(), " bytes; at most ", kMaxInputBytes,
                                            " are accepted. Name notes by a scope instead of sending them."));
  const std::string owner = INDX_TRY(utf8_json_text(owner_json(job.owner), "caller's description"));
  INDX_TRY(db.prepare("INSERT INTO jobs (id, kind, operation_version, state, input, owner, subject, keep, priority, "
                      "max_attempts, max_crashes, progress, run_at, created_at, updated_at) "
                      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)")
               .bind(job.id.value, job.kind, job.operation_version, name(job.state), input, owner, job.owner.subject,
                     job.keep, job.priority, job.max_attempts, job.max_crashes, progress_text(job.progress),
                     to_millis(job.run_at), to_millis(job.created_at), to_millis(job.updated_at))
               .run());
  return {};
}

Status save_job(Database& db, const Job& job) {
  INDX_TRY(db.prepare("UPDATE jobs SET state = ?2, attempts = ?3, crashes = ?4, interruptions = ?5, lease = ?6, leased_by = ?7, "
                      "leased_at = ?8, heartbeat_at = ?9, cancel_requested = ?10, result = ?11, error = ?12, run_at = ?13, "
                      "updated_at = ?14, started_at = ?15, finished_at = ?16 WHERE id = ?1")
               .bind(job.id.value, name(job.state), job.attempts, job.crashes, job.interruptions, job.lease,
                     null_if_empty(job.leased_by), optional_millis(job.leased_at), optional_millis(job.heartbeat_at),
                     job.cancel_requested, optional_json_text(job.result), optional_error_text(job.error),
                     to_millis(job.run_at), to_millis(job.updated_at), optional_millis(job.started_at),
                     optional_millis(job.finished_at))
               .run());
  return {};
}

}  // namespace indx
