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

/// How often in a row the wish of a provider to be left alone is granted to a job that stores no
/// step meanwhile, and how long a pause it may ask for. What comes beyond is a failure like any
/// other, which counts an attempt: so no job is put off for ever.
inline constexpr int kMaxSnoozes = 20;
inline constexpr milliseconds kLongestSnooze = std::chrono::hours(24);

/// The rules and the SQL of the tables of jobs and their steps in state.db. No threads, no
/// transactions of its own: the caller (the state actor) wraps calls into its commit. Each call
/// changes nothing when it fails.
class JobQueue {
 public:
  struct Settings {
    milliseconds lease{15000};
    RetryPolicy retry;
    std::string spill_dir;        ///< `<index_dir>/spill`: results of steps and jobs over 256 kB
    std::string secret_key = {};  ///< 32 bytes for secret arguments; empty: those are refused
  };
  JobQueue(Database& db, const Clock& clock, Random& random, Settings settings);

  /// How an accepted request became a job.
  struct Enqueued {
    Job job;
    bool is_new = true;  ///< false: a live job with its unique key stands for it
  };
  /// `validation_failed` for an input that is not UTF-8 throughout, `too_large` for one over 1 MiB,
  /// `conflict` as OnDuplicate::Reject says; one with secret arguments is joined or refused.
  Result<Enqueued> enqueue(const JobRequest& request);

  /// What this program can run, and how.
  struct KnownKind {
    std::string kind;
    int version = 1;
    bool resumes_other_versions = false;
    int max_running = 0;  ///< at once; 0: any number
    RetryPolicy retry = {};
  };
  /// Leases the most urgent due jobs of known kinds, at most `count`; fewer when there are none
  /// that may run now: jobs wait for their time, a pause, or the limits of their kind and limit
  /// key, which count running rows. Unknown kinds and other operation versions are parked as
  /// Unsupported, not failed, and come back when they are known. A job that would be given up after
  /// one more crash runs only while no other such job does, so that one that kills its process
  /// takes no other with it. A job whose secret arguments can no longer be read is among them as
  /// Failed.
  Result<std::vector<Job>> claim(const std::string& instance, const std::vector<KnownKind>& known,
                                 int count, const std::vector<JobId>& only = {});
  /// Renews the lease of every running job of the instance. Gives the jobs that were asked to stop.
  struct StopAsked {
    JobId job;
    bool is_pause = false;  ///< else a cancel
  };
  Result<std::vector<StopAsked>> heartbeat(const std::string& instance);
  Status set_progress(const Lease& lease, const JobProgress& progress);
  /// Ends a try. Gives the job as it is now (Scheduled again after a retryable failure, Dead when
  /// attempts are used up, Sleeping when it was snoozed: at least as long as `retry_after`, and
  /// longer with each time in a row), and the jobs that changed with it: a parent that goes on, a
  /// job that runs once more.
  struct Ended {
    Job job;
    std::vector<Job> others = {};
  };
  Result<Ended> finish(const Lease& lease, const JobOutcome& outcome,
                       const std::vector<KnownKind>& known);
  /// Sets the flag; a job that is not running is Cancelled at once, and its live children with it.
  /// `not_found`; a final job stays as it is.
  Result<Ended> request_cancel(const JobId& id);

  /// A running job is asked to stop and pauses then; any other live one is Paused at once.
  /// `not_found`, `conflict` for a final job.
  Result<Job> pause(const JobId& id);
  /// Takes a pause of the job back. `not_found`; a job that is not paused stays as it is.
  Result<Job> resume(const JobId& id);
  /// Holds back every job of a kind, or all with `*`; running ones go on to their end.
  Status pause_kind(const std::string& what, const std::string& subject);
  Status resume_kind(const std::string& what);
  Result<std::vector<JobPause>> pauses();

  /// Makes failed, dead and cancelled jobs live again with all their tries and old errors, their
  /// starts spread over `spread`. Steps stay, but of those that were cancelled or undone. At most
  /// `limit` of those that the filter takes, oldest first; one whose unique key another live job
  /// has stays as it is.
  Result<std::vector<Job>> redrive(const JobFilter& filter, milliseconds spread, int limit);
  /// The same for one job, at once. `not_found`, `conflict` when it is live, succeeded, or its
  /// unique key is taken.
  Result<Job> retry(const JobId& id);
  /// The errors of its tries, oldest first, at most the last 20.
  Result<std::vector<JobFault>> faults(const JobId& id);

