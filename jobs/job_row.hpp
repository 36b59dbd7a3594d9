#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "jobs/job.hpp"
#include "store/database.hpp"

// One Job as one row of the table `jobs`; used by job_queue.cpp only.
namespace indx {

/// `SELECT <columns> FROM jobs ` + rest; the rows are for read_job.
std::string select_jobs(std::string_view rest);
Job read_job(const Database::Statement& row);
Result<std::optional<Job>> find_job(Database& db, const JobId& id);

/// Fails with `validation_failed` when a text is not UTF-8, so that a job never runs with other arguments than those asked for.
Status insert_job(Database& db, const Job& job);
/// Writes what changes in a job's life; kind, input and owner never do.
Status save_job(Database& db, const Job& job);
std::string progress_text(const JobProgress& progress);

}  // namespace indx
