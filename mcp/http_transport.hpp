#pragma once
#include "http/router.hpp"
#include "mcp/server.hpp"
#include "ops/dispatch.hpp"

#include <memory>

namespace indx {

/// Adds POST, GET and DELETE /mcp: the Streamable HTTP transport (mcp.md section 4). Sessions live
/// in the returned object, which must outlive the router's use.
class McpHttp {
 public:
  virtual ~McpHttp() = default;
  virtual void add_routes(Router& router) = 0;
  /// Ends open streams; part of the graceful stop.
  virtual void stop() = 0;
};
std::unique_ptr<McpHttp> make_mcp_http(Dispatcher& dispatcher);
std::unique_ptr<McpHttp> make_mcp_http(Dispatcher& dispatcher, const McpOptions& options);

}  // namespace indx
