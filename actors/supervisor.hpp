#pragma once
#include "actors/core.hpp"
#include "actors/directory.hpp"

#include <caf/actor.hpp>

#include <functional>
#include <string>
#include <vector>

namespace indx {

/// Starts one actor and enters it in the directory. The handle keeps it while it is being
/// monitored: an actor that ends at once, as runners do in an engine that stops already, is gone
/// when only its address is left.
struct ChildSpec {
  std::string name;
  std::function<caf::actor(caf::actor_system&)> spawn;
  std::function<void()> after_restart = {};  ///< catches up on what the crash lost
};

/// Spawns the children in order and again when one ends by accident; a restarted actor reads its
/// state from disk. Gets `user_shutdown` to stop and passes it on, last child first.
SupervisorActor spawn_supervisor(caf::actor_system& system, Core* core,
                                 std::vector<ChildSpec> children);

/// Every actor of the engine, in the order of their start.
std::vector<ChildSpec> engine_children(Core& core, Directory& directory, bool with_watcher);

}  // namespace indx
