#pragma once
#include "mcp/session.hpp"

#include <memory>
#include <string>

namespace indx {

/// What every result of the modern era carries beside its content: resultType, who we are, and, for
/// what clients may keep, for how long. Members that the method set stay.
void complete_modern_result(Json& result, std::string_view method, const Protocol& protocol);

/// Completes the answer of one modern request on its way out, whatever the transport: results as
/// above, errors with the HTTP status of their code.
class ModernReply : public McpReply {
 public:
  ModernReply(std::shared_ptr<McpReply> transport, const RpcMessage& request,
              const Protocol& protocol)
      : transport_(std::move(transport)), method_(request.method), protocol_(protocol) {}

  void notify(const Json& message) override { transport_->notify(message); }
  bool can_notify() const override { return transport_->can_notify(); }
  void answer(McpAnswer answer) override;
  void drop(CancelReason reason) override { transport_->drop(reason); }

 private:
  const std::shared_ptr<McpReply> transport_;  // shared: it watches the connection
  const std::string method_;
  const Protocol& protocol_;
};

}  // namespace indx
