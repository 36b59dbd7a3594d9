#pragma once
#include "actors/core.hpp"
#include "jobs/schedule.hpp"

#include <string>
#include <vector>

namespace indx {

Result<std::vector<Schedule>> read_schedules(Core& core);
Result<std::vector<ScheduleSlot>> read_slots(Core& core, const std::string& schedule, int limit);
Result<Schedule> change_schedule(Core& core, const Schedule& schedule);
Result<bool> remove_schedule(Core& core, const std::string& name);

}  // namespace indx
