#include "mcp/client_capabilities.hpp"

namespace indx {

bool declares(const Json& declared, const Json& required) {
  if (!required.is_object() || !declared.is_object()) return false;
  for (const auto& [key, value] : required.items()) {
    const auto found = declared.find(key);
    if (found == declared.end() || !declares(*found, value)) return false;
  }
  return true;
}

bool require_capability(const McpRequest& request, const Json& required) {
  if (declares(request.peer.client_capabilities, required)) return true;
  request.call->answer_fault(kRpcMissingCapability,
                             "This needs a capability that the client did not declare.",
                             {{"requiredCapabilities", required}});
  return false;
}

}  // namespace indx
