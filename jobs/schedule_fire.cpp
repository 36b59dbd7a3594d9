#include "base/text.hpp"
#include "jobs/cron.hpp"
#include "jobs/schedules.hpp"
#include "store/columns.hpp"

#include <algorithm>

namespace indx {
namespace {

/// The resolution of cron: what is later than that was missed.
constexpr std::chrono::minutes kOnTime{1};
constexpr std::size_t kMostCaughtUp = 100;
/// Clocks of places differ by a day at most, and by an hour more for a while.
constexpr std::chrono::hours kMostAhead{25};

/// What has passed of a schedule, oldest first, and what comes next.
struct DueSlots {
  std::vector<Timestamp> passed;  ///< at most the last kSlotsKept
  std::optional<Timestamp> next;
};

/// Looks back further and further, for a schedule of every minute may have been down for years.
Result<DueSlots> due_slots(const Schedule& schedule, Timestamp first, Timestamp now) {
  const auto cron = INDX_TRY(Cron::parse(schedule.cron));
  DueSlots due;
  for (std::chrono::hours window(3);; window *= 30) {
    const auto begin = std::max<Timestamp>(first - milliseconds(1), now - window);
    due.passed.clear();
    due.next = INDX_TRY(cron.next_after(begin, schedule.time_zone));
    while (due.next && *due.next <= now) {
      due.passed.push_back(*due.next);
      due.next = INDX_TRY(cron.next_after(*due.next, schedule.time_zone));
    }
    if (begin < first || due.passed.size() >= kSlotsKept) break;
  }
  if (due.passed.size() > kSlotsKept)
    due.passed.erase(due.passed.begin(), due.passed.end() - kSlotsKept);
  return due;
}

/// How many of the passed slots run, the last ones.
std::size_t slots_to_run(CatchUp catch_up, const std::vector<Timestamp>& passed, Timestamp now) {
  if (passed.empty()) return 0;
  switch (catch_up) {
    case CatchUp::Skip:
      return now - passed.back() <= kOnTime ? 1 : 0;
    case CatchUp::Once:
      return 1;
    case CatchUp::All:
      break;
  }
  return std::min(passed.size(), kMostCaughtUp);
}

/// An error that comes again whenever the same is tried.
bool is_final_refusal(const Error& error) { return error.http_status() < 500; }

}  // namespace

Result<std::vector<JobId>> Schedules::live_jobs(const std::string& name) {
  auto query =
      db_.prepare("SELECT id FROM jobs WHERE schedule = ?1 AND finished_at IS NULL ORDER BY seq");
  query.bind(name);
  std::vector<JobId> jobs;
  while (INDX_TRY(query.step())) jobs.push_back({query.text(0)});
  return jobs;
}

Result<bool> Schedules::has_slot(const std::string& name, Timestamp slot) {
  auto query = db_.prepare("SELECT 1 FROM schedule_slots WHERE schedule = ?1 AND slot = ?2");
  query.bind(name, to_millis(slot));
  return query.step();
}

Status Schedules::keep_slot(Fired& fired, ScheduleSlot slot) {
  slot.at = clock_.now();
  INDX_TRY(db_.prepare("INSERT INTO schedule_slots (schedule, slot, job, outcome, at) VALUES (?1, "
                       "?2, ?3, ?4, ?5)")
               .bind(fired.schedule.name, to_millis(slot.slot), null_if_empty(slot.job),
                     slot.outcome, to_millis(slot.at))
               .run());
  fired.slots.push_back(std::move(slot));
  return {};
}

Status Schedules::move_on(const std::string& name, const std::optional<Timestamp>& next_at) {
  INDX_TRY(db_.prepare("UPDATE schedules SET next_at = ?2 WHERE name = ?1")
               .bind(name, optional_millis(next_at))
               .run());
  return {};
}

Status Schedules::run_slot(Fired& fired, Timestamp slot, const Runs& runs,
                           const std::string& blocked_by) {
  ScheduleSlot kept{slot, {}, "skipped", {}};
  if (!blocked_by.empty()) {
    fired.why_skipped = cat("The job ", blocked_by, " of an earlier time has not ended.");
    return keep_slot(fired, std::move(kept));
  }
  const auto job = runs.enqueue(fired.schedule);
  if (!job && !is_final_refusal(job.error())) return job.error();
  if (job) {
    kept.job = job->value;
    kept.outcome = "started";
  } else {
    fired.why_skipped = job.error().message;
  }
  return keep_slot(fired, std::move(kept));
}

Result<Schedules::Fired> Schedules::fire(Schedule schedule, const Runs& runs) {
  const auto now = clock_.now();
  Fired fired{std::move(schedule), {}, {}};
  const auto& name = fired.schedule.name;
  auto& next_at = fired.schedule.next_at;
  auto found = due_slots(fired.schedule, *next_at, now);
  if (!found && !is_final_refusal(found.error())) return found.error();
  if (!found) {  // times that this system no longer understands
    fired.why_skipped = found.error().message;
    next_at = std::nullopt;
    INDX_TRY(move_on(name, next_at));
    return fired;
  }
  std::vector<Timestamp> passed;
  if (runs.is_wanted && !runs.is_wanted(fired.schedule)) found->passed.clear();
  for (const auto slot : found->passed)
    if (!INDX_TRY(has_slot(name, slot))) passed.push_back(slot);
  const auto missed = passed.size() - slots_to_run(fired.schedule.catch_up, passed, now);
  std::string blocked_by;
  if (missed < passed.size())
    for (const auto& job : INDX_TRY(live_jobs(name))) {
      if (fired.schedule.overlap == Overlap::Skip) blocked_by = job.value;
      if (fired.schedule.overlap == Overlap::Cancel) INDX_TRY(runs.cancel(job));
    }
  for (std::size_t i = 0; i < passed.size(); ++i)
    INDX_TRY(i < missed ? keep_slot(fired, {passed[i], {}, "missed", {}})
                        : run_slot(fired, passed[i], runs, blocked_by));
  next_at = found->next;
  INDX_TRY(move_on(name, next_at));
  return fired;
}

Result<std::vector<Schedules::Fired>> Schedules::fire_due(const Runs& runs) {
  std::vector<Fired> all;
  for (auto& schedule : INDX_TRY(list())) {
    const bool is_due =
        !schedule.is_paused && schedule.next_at && *schedule.next_at <= clock_.now();
    if (is_due) all.push_back(INDX_TRY(fire(std::move(schedule), runs)));
  }
  return all;
}

Status Schedules::realign() {
  const auto now = clock_.now();
  for (const auto& schedule : INDX_TRY(list())) {
    if (schedule.is_paused) continue;
    const auto cron = Cron::parse(schedule.cron);
    if (!cron) continue;  // `fire` told it
    const auto next = cron->next_after(now, schedule.time_zone);
    if (!next || !*next) continue;
    const bool is_lost = schedule.next_at && *schedule.next_at > **next + kMostAhead;
    if (schedule.next_at && !is_lost) continue;
    INDX_TRY(move_on(schedule.name, *next));
    INDX_TRY(db_.prepare("DELETE FROM schedule_slots WHERE schedule = ?1 AND slot > ?2")
                 .bind(schedule.name, to_millis(now + kMostAhead))
                 .run());
  }
  return {};
}

}  // namespace indx
