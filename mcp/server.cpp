#include "mcp/server.hpp"

#include "base/text.hpp"
#include "mcp/operation_call.hpp"

#include <optional>
#include <utility>

namespace indx {
namespace {

constexpr std::size_t kMaxClientCapabilities = 16U << 10U;

const Clock& clock_or_system(const Clock* clock) {
  static const SystemClock system;
  return clock ? *clock : system;
}

Random& random_or_system(Random* random) {
  static SystemRandom system;
  return random ? *random : system;
}

}  // namespace

McpServer::McpServer(Dispatcher& dispatcher, const McpOptions& options)
    : options_(options),
      services_{dispatcher, options_, clock_or_system(options.clock),
                random_or_system(options.random), deadlines_},
      tools_(services_),
      resources_(services_) {
  add({{.name = "ping", .is_modern = false, .run = [](const McpRequest& request) {
          request.call->answer_result(Json::object());
        }}});
  add(tools_.methods());
  add(resources_.methods());
}

void McpServer::add(std::vector<McpMethod> methods) {
  for (McpMethod& method : methods) methods_.emplace(method.name, std::move(method));
}

McpServer::Handshake McpServer::initialize(const RpcMessage& message) const {
  const auto refuse = [&](std::string text) {
    return Handshake{
        {.message = rpc_error({kRpcInvalidParams, std::move(text), nullptr, message.id})},
        nullptr,
        {}};
  };
  const auto version = string_member(message.params, "protocolVersion");
  if (!version) return refuse("protocolVersion must be a string like \"2025-11-25\".");
  const Json* capabilities = member(message.params, "capabilities");
  if (capabilities && !capabilities->is_object()) return refuse("capabilities must be an object.");
  if (capabilities && dump_rpc(*capabilities).size() > kMaxClientCapabilities)
    return refuse("capabilities are too long.");

  const Protocol& protocol = negotiate_protocol(*version);
  Json result = {{"protocolVersion", protocol.version},
                 {"capabilities", server_capabilities(protocol)},
                 {"serverInfo", server_info(protocol)},
                 {"instructions", server_instructions()}};
  return {{.message = rpc_result(message.id, std::move(result))},
          &protocol,
          capabilities ? *capabilities : Json::object()};
}

void McpServer::request(const McpPeer& peer, const RpcMessage& message,
                        std::shared_ptr<McpReply> reply) {
  const auto call = peer.calls->open(message.id, std::move(reply));
  const auto method = methods_.find(message.method);
  if (method == methods_.end())
    return call->answer_fault(kRpcMethodNotFound, cat("There is no method ", message.method, "."));
  if (!peer.protocol && message.method != "ping")
    return call->answer_fault(kRpcInvalidRequest, "Send initialize first.");

  const Json* cursor = member(message.params, "cursor");
  const bool takes_cursor = message.method == "resources/list";
  if (message.method.ends_with("/list") && cursor && !(takes_cursor && cursor->is_string()))
    return call->answer_fault(kRpcInvalidParams, "This cursor was not given by this list.");
  method->second.run({peer, message, call});
}

void McpServer::notification(const McpPeer& peer, const RpcMessage& message) {
  if (message.method != "notifications/cancelled") return;
  const Json* id = member(message.params, "requestId");
  if (!id) return;
  for (const auto& call : peer.calls->with_id(*id)) {
    call->cancel(CancelReason::Requested);
    if (const std::string job = call->job_id(); !job.empty())
      cancel_job(services_.dispatcher, peer, job);
  }
}

void McpServer::response(const McpPeer& peer, const RpcMessage& message) {
  peer.calls->take_reply(message);
}

}  // namespace indx
