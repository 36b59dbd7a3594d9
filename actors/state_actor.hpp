#pragma once
#include "actors/directory.hpp"
#include "actors/parts.hpp"
#include "actors/state.hpp"

namespace indx {

struct StateActorConfig {
  Parts* parts = nullptr;
  Directory* directory = nullptr;
  State::Settings settings;
};

struct StateActorState;
/// Spawn detached: it blocks on SQLite.
StateActor::behavior_type state_actor(StateActor::stateful_pointer<StateActorState> self, StateActorConfig config);

}  // namespace indx
