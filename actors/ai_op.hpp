#pragma once
#include "actors/directory.hpp"
#include "actors/parts.hpp"

namespace indx {

/// One provider call at a time, with its own thread; cancel closes the socket. Spawn detached.
AiOpActor::behavior_type ai_op(AiOpActor::pointer self, Parts* parts);

}  // namespace indx
