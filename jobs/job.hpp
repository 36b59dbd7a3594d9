#pragma once
#include "base/clock.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"

#include <optional>
#include <string>
#include <vector>

namespace indx {

/// Live: Scheduled … Unsupported. Final: Succeeded, Failed, Dead, Cancelled. Drawn in
/// docs/architecture.md.
enum class JobState : std::uint8_t {
  Scheduled,
  Ready,
  Running,
  Sleeping,
  Waiting,
  Paused,
  Unsupported,
  Succeeded,
  Failed,
  Dead,
  Cancelled
};

struct JobProgress {
  std::int64_t done = 0;
  std::optional<std::int64_t> total;
  std::string unit = "notes";
  std::string phase;    ///< `suggest`, `apply`
  std::string current;  ///< path of the current note
  /// What calls of a model wait for: requests_per_minute | tokens_per_minute | retry_after |
  /// daily_cost; empty:
  /// for nothing.
  std::string waits_for;
  double rate_per_second = 0;
  std::optional<std::int64_t> eta_seconds;
  std::int64_t model_calls = 0;
  double cost_usd = 0;
};
Json to_json(const JobProgress& progress);

/// What the caller is, so that the handler runs with the same rights after a restart.
struct JobOwner {
  std::string subject;  ///< token id or `local`
  std::string surface;  ///< api | cli | mcp | ui
  std::vector<std::string> scopes;
  std::vector<std::string> path_globs;
  std::string request_id;

  bool operator==(const JobOwner&) const = default;
};

/// What becomes of a request whose unique key a live job of its kind has.
enum class OnDuplicate : std::uint8_t {
  Reject,   ///< `conflict`, with `job_id`
  Join,     ///< the live job is the answer
  Replace,  ///< the live job takes the new input; one that runs already runs once more with it
  RunAgain  ///< the live job runs once more after its end, with the input that came last
};

/// What is asked of the queue.
struct JobRequest {
  std::string kind;  ///< operation name
  int operation_version = 1;
  Json input;
  Json secrets;  ///< arguments that nobody may see, as an object; null: none
  JobOwner owner;
  bool keep = false;  ///< goes on when nobody waits for it
  int priority = 0;   ///< larger first; one step makes up for a minute of waiting
  std::optional<Timestamp> run_at;
  int max_attempts = 5;
  int max_crashes = 3;
  std::string unique_key;  ///< among the live jobs of the kind; empty: none
  OnDuplicate on_duplicate = OnDuplicate::Join;
  std::string limit_key;       ///< jobs of all kinds that share something; empty: none
  int limit_running = 0;       ///< how many jobs of the limit key may run at once; 0: any number
  milliseconds time_limit{0};  ///< of one try; 0: none
  std::string parent;          ///< id of the job that waits for it; empty: none
  std::string schedule;        ///< name of the schedule that asks; empty: none
  std::string reverts;         ///< id of the job whose writes it undoes; empty: none
};

/// An error that ended a try; it stays when the job is tried again.
struct JobFault {
  std::string what;  ///< failed | crashed | timed_out | snoozed
  std::int64_t lease = 0;
  Error error;
  Timestamp at;
};

/// One row of the table `jobs`.
struct Job {
  JobId id;
  std::string kind;
  int operation_version = 1;
  JobState state = JobState::Ready;
  Json input;
  JobOwner owner;
  bool keep = false;
  int priority = 0;
  int attempts = 0;       ///< tries that ended in a retryable error
  int crashes = 0;        ///< tries whose process died
  int interruptions = 0;  ///< tries given back by a graceful stop
  int snoozes = 0;        ///< tries in a row that ended as Snoozed without a step stored
  int max_attempts = 5, max_crashes = 3;
  std::string unique_key, limit_key;
  int limit_running = 0;
  milliseconds time_limit{0};
  std::string parent, schedule, reverts;
  Json secrets;                     ///< filled only by a claim
  std::optional<Json> again_input;  ///< runs once more with it after its end
  std::int64_t lease = 0;           ///< generation minted at the claim; 0: never claimed
  std::string leased_by;            ///< instance id
  std::optional<Timestamp> leased_at, heartbeat_at;
  bool cancel_requested = false, pause_requested = false;
  JobProgress progress;
  std::int64_t step_count = 0;
  std::optional<Json> result;  ///< missing in lists
  std::optional<Error> error;
  Timestamp run_at, created_at, updated_at;
  std::optional<Timestamp> started_at, finished_at;

  bool is_final() const;
};

/// The public record: no input text beyond what the caller sent, `isCancelling` as a flag, times in
/// ISO 8601.
Json to_json(const Job& job);

/// Identifies one claim. A write with another generation than the row's is refused as
/// `stale_lease`.
struct Lease {
  JobId job;
  std::int64_t generation = 0;
  std::string instance;
};

/// How a try ended.
struct JobOutcome {
  enum class Kind : std::uint8_t {
    Succeeded,
    Failed,
    TimedOut,  ///< like Failed with a retryable error
    Cancelled,
    Returned,  ///< by a stop or a pause: costs no attempt
    Sleeping,  ///< until `wake_at`; costs no attempt
    Snoozed,   ///< a provider asked to be left alone: costs no attempt, see kMaxSnoozes
    Waiting    ///< for its children; costs no attempt
  };
  Kind kind = Kind::Succeeded;
  std::optional<Json> result;               ///< also a partial result of a cancelled job
  std::optional<Error> error;               ///< Failed: retryable errors are tried again; Snoozed
  std::optional<milliseconds> retry_after;  ///< floor for the next try
  std::optional<Timestamp> wake_at;         ///< Sleeping
  std::string waits_for = {};               ///< Sleeping: as JobProgress says
};

struct JobFilter {
  std::vector<JobState> states;
  std::string kind;
  std::string subject;  ///< empty: all
  std::string parent;   ///< empty: all
};

/// How many jobs of one kind are in one state.
struct JobCount {
  std::string kind;
  JobState state = JobState::Ready;
  std::int64_t count = 0;
};

/// Who holds jobs back.
struct JobPause {
  std::string what;  ///< `*`: all; else a kind
  std::string subject;
  Timestamp at;
};

}  // namespace indx
