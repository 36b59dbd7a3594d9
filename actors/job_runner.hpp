#pragma once
#include "actors/core.hpp"
#include "actors/protocols.hpp"

namespace indx {

/// Claims a job, runs it on its own thread, stores its end and claims the next in one go. Ends when
/// a handler was abandoned, for then another runner has taken its place.
RunnerActor spawn_job_runner(caf::actor_system& system, Core* core);

}  // namespace indx
