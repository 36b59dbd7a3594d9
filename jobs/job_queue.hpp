#pragma once
#include "base/random.hpp"
#include "jobs/job.hpp"
#include "jobs/retry_policy.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace indx {

class Database;

/// A step's committed result (G4, G5).
struct StepRecord {
  std::string key;  ///< `suggest/<path>/call`
  std::string inputs_hash;
  Json output;
};

/// The rules and the SQL of the tables `jobs` and `job_steps` in state.db. No threads, no
/// transactions of its own: the caller (the state actor) wraps calls into its commit. Each call
/// changes nothing when it fails.
class JobQueue {
 public:
  struct Settings {
    milliseconds lease{15000};
    RetryPolicy retry;
    std::string spill_dir;  ///< `<index_dir>/spill`: step results over 256 kB
  };
  JobQueue(Database& db, const Clock& clock, Random& random, Settings settings);

  /// `validation_failed` for an input that is not UTF-8 throughout, `too_large` for one over 1 MiB.
  Result<Job> enqueue(const JobRequest& request);
  /// Leases the most urgent due job of a known kind; nullopt when there is none. Unknown kinds and
  /// other operation versions are parked as Unsupported, not failed, and come back when they are
  /// known. A job that would be given up after one more crash runs only while no other such job
  /// does, so that one that kills its process takes no other with it.
  struct KnownKind {
    std::string kind;
    int version = 1;
    bool resumes_other_versions = false;
  };
  Result<std::optional<Job>> claim(const std::string& instance, const std::vector<KnownKind>& known,
                                   const std::vector<JobId>& only = {});
  /// Renews the lease of every running job of the instance. Gives the jobs whose cancel flag is
  /// set.
  Result<std::vector<JobId>> heartbeat(const std::string& instance);
  Status set_progress(const Lease& lease, const JobProgress& progress);
  /// Ends a try. Gives the job as it is now (Scheduled again after a retryable failure, Dead when
  /// attempts are used up). A result that is too large to keep ends the job as Failed.
  Result<Job> finish(const Lease& lease, const JobOutcome& outcome);
  /// Sets the flag; a job that is not running is Cancelled at once. `not_found`; a final job stays
  /// as it is.
  Result<Job> request_cancel(const JobId& id);

  /// Running jobs of other instances go back (crash counted) or end as Dead: all of them, or those
  /// whose lease ran out. Jobs of `live_instance` never do: its wall clock may jump. Call it after
  /// open write intents are settled.
  Result<std::vector<Job>> rescue(const std::string& live_instance, bool all_foreign);

  Result<std::optional<Job>> get(const JobId& id);
  struct JobPage {
    std::vector<Job> jobs;  ///< newest first
    std::optional<std::string> next_cursor;
  };
  Result<JobPage> list(const JobFilter& filter, int limit, const std::string& cursor);
  /// Earliest time at which a job that waits for its time becomes due.
  Result<std::optional<Timestamp>> next_due();
  Result<int> count_live();

  /// The stored step, if its inputs are the same; nullopt: run it (other inputs redo that step).
  Result<std::optional<Json>> find_step(const JobId& job, const std::string& key,
                                        const std::string& inputs_hash);
  /// Commits a result under the lease. Fails with `stale_lease`, with `too_large` beyond 64 MiB or
  /// 200,000 steps of a job, with `step_key_reused` when this try already stored that key.
  Status put_step(const Lease& lease, const StepRecord& step);
  Result<std::int64_t> count_steps(const JobId& job);
  /// Deletes final jobs that ended before `before` with their steps, and steps nobody needs any
  /// more: those of succeeded and cancelled jobs, those of failed ones after 7 days. At most
  /// `limit` rows; fewer: nothing is left to do.
  Result<std::int64_t> prune(Timestamp before, int limit);
  /// Deletes spilled results that no step names. Call it outside a transaction: after the commit of
  /// a finish, a cancel or a prune, and at the start.
  Result<int> sweep_spill();

  /// `stale_lease` unless the lease is the job's current one.
  Status check_lease(const Lease& lease);

 private:
  Status promote_due();
  Status support(const std::vector<KnownKind>& known);
  Result<milliseconds> next_try_delay(const Job& job, const JobOutcome& outcome);
  Status end_try(Job& job, const JobOutcome& outcome);
  /// Gives how many were deleted.
  Result<std::int64_t> delete_steps(const JobId& id, std::int64_t limit);

  Database& db_;
  const Clock& clock_;
  Random& random_;
  Settings settings_;
};

}  // namespace indx
