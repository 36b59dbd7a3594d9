// The steps of a job: its committed results (G4, G5), and when they go.
#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "jobs/job_queue.hpp"
#include "store/blob_dir.hpp"
#include "store/columns.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr std::size_t kMaxInlineStepBytes = 256 * 1024;
constexpr std::int64_t kMaxStepBytes = std::int64_t{64} << 20U;
constexpr std::int64_t kMaxSteps = 200000;
constexpr std::chrono::days kFailedStepsKept{7}, kFailedJobsKept{30};

}  // namespace

Result<std::optional<Json>> JobQueue::find_step(const JobId& job, const std::string& key,
                                                const std::string& inputs_hash) {
  auto query = db_.prepare(
      "SELECT output, spill_sha256 FROM job_steps WHERE job = ?1 AND key = ?2 AND inputs_hash = "
      "?3");
  query.bind(job.value, key, inputs_hash);
  if (!INDX_TRY(query.step())) return std::optional<Json>();
  if (!query.is_null(0)) return std::optional(json_value(query.text(0)));
  const std::string sha256 = query.text(1);
  const auto spilled = BlobDir(settings_.spill_dir).read(sha256);
  if (spilled.has_value() && sha256_hex(*spilled) == sha256)
    return std::optional(json_value(*spilled));
  log_warn("a stored step result is missing or damaged; the step runs again",
           {{"job_id", job.value}, {"file", sha256}});
  return std::optional<Json>();
}

Status JobQueue::put_step(const Lease& lease, const StepRecord& step) {
  const std::string output = json_text(step.output);
  const auto size = static_cast<std::int64_t>(output.size());
  return db_.savepoint([&]() -> Status {
    INDX_TRY(check_lease(lease));
    auto totals = db_.prepare(
        "SELECT step_count + (s.key IS NULL), step_bytes - IFNULL(s.size, 0) + ?3, s.lease FROM "
        "jobs "
        "LEFT JOIN job_steps AS s ON s.job = jobs.id AND s.key = ?2 WHERE jobs.id = ?1");
    totals.bind(lease.job.value, step.key, size);
    INDX_TRY(totals.step());
    const std::int64_t count = totals.integer(0), bytes = totals.integer(1);
    if (totals.integer(2) == lease.generation)
      return make_error(Reason::StepKeyReused, "A step key was used twice in one run of the job.",
                        {{"key", step.key}});
    if (count > kMaxSteps || bytes > kMaxStepBytes)
      return make_error(Reason::TooLarge,
                        cat("A job may keep ", kMaxSteps, " step results with ", kMaxStepBytes,
                            " bytes in all; split it into smaller jobs."),
                        {{"steps", count}, {"bytes", bytes}});
    std::optional<std::string> inline_output, spill;
    if (output.size() > kMaxInlineStepBytes) {
      spill = sha256_hex(output);
      INDX_TRY(BlobDir(settings_.spill_dir).write(*spill, output));
    } else {
      inline_output = output;
    }
    INDX_TRY(db_.prepare("INSERT OR REPLACE INTO job_steps (job, key, inputs_hash, output, "
                         "spill_sha256, size, lease) "
                         "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")
                 .bind(lease.job.value, step.key, step.inputs_hash, inline_output, spill, size,
                       lease.generation)
                 .run());
    INDX_TRY(db_.prepare("UPDATE jobs SET step_count = ?2, step_bytes = ?3 WHERE id = ?1")
                 .bind(lease.job.value, count, bytes)
                 .run());
    return {};
  });
}

Result<std::int64_t> JobQueue::count_steps(const JobId& job) {
  auto query = db_.prepare("SELECT step_count FROM jobs WHERE id = ?1");
  query.bind(job.value);
  return INDX_TRY(query.step()) ? query.integer(0) : std::int64_t{0};
}

Result<std::int64_t> JobQueue::delete_steps(const JobId& id, std::int64_t limit) {
  const auto deleted = INDX_TRY(db_.prepare("DELETE FROM job_steps WHERE job = ?1 AND key IN "
                                            "(SELECT key FROM job_steps WHERE job = ?1 LIMIT ?2)")
                                    .bind(id.value, limit)
                                    .run());
  INDX_TRY(db_.prepare("UPDATE jobs SET step_count = step_count - ?2, "
                       "step_bytes = IIF(step_count = ?2, 0, step_bytes) WHERE id = ?1")
               .bind(id.value, deleted)
               .run());
  return deleted;
}

/// With what it wrote, which may be more rows than go at once; the job goes with the last of them.
Result<std::int64_t> JobQueue::delete_job(const JobId& id, std::int64_t limit) {
  auto deleted = INDX_TRY(db_.prepare("DELETE FROM job_writes WHERE id IN (SELECT id FROM "
                                      "job_writes WHERE job = ?1 LIMIT ?2)")
                              .bind(id.value, limit)
                              .run());
  if (deleted < limit)
    deleted += INDX_TRY(db_.prepare("DELETE FROM jobs WHERE id = ?1").bind(id.value).run());
  return deleted;
}

Result<std::int64_t> JobQueue::prune(Timestamp before, int limit) {
  return db_.savepoint([&]() -> Result<std::int64_t> {
    const Timestamp steps_before = std::max(before, clock_.now() - kFailedStepsKept);
    std::int64_t deleted = 0;
    auto query = db_.prepare(
        "SELECT id FROM jobs WHERE finished_at IS NOT NULL AND step_count > 0 AND "
        "(state IN ('succeeded', 'cancelled') OR finished_at < ?1) ORDER BY finished_at LIMIT ?2");
    query.bind(to_millis(steps_before), limit);
    std::vector<JobId> with_steps;
    while (INDX_TRY(query.step())) with_steps.push_back({query.text(0)});
    for (const auto& id : with_steps) {
      if (deleted >= limit) break;
      deleted += INDX_TRY(delete_steps(id, limit - deleted));
    }
    // Failed ones are kept longer, for somebody may want to try them again; results of children as
    // long as their parent may want them.
    const Timestamp failed_before = std::min(before, clock_.now() - kFailedJobsKept);
    for (const auto& [states, ended_before] : {std::pair(R"(["succeeded", "cancelled"])", before),
                                               std::pair(R"(["failed", "dead"])", failed_before)}) {
      auto old = db_.prepare(
          "SELECT id FROM jobs WHERE state IN (SELECT value FROM json_each(?1)) AND finished_at < "
          "?2 AND step_count = 0 AND NOT EXISTS (SELECT 1 FROM jobs AS waiting WHERE waiting.id = "
          "jobs.parent AND waiting.finished_at IS NULL) LIMIT ?3");
      old.bind(states, to_millis(ended_before), std::max<std::int64_t>(0, limit - deleted));
      std::vector<JobId> ended;
      while (INDX_TRY(old.step())) ended.push_back({old.text(0)});
      for (const auto& id : ended) {
        if (deleted >= limit) break;
        deleted += INDX_TRY(delete_job(id, limit - deleted));
      }
    }
    return deleted;
  });
}

Result<int> JobQueue::sweep_spill() {
  return BlobDir(settings_.spill_dir).sweep([&](const std::string& file) -> Result<bool> {
    auto query = db_.prepare(
        "SELECT 1 FROM job_steps WHERE spill_sha256 = ?1 UNION ALL SELECT 1 FROM jobs WHERE "
        "result_sha256 = ?1");
    query.bind(file);
    return query.step();
  });
}

}  // namespace indx
