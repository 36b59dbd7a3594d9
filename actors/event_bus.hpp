#pragma once
#include "actors/directory.hpp"
#include "actors/parts.hpp"

namespace indx {

/// Detached: a subscriber's backlog is read from state.db.
EventBusActor spawn_event_bus(caf::actor_system& system, Parts* parts);

}  // namespace indx
