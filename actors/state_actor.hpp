#pragma once
#include "actors/directory.hpp"
#include "actors/state_writer.hpp"

namespace indx {

/// The timers of state.db (heartbeats, due jobs, time limits, schedules, upkeep), and the changes
/// that other actors send, which it commits as they gather. Detached: it blocks on SQLite.
StateActor spawn_state_actor(caf::actor_system& system, Parts* parts, Directory* directory,
                             StateWriter* writer);

}  // namespace indx
