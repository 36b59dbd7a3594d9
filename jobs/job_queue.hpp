#pragma once
#include "base/random.hpp"
#include "jobs/job_store.hpp"

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace indx {

class Database;

/// The tables of jobs and their steps in state.db: the rules and their SQL.
class JobQueue final : public JobStore {
 public:
  struct Settings {
    milliseconds lease{15000};
    RetryPolicy retry;
    std::string spill_dir;        ///< `<index_dir>/spill`: results of steps and jobs over 256 kB
    std::string secret_key = {};  ///< 32 bytes for secret arguments; empty: those are refused
  };
  JobQueue(Database& db, const Clock& clock, Random& random, Settings settings);

  Result<Enqueued> enqueue(const JobRequest& request) override;
  Result<std::vector<Job>> claim(const std::string& instance, const std::vector<KnownKind>& known,
                                 int count, const std::vector<JobId>& only = {},
                                 int ahead = 0) override;
  Result<bool> put_back(const Lease& lease) override;
  Result<std::vector<StopAsked>> heartbeat(const std::string& instance) override;
  Status set_progress(const Lease& lease, const JobProgress& progress) override;
  Result<Ended> finish(const Lease& lease, const JobOutcome& outcome,
                       const std::vector<KnownKind>& known) override;
  Result<bool> succeed(const Lease& lease, const Json& result) override;
  Result<Ended> request_cancel(const JobId& id) override;
  Result<Job> pause(const JobId& id) override;
  Result<Job> resume(const JobId& id) override;
  Status pause_kind(const std::string& what, const std::string& subject) override;
  Status resume_kind(const std::string& what) override;
  Result<std::vector<JobPause>> pauses() override;
  Result<std::vector<Job>> redrive(const JobFilter& filter, milliseconds spread,
                                   int limit) override;
  Result<Job> retry(const JobId& id) override;
  Result<std::vector<JobFault>> faults(const JobId& id) override;
  Result<std::vector<Job>> rescue(const std::string& live_instance, bool all_foreign,
                                  const HasBegun& has_begun = {}) override;
  Result<std::vector<Job>> children(const JobId& parent) override;
  Result<std::vector<JobCount>> counts() override;
  Result<std::optional<Job>> get(const JobId& id) override;
  Result<std::optional<Job>> find(const JobId& id) override;
  Result<JobPage> list(const JobFilter& filter, int limit, const std::string& cursor) override;
  Result<std::optional<Timestamp>> next_due() override;
  Result<int> count_live() override;
  Result<std::optional<Timestamp>> oldest_ready() override;
  Result<std::optional<Json>> find_step(const JobId& job, const std::string& key,
                                        const std::string& inputs_hash) override;
  Status put_step(const Lease& lease, const StepRecord& step) override;
  Result<std::int64_t> count_steps(const JobId& job) override;
  Result<std::int64_t> prune(Timestamp before, int limit) override;
  Result<int> sweep_spill() override;
  Status check_lease(const Lease& lease) override;

 private:
  Result<std::optional<Job>> live_twin(const std::string& kind, const std::string& unique_key);
  Result<Enqueued> join(Job live, const JobRequest& request);
  Result<Job> add(const JobRequest& request);
  Status promote_due();
  Status support(const std::vector<KnownKind>& known);
  /// A job that may run: how urgent it is, and its row.
  struct Head {
    std::int64_t urgency = 0, seq = 0;
    bool can_be_held = false;  ///< by a limit or by its crashes
    bool may_wait = false;     ///< may be claimed before somebody is free to run it
  };
  struct OpenKind {
    KnownKind kind;
    std::int64_t places;     ///< how many more may run
    std::deque<Head> heads;  ///< the first that may run
  };
  struct KindCounts {
    std::int64_t ready = 0, running = 0;
  };
  Result<std::map<std::string, KindCounts>> count_kinds(const std::vector<KnownKind>& known);
  Result<std::vector<OpenKind>> open_kinds(const std::vector<KnownKind>& known);
  Status look_ahead(OpenKind& open, int count, const std::string& only);
  Result<std::optional<Head>> most_urgent(std::vector<OpenKind>& open, int count,
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
