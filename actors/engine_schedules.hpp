#pragma once
#include "actors/core.hpp"
#include "jobs/schedule.hpp"

#include <string>
#include <vector>

namespace indx {

// Schedules over state.db; whose they are is for the caller to check. Errors as those of Schedules.

/// By name.
Result<std::vector<Schedule>> read_schedules(Core& core);
/// Newest first.
Result<std::vector<ScheduleSlot>> read_slots(Core& core, const std::string& schedule, int limit);
Result<Schedule> change_schedule(Core& core, const Schedule& schedule);
/// False: there was none.
Result<bool> remove_schedule(Core& core, const std::string& name);

}  // namespace indx
