#pragma once
#include "base/event.hpp"
#include "jobs/job.hpp"
#include "jobs/job_writes.hpp"
#include "jobs/schedule.hpp"
#include "vault/note_query.hpp"

#include <optional>
#include <string>
#include <vector>

namespace indx {

struct Operation;  // ops/operation.hpp

/// How long the record of a job stays after its end; that of a failed or dead one stays longer.
inline constexpr std::chrono::hours kFinishedJobsKept{24 * 7};

/// What the whole queue is at.
struct QueueStatus {
  std::vector<JobCount> counts;
  std::vector<JobPause> pauses;
  std::optional<Timestamp> oldest_ready;  ///< as JobStore::oldest_ready
  int running = 0, runners = 0;           ///< jobs that run in this process, and how many may
  int stuck_handlers = 0;  ///< tries that ignore their time limit; more than 0 is unhealthy
};

/// Jobs and schedules, as one caller may see them: one's own, or all for an admin. Someone else's
/// job is `not_found`.
class Jobs {
 public:
  virtual ~Jobs() = default;
  struct JobPage {
    std::vector<Job> jobs;
    std::optional<std::string> next_cursor;
  };
  virtual Result<JobPage> list(const JobFilter& filter, int limit, const std::string& cursor) = 0;
  virtual Result<Job> get(const JobId& id) = 0;
  /// Oldest first.
  virtual Result<std::vector<Job>> children(const JobId& id) = 0;
  /// Errors of its tries, oldest first.
  virtual Result<std::vector<JobFault>> faults(const JobId& id) = 0;
  /// Its durable events, oldest first; `cursor` as a page of them gave it.
  virtual Result<Page<Event>> events(const JobId& id, int limit, const std::string& cursor) = 0;
  /// In front of their wire ids.
  virtual std::string event_epoch() const = 0;
  /// In the order in which they were made.
  virtual Result<std::vector<JobWrite>> writes(const JobId& id) = 0;

  virtual Result<Job> cancel(const JobId& id) = 0;
  virtual Result<Job> pause(const JobId& id) = 0;
  virtual Result<Job> resume(const JobId& id) = 0;
  /// `forbidden` when the job may do more than the caller.
  virtual Result<Job> retry(const JobId& id) = 0;
  /// JobStore::redrive. A trial changes nothing and gives the jobs as they are. `forbidden` when
  /// one of them may do more than the caller.
  virtual Result<std::vector<Job>> redrive(const JobFilter& filter, milliseconds spread, int limit,
                                           bool is_trial) = 0;

  // For admins.
  virtual Result<QueueStatus> status() = 0;
  virtual Status pause_kind(const std::string& what) = 0;
  virtual Status resume_kind(const std::string& what) = 0;

  /// What a job of this kind runs; null: there is no such operation.
  virtual const Operation* operation_of(const std::string& kind) const = 0;
  /// By name.
  virtual Result<std::vector<Schedule>> schedules() = 0;
  /// Newest first.
  virtual Result<std::vector<ScheduleSlot>> slots(const std::string& schedule, int limit) = 0;
  /// Makes it or changes it. Gives it with its next time.
  virtual Result<Schedule> set_schedule(const Schedule& schedule) = 0;
  /// False: there was none. `forbidden` for a built-in one, which can be paused.
  virtual Result<bool> delete_schedule(const std::string& name) = 0;
};

}  // namespace indx
