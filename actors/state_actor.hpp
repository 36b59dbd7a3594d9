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

/// Detached: it blocks on SQLite. Group commit: changes gather until the actor's own `commit`
/// message arrives behind them; one sync serves all (G1).
StateActor spawn_state_actor(caf::actor_system& system, StateActorConfig config);

}  // namespace indx
