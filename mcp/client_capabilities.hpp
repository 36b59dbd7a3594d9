#pragma once
#include "mcp/method.hpp"

namespace indx {

/// Whether a client declared all that `required` names, both in the shape of client capabilities:
/// `{"extensions": {"io.modelcontextprotocol/tasks": {}}}`. Settings of what is declared do not
/// matter.
bool declares(const Json& declared, const Json& required);

/// The same for the client of a request, which is answered when it did not: 400,
/// kRpcMissingCapability with `{requiredCapabilities}`.
bool require_capability(const McpRequest& request, const Json& required);

}  // namespace indx
