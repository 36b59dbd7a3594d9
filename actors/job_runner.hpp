#pragma once
#include "actors/core.hpp"
#include "actors/directory.hpp"

namespace indx {

/// Claims a job, runs it on its own thread, claims the next. Spawn detached.
RunnerActor::behavior_type job_runner(RunnerActor::pointer self, Core* core, Directory* directory);

}  // namespace indx
