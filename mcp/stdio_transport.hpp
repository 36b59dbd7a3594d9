#pragma once
#include "mcp/server.hpp"
#include "ops/dispatch.hpp"

namespace indx {

/// Serves one MCP client over file descriptors until EOF on `in`, a broken `out`, or `stop`.
/// Returns the exit code. stdout carries protocol only.
int serve_mcp_stdio(Dispatcher& dispatcher, const Principal& principal, int in, int out,
                    const CancelToken& stop);
int serve_mcp_stdio(Dispatcher& dispatcher, const Principal& principal, int in, int out,
                    const CancelToken& stop, const McpOptions& options);

}  // namespace indx
