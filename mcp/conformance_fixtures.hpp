#pragma once
#include "mcp/method.hpp"

namespace indx {

/// What the official conformance suite wants to find in a server: `test_…` tools and prompts and
/// `test://` resources that say known things, ask the peer, and hang up. Only builds with
/// INDX_MCP_FIXTURES have them, and only a loopback listener that is told to shows them.

/// The method with the fixtures in front: a list shows them alone, a call of something else goes to
/// the method itself.
McpMethod with_conformance_fixtures(const McpMethod& method, const McpServices& services);

}  // namespace indx
