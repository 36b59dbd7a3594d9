#pragma once
#include "mcp/http_message.hpp"
#include "mcp/server.hpp"

#include <memory>

namespace indx {

/// 405: the modern era has neither streams to open nor sessions to end.
HttpResponse only_post(const HttpRequest& request);

/// POST /mcp in the modern era: each request stands alone, and who leaves before its answer cancels
/// it. Session and resume headers are ignored. Thread-safe.
class ModernHttp {
 public:
  explicit ModernHttp(McpServer& server) : server_(server) {}

  void post(const HttpRequest& request, const Principal& principal, const Responder& responder,
            const RpcMessage& message, Accepted accepted);
  /// Ends what is open.
  void stop() { calls_->cancel_all(CancelReason::Shutdown); }

 private:
  McpServer& server_;
  // Of all clients: shared with the calls, and not reachable by id, since another's may be the
  // same.
  const std::shared_ptr<OpenCalls> calls_ = std::make_shared<OpenCalls>();
};

}  // namespace indx
