#pragma once
#include "base/config.hpp"
#include "cli/args.hpp"
#include "mcp/method.hpp"

namespace indx {

/// Takes stdout away from everything else: what is printed from now on goes to stderr. Gives the
/// descriptor of the real stdout, for the protocol alone. Call it before anything can print.
int take_stdout();

/// Serves one MCP client on stdin and `protocol_out` until it leaves or this process's parent dies.
int run_mcp_serve(const Invocation& invocation, const Environment& env, const Registry& registry,
                  int protocol_out);

/// What MCP over HTTP is set to.
McpOptions mcp_options(const Config& config);

/// The rights of a client: `vault:read`, `path:Public/**` …; default read and write.
Result<Principal> mcp_principal(const Json& input);

}  // namespace indx
