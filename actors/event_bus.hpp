#pragma once
#include "actors/directory.hpp"
#include "actors/parts.hpp"

namespace indx {

struct EventBusState;
/// Spawn detached: a subscriber's backlog is read from state.db.
EventBusActor::behavior_type event_bus(EventBusActor::stateful_pointer<EventBusState> self, Parts* parts);

}  // namespace indx
