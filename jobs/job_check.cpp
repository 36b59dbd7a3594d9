#include "jobs/job_check.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "store/blob_dir.hpp"
#include "store/database.hpp"

#include <filesystem>

namespace indx {
namespace {

using JobVisitor = std::function<void(JobProblem)>;

Status check_files(Database& db, const std::string& spill_dir, const JobVisitor& visit) {
  const BlobDir files(spill_dir);
  auto spilled = db.prepare(
      "SELECT spill_sha256, min(job), 0 FROM job_steps WHERE spill_sha256 IS NOT NULL GROUP BY 1 "
      "UNION ALL SELECT result_sha256, min(id), 1 FROM jobs WHERE result_sha256 IS NOT NULL GROUP "
      "BY 1");
  while (INDX_TRY(spilled.step())) {
    const auto sha256 = spilled.text(0);
    const auto bytes = files.read(sha256);
    if (bytes.has_value() && sha256_hex(*bytes) == sha256) continue;
    const bool is_result = spilled.integer(2) != 0;
    visit({is_result ? "result_missing" : "step_missing", true, "spill/" + sha256,
           cat(is_result ? "The result" : "A stored step", " of job ", spilled.text(1),
               " is gone or damaged.")});
  }
  std::error_code failed;
  for (std::filesystem::directory_iterator it(spill_dir, failed), end; !failed && it != end;
       it.increment(failed)) {
    const auto name = it->path().filename().string();
    auto found = db.prepare(
        "SELECT 1 FROM job_steps WHERE spill_sha256 = ?1 UNION ALL SELECT 1 FROM jobs WHERE "
        "result_sha256 = ?1");
    if (!INDX_TRY(found.bind(name).step()))
      visit({"step_file_unused", false, "spill/" + name,
             cat("The file spill/", name, " belongs to no step and no job.")});
  }
  return {};
}

Status check_counts(Database& db, const JobVisitor& visit) {
  auto wrong = db.prepare(
      "SELECT kind, state, sum(counted), sum(there) FROM (SELECT kind, state, count AS counted, 0 "
      "AS there FROM job_counts UNION ALL SELECT kind, state, 0, count(*) FROM jobs GROUP BY kind, "
      "state) GROUP BY kind, state HAVING sum(counted) <> sum(there)");
  while (INDX_TRY(wrong.step()))
    visit({"jobs_miscounted", false, "",
           cat("There are ", wrong.integer(3), " jobs of ", wrong.text(0), " that are ",
               wrong.text(1), ", and ", wrong.integer(2), " are counted.")});
  return {};
}

}  // namespace

Result<std::int64_t> check_jobs(Database& db, const std::string& spill_dir, Timestamp older_than,
                                const JobVisitor& visit) {
  std::int64_t count = 0;
  auto jobs = db.prepare(
      "SELECT id, kind, state = 'running' AND heartbeat_at < ?1, step_count, (SELECT count(*) FROM "
      "job_steps WHERE job = jobs.id), finished_at IS NULL, state = 'waiting' AND NOT EXISTS "
      "(SELECT 1 FROM jobs AS child WHERE child.parent = jobs.id AND child.finished_at IS NULL) "
      "FROM jobs ORDER BY seq");
  jobs.bind(to_millis(older_than));
  while (INDX_TRY(jobs.step())) {
    ++count;
    const auto title = cat("The job ", jobs.text(0), " (", jobs.text(1), ")");
    if (jobs.integer(2) != 0)
      visit({"job_stuck", false, "", title + " is running, but nobody works on it."});
    if (jobs.integer(6) != 0)
      visit({"job_stuck", false, "", title + " waits for children that have ended."});
    if (jobs.integer(5) != 0 && jobs.integer(3) != jobs.integer(4))
      visit({"job_steps_miscounted", false, "",
             cat(title, " has ", jobs.integer(4), " stored steps and counts ", jobs.integer(3),
                 ".")});
  }
  INDX_TRY(check_counts(db, visit));
  INDX_TRY(check_files(db, spill_dir, visit));
  return count;
}

}  // namespace indx
