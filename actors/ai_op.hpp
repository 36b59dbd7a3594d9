#pragma once
#include "actors/directory.hpp"
#include "actors/parts.hpp"

namespace indx {

/// One provider call at a time, on a thread of its own; cancel closes the socket.
AiOpActor spawn_ai_op(caf::actor_system& system, Parts* parts);

}  // namespace indx
