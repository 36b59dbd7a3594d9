#include "jobs/schedules.hpp"

#include "base/text.hpp"
#include "jobs/cron.hpp"
#include "jobs/job_json.hpp"
#include "jobs/job_row.hpp"
#include "store/columns.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr std::size_t kMaxScheduleName = 64;
constexpr std::size_t kMostSchedules = 1000;
constexpr const char* kAdminScope = "vault:admin";

std::string select_schedules(std::string_view rest) {
  return cat(
      "SELECT name, kind, input, owner, cron, time_zone, overlap, catch_up, is_paused, is_builtin, "
      "next_at, created_at, updated_at FROM schedules ",
      rest);
}

Schedule read_schedule(const Database::Statement& row) {
  const auto overlap = parse_overlap(row.text(6));
  const auto catch_up = parse_catch_up(row.text(7));
  INDX_ASSERT(overlap.has_value() && catch_up.has_value());  // CHECKs hold it
  return {.name = row.text(0),
          .kind = row.text(1),
          .input = json_value(row.text(2)),
          .owner = parse_owner(row.text(3)),
          .cron = row.text(4),
          .time_zone = row.text(5),
          .overlap = *overlap,
          .catch_up = *catch_up,
          .is_paused = row.integer(8) != 0,
          .is_builtin = row.integer(9) != 0,
          .next_at = optional_time_at(row, 10),
          .created_at = time_at(row, 11),
          .updated_at = time_at(row, 12)};
}

Result<std::vector<Schedule>> read_schedules_of(Database::Statement query) {
  std::vector<Schedule> schedules;
  while (INDX_TRY(query.step())) schedules.push_back(read_schedule(query));
  return schedules;
}

bool is_schedule_name(const std::string& name) {
  return !name.empty() && name.size() <= kMaxScheduleName &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
         });
}

/// What a change may not do to the schedule that is there.
Status check_change(const Schedule& before, const Schedule& wanted) {
  const auto& scopes = wanted.owner.scopes;
  const bool is_admin = std::find(scopes.begin(), scopes.end(), kAdminScope) != scopes.end();
  if (before.owner.subject != wanted.owner.subject && !is_admin)
    return make_error(Reason::Forbidden, cat("The schedule `", wanted.name,
                                             "` is somebody else's; take another name."));
  if (before.is_builtin && before.kind != wanted.kind)
    return make_error(Reason::Forbidden,
                      cat("The built-in schedule `", wanted.name, "` runs `", before.kind,
                          "` only; pause it, or make another one."));
  return {};
}

bool has_same_times(const Schedule& a, const Schedule& b) {
  return a.cron == b.cron && a.time_zone == b.time_zone;
}

}  // namespace

Result<std::vector<Schedule>> Schedules::list() {
  return read_schedules_of(db_.prepare(select_schedules("ORDER BY name")));
}

Result<std::optional<Schedule>> Schedules::get(const std::string& name) {
  auto query = db_.prepare(select_schedules("WHERE name = ?1"));
  query.bind(name);
  if (!INDX_TRY(query.step())) return std::optional<Schedule>();
  return std::optional(read_schedule(query));
}

Result<Schedule> Schedules::set(const Schedule& wanted) {
  if (!is_schedule_name(wanted.name))
    return invalid(cat("The name of a schedule has 1 to ", kMaxScheduleName,
                       " lower case letters, digits, `-` and `_`."),
                   Json{{"path", "name"}});
  Schedule schedule = wanted;
  const auto now = clock_.now();
  const auto before = INDX_TRY(get(wanted.name));
  if (before)
    INDX_TRY(check_change(*before, wanted));
  else if (INDX_TRY(list()).size() >= kMostSchedules)
    return make_error(Reason::TooLarge,
                      cat("There are ", kMostSchedules, " schedules; delete one first."));
  schedule.is_builtin = before ? before->is_builtin : wanted.is_builtin;
  if (schedule.is_builtin && before) schedule.owner = before->owner;
  schedule.created_at = before ? before->created_at : now;
  schedule.updated_at = now;
  const auto cron = INDX_TRY(Cron::parse(schedule.cron));
  const auto next = INDX_TRY(cron.next_after(now, schedule.time_zone));
  if (!next)
    return invalid(cat("The times `", schedule.cron, "` never come."), Json{{"path", "cron"}});
  const bool goes_on = before && !before->is_paused && has_same_times(*before, schedule);
  schedule.next_at = goes_on ? before->next_at : next;
  if (schedule.is_paused) schedule.next_at = std::nullopt;
  const auto input = INDX_TRY(input_text(schedule.input));
  if (input.size() > kMaxJobInputBytes)
    return make_error(Reason::TooLarge,
                      cat("The input of the schedule has ", input.size(), " bytes; at most ",
                          kMaxJobInputBytes, " are accepted. Name notes by a scope."));
  const auto owner = INDX_TRY(owner_text(schedule.owner));
  INDX_TRY(db_.prepare("INSERT INTO schedules (name, kind, input, owner, subject, cron, time_zone, "
                       "overlap, catch_up, is_paused, is_builtin, next_at, created_at, updated_at) "
                       "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) ON "
                       "CONFLICT (name) DO UPDATE SET kind = ?2, input = ?3, owner = ?4, subject = "
                       "?5, cron = ?6, time_zone = ?7, overlap = ?8, catch_up = ?9, is_paused = "
                       "?10, next_at = ?12, updated_at = ?14")
               .bind(schedule.name, schedule.kind, input, owner, schedule.owner.subject,
                     schedule.cron, schedule.time_zone, name(schedule.overlap),
                     name(schedule.catch_up), schedule.is_paused, schedule.is_builtin,
                     optional_millis(schedule.next_at), to_millis(schedule.created_at),
                     to_millis(schedule.updated_at))
               .run());
  return schedule;
}

Result<bool> Schedules::remove(const std::string& name) {
  const auto schedule = INDX_TRY(get(name));
  if (!schedule) return false;
  if (schedule->is_builtin)
    return make_error(Reason::Forbidden, cat("The built-in schedule `", name,
                                             "` cannot be deleted; pause it with schedule_set."));
  INDX_TRY(db_.prepare("DELETE FROM schedules WHERE name = ?1").bind(name).run());
  return true;
}

Result<std::vector<ScheduleSlot>> Schedules::slots(const std::string& name, int limit) {
  auto query = db_.prepare(
      "SELECT slot, job, outcome, at FROM schedule_slots WHERE schedule = ?1 ORDER BY slot DESC "
      "LIMIT ?2");
  query.bind(name, limit);
  std::vector<ScheduleSlot> slots;
  while (INDX_TRY(query.step()))
    slots.push_back({time_at(query, 0), query.text(1), query.text(2), time_at(query, 3)});
  return slots;
}

Result<std::optional<Timestamp>> Schedules::next_due() {
  auto query =
      db_.prepare("SELECT MIN(next_at) FROM schedules WHERE is_paused = 0 AND next_at IS NOT NULL");
  INDX_TRY(query.step());
  return optional_time_at(query, 0);
}

Result<std::int64_t> Schedules::prune(int limit) {
  return db_
      .prepare(
          "DELETE FROM schedule_slots WHERE (schedule, slot) IN (SELECT schedule, slot FROM "
          "(SELECT "
          "schedule, slot, ROW_NUMBER() OVER (PARTITION BY schedule ORDER BY slot DESC) AS place "
          "FROM schedule_slots) WHERE place > ?1 LIMIT ?2)")
      .bind(kSlotsKept, limit)
      .run();
}

}  // namespace indx
