#pragma once
#include "jobs/job.hpp"
#include "jobs/retry_policy.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace indx {

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

/// Where jobs and their steps are kept, and what may happen to them. The caller wraps calls into
/// its commit: an implementation has no threads and no transactions of its own, and a call that
/// fails changes nothing. tests/jobs/job_store_conformance.hpp holds what every implementation
/// keeps.
class JobStore {
 public:
  virtual ~JobStore() = default;

  /// How an accepted request became a job.
  struct Enqueued {
    Job job;
    bool is_new = true;  ///< false: a live job with its unique key stands for it
  };
  /// `validation_failed` for an input that is not UTF-8 throughout, `too_large` for one over 1 MiB,
  /// `conflict` as OnDuplicate::Reject says; one with secret arguments is joined or refused.
  virtual Result<Enqueued> enqueue(const JobRequest& request) = 0;

  /// What this program can run, and how.
  struct KnownKind {
    std::string kind;
    int version = 1;
    bool resumes_other_versions = false;
    int max_running = 0;  ///< at once; 0: any number
    RetryPolicy retry = {};
    bool is_short = false;  ///< its tries last moments, so that jobs may wait for a free runner
  };
  /// Leases the most urgent due jobs of known kinds, at most `count`; fewer when there are none
  /// that may run now: jobs wait for their time, a pause, or the limits of their kind and limit
  /// key, which count running rows. Unknown kinds and other operation versions are parked as
  /// Unsupported, not failed, and come back when they are known. A job that would be given up after
  /// one more crash runs only while no other such job does, so that one that kills its process
  /// takes no other with it. A job whose secret arguments can no longer be read is among them as
  /// Failed. Beyond `count`, at most `ahead` more that are next in the order: as long as they are
  /// of short kinds, have no time limit, and never crashed.
  virtual Result<std::vector<Job>> claim(const std::string& instance,
                                         const std::vector<KnownKind>& known, int count,
                                         const std::vector<JobId>& only = {}, int ahead = 0) = 0;
  /// Takes the claim of a job back that did not begin: nothing is counted, and it is as urgent as
  /// before. False: nothing was done, for it was asked to stop or is another's, and `finish` tells.
  virtual Result<bool> put_back(const Lease& lease) = 0;
  /// Renews the lease of every running job of the instance. Gives the jobs that were asked to stop.
  struct StopAsked {
    JobId job;
    bool is_pause = false;  ///< else a cancel
  };
  virtual Result<std::vector<StopAsked>> heartbeat(const std::string& instance) = 0;
  virtual Status set_progress(const Lease& lease, const JobProgress& progress) = 0;
  /// Ends a try. Gives the job as it is now (Scheduled again after a retryable failure, Dead when
  /// attempts are used up, Sleeping when it was snoozed: at least as long as `retry_after`, and
  /// longer with each time in a row), and the jobs that changed with it: a parent that goes on, a
  /// job that runs once more.
  struct Ended {
    Job job;
    std::vector<Job> others = {};
  };
  virtual Result<Ended> finish(const Lease& lease, const JobOutcome& outcome,
                               const std::vector<KnownKind>& known) = 0;
  /// The end that most tries come to, in one statement: of a job that succeeded, stored no steps
  /// and has nobody to tell (no parent, no live children, no run once more). False: nothing was
  /// done, and `finish` has to.
  virtual Result<bool> succeed(const Lease& lease, const Json& result) = 0;
  /// Sets the flag; a job that is not running is Cancelled at once, and its live children with it.
  /// `not_found`; a final job stays as it is.
  virtual Result<Ended> request_cancel(const JobId& id) = 0;

  /// A running job is asked to stop and pauses then; any other live one is Paused at once.
  /// `not_found`, `conflict` for a final job.
  virtual Result<Job> pause(const JobId& id) = 0;
  /// Takes a pause of the job back. `not_found`; a job that is not paused stays as it is.
  virtual Result<Job> resume(const JobId& id) = 0;
  /// Holds back every job of a kind, or all with `*`; running ones go on to their end.
  virtual Status pause_kind(const std::string& what, const std::string& subject) = 0;
  virtual Status resume_kind(const std::string& what) = 0;
  virtual Result<std::vector<JobPause>> pauses() = 0;

