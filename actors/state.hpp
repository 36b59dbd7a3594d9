#pragma once
#include "base/event.hpp"
#include "jobs/job_queue.hpp"
#include "store/event_store.hpp"
#include "store/idempotency_store.hpp"
#include "store/intent_store.hpp"
#include "store/state_schema.hpp"
#include "store/token_store.hpp"
#include "store/usage_store.hpp"
#include "store/version_store.hpp"

#include <memory>
#include <string>
#include <vector>

namespace indx {

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
    std::vector<JobQueue::KnownKind> kinds;
    /// A CLI call runs only these jobs and those it enqueues itself (G11); nullopt: all.
    std::optional<std::vector<JobId>> only_jobs;
    VersionLimits versions;
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

  /// Appends a durable event; told to subscribers after the commit.
  Status tell(Event event);
  /// An event without an id; told after the commit as well, so that it never overtakes a fact.
  void tell_passing(Event event) { fresh_events.push_back(std::move(event)); }

  Result<Job> enqueue(const JobRequest& request);
  Result<std::optional<Job>> claim();
  Result<Job> finish(const Lease& lease, const JobOutcome& outcome);
  Status set_progress(const Lease& lease, const JobProgress& progress, const std::string& subject);
  Result<Job> request_cancel(const JobId& id);
  /// At start: what instances of this data folder that are gone left running (jobs case 1).
  Status rescue_orphans(bool with_jobs);
  /// One round of upkeep in small pieces: versions, events, idempotency, old jobs.
  Status prune();
  /// Jobs of one caller; one event tells of them. Errors as those of JobQueue, the first for all.
  Result<std::vector<JobId>> enqueue_all(const std::vector<JobRequest>& requests);

  std::vector<Event> fresh_events;  ///< of the current batch, in id order
  bool jobs_changed = false;        ///< a job may have become claimable

 private:
  State(Settings settings, const Clock& clock, Random& random, Database db);
  Status tell_job(const std::string& kind, const Job& job, Json data = Json::object());
};

}  // namespace indx
