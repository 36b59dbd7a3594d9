#include "ops/job_request.hpp"

namespace indx {

void complete_request(const Registry& registry, JobRequest& request) {
  const Operation* operation = registry.find(request.kind);
  if (operation == nullptr) return;
  auto whole = job_request(*operation, request.input, request.owner, {});
  request.operation_version = whole.operation_version;
  request.time_limit = whole.time_limit;
  request.unique_key = std::move(whole.unique_key);
  request.on_duplicate = whole.on_duplicate;
  request.reverts = std::move(whole.reverts);
}

}  // namespace indx
