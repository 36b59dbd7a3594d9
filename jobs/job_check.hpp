#pragma once
#include "base/clock.hpp"
#include "base/result.hpp"

#include <functional>
#include <string>

namespace indx {

class Database;

/// A job or stored step that is not as it must be.
struct JobProblem {
  /// `job_stuck`, `job_steps_miscounted`, `jobs_miscounted`, `step_missing`, `result_missing`,
  /// `step_file_unused`
  std::string kind;
  bool is_lost = false;
  std::string path;  ///< of a file in the index folder; empty: none
  std::string message;
};

/// What the constraints of the tables cannot say: running jobs without a heartbeat since
/// `older_than`, parents of ended children, totals of steps, counters, results of steps and jobs
/// whose file is gone or damaged, and files of none.
/// Gives how many jobs were looked at.
Result<std::int64_t> check_jobs(Database& db, const std::string& spill_dir, Timestamp older_than,
                                const std::function<void(JobProblem)>& visit);

}  // namespace indx
