#pragma once
#include "actors/core.hpp"

namespace indx {

/// Runs one claimed job on the calling thread and records how it ended.
void run_job(Core& core, const Job& job);

}  // namespace indx
