#pragma once
#include "base/cancel.hpp"
#include "base/event.hpp"
#include "jobs/job_queue.hpp"
#include "jobs/job_writes.hpp"
#include "jobs/schedules.hpp"
#include "ops/doctor.hpp"
#include "store/event_store.hpp"
#include "store/idempotency_store.hpp"
#include "store/intent_store.hpp"
#include "store/state_schema.hpp"
#include "store/token_store.hpp"
#include "store/usage_store.hpp"
#include "store/version_store.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace indx {

/// Who acts on a job or on the queue, for the audit log.
struct ActBy {
  std::string surface;  ///< api | cli | mcp | ui
  std::string subject;  ///< token id or `local`
};

/// Everything in state.db, over its one write connection. No threads: the state actor owns one,
/// recovery another before any actor runs. Members may fail; a caller wraps several into one
/// transaction.
class State {
 public:
  struct Settings {
    std::string dir;  ///< `.indx`
    Durability durability = Durability::Full;
    std::string instance;  ///< fresh per start
    JobsConfig jobs;
    std::vector<JobStore::KnownKind> kinds;
    /// A CLI call runs only these jobs and those it enqueues itself (G11); nullopt: all.
    std::optional<std::vector<JobId>> only_jobs;
    VersionLimits versions;
    std::string time_zone;  ///< of the built-in schedules; empty: the system's
    /// Fills in what the operation says about its jobs, for a job that a schedule asks for.
    std::function<void(JobRequest&)> complete_request = {};
    /// Whether chunks wait for vectors that can be made; empty: there is no model for embeddings.
    std::function<bool()> wants_embedding = {};
    std::string secret_key = {};  ///< for secret arguments of jobs; `open` reads or makes it
  };
  static Result<std::unique_ptr<State>> open(const Settings& settings, const Clock& clock,
                                             Random& random);

  // The order matters: stores refer to the connection.
  Settings settings;
  const Clock& clock;
  Random& random;
  Database db;
  JobQueue queue;
  EventStore events;
  TokenStore tokens;
  VersionStore versions;
  IntentStore intents;
  IdempotencyStore idempotency;
  UsageStore usage;
  Schedules schedules;
  JobWrites job_writes;

  /// Appends a durable event; told to subscribers after the commit.
  Status tell(Event event);
  /// An event without an id; told after the commit as well, so that it never overtakes a fact.
  void tell_passing(Event event) {
    if (event.at == Timestamp{}) event.at = clock.now();
    fresh_events.push_back(std::move(event));
  }

  Result<JobStore::Enqueued> enqueue(const JobRequest& request);
  /// Leases at most `count` jobs to this instance, and `ahead` more of short kinds; those are not
  /// told of before they begin.
  Result<std::vector<Job>> claim(int count, int ahead = 0);
  Status tell_started(const Job& job, Timestamp at);
  Result<Job> finish(const Lease& lease, const JobOutcome& outcome);
  /// The same for a job as it was claimed. Gives whether it came to its end.
  Result<bool> end_try(const Job& claimed, const Lease& lease, const JobOutcome& outcome);
  Status set_progress(const Lease& lease, const JobProgress& progress, const std::string& subject);
  Result<Job> request_cancel(const JobId& id);
  /// The same for all jobs of somebody who may do nothing any more.
  Status cancel_jobs_of(const std::string& subject);

  // What operators do; each is an event that tells `by` whom. Errors as those of JobStore.
  Result<Job> cancel(const JobId& id, const ActBy& by);
  Result<Job> pause(const JobId& id, const ActBy& by);
  Result<Job> resume(const JobId& id, const ActBy& by);
  Result<Job> retry(const JobId& id, const ActBy& by);
  Result<std::vector<Job>> redrive(const JobFilter& filter, milliseconds spread, int limit,
                                   const ActBy& by);
  /// The jobs that a redrive would take now, as they are.
  Result<std::vector<Job>> try_redrive(const JobFilter& filter, int limit);
  Status pause_kind(const std::string& what, const ActBy& by);
  Status resume_kind(const std::string& what, const ActBy& by);

  /// At start: what instances of this data folder that are gone left running (jobs case 1).
  Status rescue_orphans(bool with_jobs, const JobStore::HasBegun& has_begun = {});
  /// Deletes what is kept no longer, at most `limit` rows in all.
  Result<Pruned> prune(int limit = 1000);

  /// At the start of a server: the schedules that every vault has, unless somebody changed them;
  /// that of `vault_embed` with a model for embeddings.
  Status make_builtin_schedules();
  /// A job `vault_embed` behind everything else; where one runs, it runs once more after its end.
  Status enqueue_embedding();
  /// Makes the jobs of every schedule that is due. A command makes none.
  Status run_schedules();
  /// How long until `run_schedules` has something to do; nullopt: longer than `longest`.
  std::optional<milliseconds> next_schedule_in(milliseconds longest);
  /// Schedules::set, told for the audit log as done by the owner given.
  Result<Schedule> set_schedule(const Schedule& schedule);
  /// Jobs of one caller; one event tells of them. Errors as those of JobStore, the first for all.
  Result<std::vector<JobId>> enqueue_all(const std::vector<JobRequest>& requests);

  std::vector<Event> fresh_events;  ///< of the current batch, in id order
  /// Running jobs that were asked to stop by the current batch; they hear of it after the commit.
  std::vector<std::pair<JobId, CancelReason>> fresh_stops;
  bool jobs_changed = false;  ///< a job may have become claimable
  /// Puts back what was claimed and has not begun, before somebody acts on jobs; empty: there is
  /// nothing of that kind.
  std::function<Status()> recall = {};

 private:
  State(Settings settings, const Clock& clock, Random& random, Database db);
  Result<JobId> enqueue_scheduled(const Schedule& schedule);
  bool is_wanted(const Schedule& schedule) const;
  Status tell_fired(const Schedules::Fired& fired);
  Status tell_job(const std::string& kind, const Job& job, Json data = Json::object());
  Status tell_job(Event event, bool is_news);
  Status recall_unbegun() { return recall ? recall() : Status(); }
  Status tell_end(const Job& job);
  /// Jobs that changed along with another one.
  Status tell_others(const std::vector<Job>& jobs);
  /// Of what somebody does to a job: its owner hears of it too.
  Status tell_act(const std::string& kind, const Job& job, const ActBy& by,
                  Json data = Json::object());

  std::optional<Timestamp> schedules_ran_;  ///< nullopt: not since the start
};

}  // namespace indx
