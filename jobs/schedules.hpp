#pragma once
#include "jobs/schedule.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace indx {

class Database;

/// Slots of a schedule that are kept.
inline constexpr int kSlotsKept = 200;

/// The rules and the SQL of the tables `schedules` and `schedule_slots`. No threads, no
/// transactions of its own: the caller wraps calls into its commit.
class Schedules {
 public:
  Schedules(Database& db, const Clock& clock) : db_(db), clock_(clock) {}

  /// By name.
  Result<std::vector<Schedule>> list();
  Result<std::optional<Schedule>> get(const std::string& name);
  /// Makes it or changes it, and gives it with its next time; slots that passed while it was paused
  /// or had other times are no longer due. Fails with `validation_failed` for a name, cron or zone
  /// that is none and for times that never come; `too_large` for the 1,001st; with `forbidden` for
  /// a schedule of another subject unless the owner given is an admin, and for another kind of a
  /// built-in one, which also keeps its owner.
  Result<Schedule> set(const Schedule& schedule);
  /// False: there was none. `forbidden` for a built-in one.
  Result<bool> remove(const std::string& name);
  /// Newest first.
  Result<std::vector<ScheduleSlot>> slots(const std::string& name, int limit);
  /// The earliest time of a schedule that is not paused.
  Result<std::optional<Timestamp>> next_due();
  /// Deletes all but the last 200 slots of each schedule, at most `limit` rows; gives how many.
  Result<std::int64_t> prune(int limit);

  /// How a due slot becomes a job.
  struct Runs {
    /// Gives the id of the job. An Error that only another call could mend (a refused input, a
    /// taken key) skips the slot; any other ends `fire_due`.
    std::function<Result<JobId>(const Schedule&)> enqueue;
    std::function<Status(const JobId&)> cancel;
    /// Whether there is anything to do; slots of a schedule that is not wanted pass without a
    /// trace. Empty: always.
    std::function<bool(const Schedule&)> is_wanted = {};
  };
  /// What became of one schedule's slots.
  struct Fired {
    Schedule schedule;  ///< with its next time
    std::vector<ScheduleSlot> slots;
    std::string why_skipped;  ///< of the last slot that was skipped
  };
  /// Lets every due schedule run, all in the transaction of the caller: jobs, slot rows and next
  /// times. A slot more than a minute old counts as missed and is caught up with as the schedule
  /// says. Slots that are caught up with together do not overlap each other: their jobs wait in
  /// line. A slot that has its row never runs again, wherever the clock jumps.
  Result<std::vector<Fired>> fire_due(const Runs& runs);
  /// After a start, and after the wall clock went back: takes back times that a clock far ahead
  /// left (more than 25 hours later than the schedule's next time by the clock as it is now).
  Status realign();

 private:
  Result<Fired> fire(Schedule schedule, const Runs& runs);
  Status run_slot(Fired& fired, Timestamp slot, const Runs& runs, const std::string& blocked_by);
  Status keep_slot(Fired& fired, ScheduleSlot slot);
  Result<bool> has_slot(const std::string& name, Timestamp slot);
  Result<std::vector<JobId>> live_jobs(const std::string& name);
  Status move_on(const std::string& name, const std::optional<Timestamp>& next_at);

  Database& db_;
  const Clock& clock_;
};

}  // namespace indx
