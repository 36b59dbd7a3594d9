#pragma once
#include "ops/context.hpp"
#include "ops/define.hpp"
#include "ops/jobs.hpp"

#include <optional>
#include <string>
#include <vector>

namespace indx {

/// How schedules look in answers.
struct ScheduleSlotView {
  std::string slot, outcome;
  std::optional<std::string> job;
  static Fields<ScheduleSlotView> fields();
};
struct ScheduleView {
  std::string name, kind, cron, time_zone, overlap, catch_up;
  JsonObject input;
  bool paused = false, builtin = false;
  std::optional<std::string> next_at;
  std::vector<ScheduleSlotView> last_slots;
  static Fields<ScheduleView> fields();
};
/// With its last `slots` slots.
Result<ScheduleView> view_schedule(Context& ctx, const Schedule& schedule, int slots);

/// nullopt: the caller sees none of that name.
Result<std::optional<Schedule>> find_schedule(Context& ctx, const std::string& name);

template <typename Struct>
Field<Struct> schedule_name_field(std::string Struct::*member) {
  return field("name", member, "Name of the schedule: lower case letters, digits, `-` and `_`.",
               length(1, 64));
}

}  // namespace indx
