#include "actors/engine_schedules.hpp"

namespace indx {

Result<std::vector<Schedule>> read_schedules(Core& core) {
  return core.read_state([&](Database& db) { return Schedules(db, core.parts.clock).list(); });
}

Result<std::vector<ScheduleSlot>> read_slots(Core& core, const std::string& schedule, int limit) {
  return core.read_state(
      [&](Database& db) { return Schedules(db, core.parts.clock).slots(schedule, limit); });
}

Result<Schedule> change_schedule(Core& core, const Schedule& schedule) {
  return core.change_for<Schedule>(
      [schedule](State& state) { return state.set_schedule(schedule); });
}

Result<bool> remove_schedule(Core& core, const std::string& name) {
  return core.change_for<bool>([name](State& state) { return state.schedules.remove(name); });
}

}  // namespace indx
