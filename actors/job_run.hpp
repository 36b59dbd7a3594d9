#pragma once
#include "actors/core.hpp"
#include "actors/job_handout.hpp"

namespace indx {

/// The end of a try that took too long.
Error time_limit_passed(milliseconds limit);

/// Runs a claimed job on the calling thread.
JobEnd run_job(Core& core, const Claimed& claimed);

}  // namespace indx
