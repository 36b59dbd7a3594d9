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
};

/// What is asked of the queue.
struct JobRequest {
  std::string kind;  ///< operation name
  int operation_version = 1;
  Json input;
  JobOwner owner;
  bool keep = false;  ///< goes on when nobody waits for it
  int priority = 0;   ///< larger first
  std::optional<Timestamp> run_at;
  int max_attempts = 5;
  int max_crashes = 3;
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
  int max_attempts = 5, max_crashes = 3;
  std::int64_t lease = 0;  ///< generation minted at the claim; 0: never claimed
  std::string leased_by;   ///< instance id
  std::optional<Timestamp> leased_at, heartbeat_at;
  bool cancel_requested = false;
  JobProgress progress;
  std::optional<Json> result;
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
  enum class Kind : std::uint8_t { Succeeded, Failed, Cancelled, Returned };
  Kind kind = Kind::Succeeded;
  std::optional<Json> result;               ///< also a partial result of a cancelled job
  std::optional<Error> error;               ///< Failed: retryable errors are tried again
  std::optional<milliseconds> retry_after;  ///< floor for the next try
};

struct JobFilter {
  std::vector<JobState> states;
  std::string kind;
  std::string subject;  ///< empty: all
};

}  // namespace indx
