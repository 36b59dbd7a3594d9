#pragma once
#include "ops/operation.hpp"

namespace indx {

/// Fills in what the operation says about its jobs: version, time limit, unique key, what they
/// undo. A kind that is not in the registry stays as it is; the queue parks such a job.
void complete_request(const Registry& registry, JobRequest& request);

}  // namespace indx