  /// Makes failed, dead and cancelled jobs live again with all their tries and old errors, their
  /// starts spread over `spread`. Steps stay, but of those that were cancelled or undone. At most
  /// `limit` of those that the filter takes, oldest first; one whose unique key another live job
  /// has stays as it is.
  virtual Result<std::vector<Job>> redrive(const JobFilter& filter, milliseconds spread,
                                           int limit) = 0;
  /// The same for one job, at once. `not_found`, `conflict` when it is live, succeeded, or its
  /// unique key is taken.
  virtual Result<Job> retry(const JobId& id) = 0;
  /// The errors of its tries, oldest first, at most the last 20.
  virtual Result<std::vector<JobFault>> faults(const JobId& id) = 0;

  /// Whether a handler ran under a lease when its process died; empty: nobody knows, so that it is
  /// taken for granted.
  using HasBegun = std::function<bool(const Lease&)>;
  /// Running jobs of other instances go back (crash counted where one began) or end as Dead: all of
  /// them, or those whose lease ran out. Jobs of `live_instance` never do: its wall clock may jump.
  /// Call it after open write intents are settled.
  virtual Result<std::vector<Job>> rescue(const std::string& live_instance, bool all_foreign,
                                          const HasBegun& has_begun = {}) = 0;

  /// Children of a job, oldest first, with results.
  virtual Result<std::vector<Job>> children(const JobId& parent) = 0;
  /// From counters, so no finished row is looked at.
  virtual Result<std::vector<JobCount>> counts() = 0;
  /// A result whose file is lost or damaged is left out; the error says so, where the job has none.
  virtual Result<std::optional<Job>> get(const JobId& id) = 0;
  /// The same without its result, and so without a look at files.
  virtual Result<std::optional<Job>> find(const JobId& id) = 0;
  struct JobPage {
    std::vector<Job> jobs;  ///< newest first
    std::optional<std::string> next_cursor;
  };
  virtual Result<JobPage> list(const JobFilter& filter, int limit, const std::string& cursor) = 0;
  /// Earliest time at which a job that waits for its time becomes due.
  virtual Result<std::optional<Timestamp>> next_due() = 0;
  virtual Result<int> count_live() = 0;
  /// When the job became due that waits longest of those that run next in their kind: a look at one
  /// row a kind, however many wait.
  virtual Result<std::optional<Timestamp>> oldest_ready() = 0;

  /// The stored step, if its inputs are the same; nullopt: run it (other inputs redo that step).
  virtual Result<std::optional<Json>> find_step(const JobId& job, const std::string& key,
                                                const std::string& inputs_hash) = 0;
  /// Commits a result under the lease. Fails with `stale_lease`, with `too_large` beyond 64 MiB or
  /// 200,000 steps of a job, with `step_key_reused` when this try already stored that key.
  virtual Status put_step(const Lease& lease, const StepRecord& step) = 0;
  virtual Result<std::int64_t> count_steps(const JobId& job) = 0;
  /// Deletes final jobs that ended before `before` with their steps, failed and dead ones after 30
  /// days at the earliest; and steps nobody needs any more: those of succeeded and cancelled jobs,
  /// those of failed ones after 7 days. At most `limit` rows; fewer: nothing is left to do.
  virtual Result<std::int64_t> prune(Timestamp before, int limit) = 0;
  /// Deletes spilled results that no step or job names. Call it outside a transaction: after the
  /// commit of a finish, a cancel or a prune, and at the start.
  virtual Result<int> sweep_spill() = 0;

  /// `stale_lease` unless the lease is the job's current one.
  virtual Status check_lease(const Lease& lease) = 0;
};

}  // namespace indx
