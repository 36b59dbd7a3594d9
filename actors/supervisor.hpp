#pragma once
#include <functional>
#include <string>
#include <vector>

#include "actors/core.hpp"
#include "actors/directory.hpp"

namespace indx {

/// Starts one actor and enters it in the directory; gives its address.
struct ChildSpec {
  std::string name;
  std::function<caf::actor_addr(caf::actor_system&)> spawn;
};

/// Spawns the children in order and again when one ends by accident; a restarted actor reads its state from disk. Gets
/// `user_shutdown` to stop and passes it on, last child first.
SupervisorActor spawn_supervisor(caf::actor_system& system, std::vector<ChildSpec> children);

/// Every actor of the engine, in the order of their start.
std::vector<ChildSpec> engine_children(Core& core, Directory& directory, const State::Settings& settings, bool with_watcher);

}  // namespace indx
