#include "ops/job_request.hpp"

namespace indx {

void complete_request(const Registry& registry, JobRequest& request) {
  const Operation* operation = registry.find(request.kind);
  if (operation == nullptr) return;
  request.operation_version = operation->version;
  request.time_limit = operation->job.time_limit;
  if (!operation->job.unique_key) return;
  request.unique_key = operation->job.unique_key(request.input);
  request.on_duplicate = operation->job.on_duplicate;
}

}  // namespace indx