  /// Running jobs of other instances go back (crash counted) or end as Dead: all of them, or those
  /// whose lease ran out. Jobs of `live_instance` never do: its wall clock may jump. Call it after
  /// open write intents are settled.
  Result<std::vector<Job>> rescue(const std::string& live_instance, bool all_foreign);

  /// Children of a job, oldest first, with results.
  Result<std::vector<Job>> children(const JobId& parent);
  /// From counters, so no finished row is looked at.
  Result<std::vector<JobCount>> counts();
  /// A result whose file is lost or damaged is left out; the error says so, where the job has none.
  Result<std::optional<Job>> get(const JobId& id);
  /// The same without its result, and so without a look at files.
  Result<std::optional<Job>> find(const JobId& id);
  struct JobPage {
    std::vector<Job> jobs;  ///< newest first
    std::optional<std::string> next_cursor;
  };
  Result<JobPage> list(const JobFilter& filter, int limit, const std::string& cursor);
  /// Earliest time at which a job that waits for its time becomes due.
  Result<std::optional<Timestamp>> next_due();
  Result<int> count_live();
  /// When the job became due that waits longest of those that run next in their kind: a look at one
  /// row a kind, however many wait.
  Result<std::optional<Timestamp>> oldest_ready();

  /// The stored step, if its inputs are the same; nullopt: run it (other inputs redo that step).
  Result<std::optional<Json>> find_step(const JobId& job, const std::string& key,
                                        const std::string& inputs_hash);
  /// Commits a result under the lease. Fails with `stale_lease`, with `too_large` beyond 64 MiB or
  /// 200,000 steps of a job, with `step_key_reused` when this try already stored that key.
  Status put_step(const Lease& lease, const StepRecord& step);
  Result<std::int64_t> count_steps(const JobId& job);
  /// Deletes final jobs that ended before `before` with their steps, failed and dead ones after 30
  /// days at the earliest; and steps nobody needs any more: those of succeeded and cancelled jobs,
  /// those of failed ones after 7 days. At most `limit` rows; fewer: nothing is left to do.
  Result<std::int64_t> prune(Timestamp before, int limit);
  /// Deletes spilled results that no step or job names. Call it outside a transaction: after the
  /// commit of a finish, a cancel or a prune, and at the start.
  Result<int> sweep_spill();

  /// `stale_lease` unless the lease is the job's current one.
  Status check_lease(const Lease& lease);

 private:
  Result<std::optional<Job>> live_twin(const std::string& kind, const std::string& unique_key);
  Result<Enqueued> join(Job live, const JobRequest& request);
  Result<Job> add(const JobRequest& request);
  Status promote_due();
  Status support(const std::vector<KnownKind>& known);
  struct OpenKind {
    KnownKind kind;
    std::int64_t places;  ///< how many more may run
  };
  Result<std::vector<OpenKind>> open_kinds(const std::vector<KnownKind>& known);
  Result<std::optional<std::int64_t>> most_urgent(std::vector<OpenKind>& open,
                                                  const std::string& only);
  Result<milliseconds> next_try_delay(const Job& job, int tries, const JobOutcome& outcome,
                                      const std::vector<KnownKind>& known);
  Result<bool> snooze(Job& job, const JobOutcome& outcome, const std::vector<KnownKind>& known);
  Status end_try(Job& job, const JobOutcome& outcome, const std::vector<KnownKind>& known);
  Status save_ended(Job& job, std::vector<Job>& others);
  Result<Job> cancel_one(Job job, std::vector<Job>& others);
  Status wake_parent(const Job& child, std::vector<Job>& others);
  Status cancel_children(const Job& parent, std::vector<Job>& others);
  Status keep_fault(const Job& job, const JobFault& fault);
  Result<bool> has_stale_steps(const Job& job);
  Status redrive_one(Job& job, Timestamp run_at);
  /// Gives how many were deleted.
  Result<std::int64_t> delete_steps(const JobId& id, std::int64_t limit);
  Result<std::int64_t> delete_job(const JobId& id, std::int64_t limit);

  Database& db_;
  const Clock& clock_;
  Random& random_;
  Settings settings_;
};

}  // namespace indx
