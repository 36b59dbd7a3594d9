#pragma once
#include "jobs/job.hpp"
#include "jobs/job_state.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// The rows of the table `jobs`, for the sources of this folder.
namespace indx {

class Database;

using JobValue = std::variant<std::int64_t, std::string, std::nullptr_t>;

/// A query that read_jobs understands; `rest` begins with WHERE. Without results, which may be
/// large, unless `with_results`.
std::string select_jobs(std::string_view rest, bool with_results = false);
Result<std::vector<Job>> read_jobs(Database& db, const std::string& query,
                                   const std::vector<JobValue>& values);
/// A large result stays in its file, named by `result_file`; `secrets` are sealed.
struct JobRow {
  Job job;
  std::string result_file, secrets;
};
/// The first row of a query made by select_jobs with results; nullopt: there is none.
Result<std::optional<JobRow>> read_job_row(Database& db, const std::string& query,
                                           const JobValue& value);
Result<std::optional<JobRow>> find_job_row(Database& db, const JobId& id);

// Statements that change the state of one job say OR FAIL, which changes nothing where its row is
// refused: else SQLite would copy each page that they and their triggers change.

/// `validation_failed` and `too_large` as JobStore::enqueue says.
Status insert_job(Database& db, const Job& job, const std::string& sealed_secrets);
/// Writes what changes in a job's life; kind, input and owner do not. The result is in the file of
/// that name, or in the row when it is empty.
Status save_job(Database& db, const Job& job, const std::string& result_file = "");

/// Moves the job along the transition table and keeps what the table's CHECKs demand of every
/// state.
void apply(Job& job, JobEvent event, Timestamp now);

/// The end of a job that somebody cancelled.
void end_cancelled(Job& job, Timestamp now);
Error no_such_job(const JobId& id);
/// What a writer hears that no longer owns the job.
Error stale_lease(const Lease& lease);

/// How many bytes the input of a job may have.
constexpr std::size_t kMaxJobInputBytes = std::size_t{1} << 20U;
/// `validation_failed` when it is not UTF-8 throughout, `too_large` beyond that.
Result<std::string> checked_input_text(const Json& input);

}  // namespace indx
