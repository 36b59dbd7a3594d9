#include "mcp/server.hpp"

#include "base/log.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#ifdef INDX_MCP_FIXTURES
#include "mcp/conformance_fixtures.hpp"
#endif
#include "mcp/modern_reply.hpp"
#include "mcp/operation_call.hpp"
#include "mcp/task_listen.hpp"

#include <optional>
#include <utility>

namespace indx {
namespace {

const Clock& clock_or_system(const Clock* clock) {
  static const SystemClock system;
  return clock ? *clock : system;
}

Json discovery(const Protocol& protocol) {
  return {{"supportedVersions", protocol_versions()},
          {"capabilities", server_capabilities(protocol)},
          {"instructions", server_instructions()}};
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
      follower_(std::make_shared<JobFollower>(dispatcher)),
      tasks_(services_, follower_),
      tools_(services_, follower_),
      resources_(services_),
      subscriptions_(services_),
      prompts_(services_),
      completions_(services_) {
  add({{.name = "ping", .is_modern = false, .run = [](const McpRequest& request) {
          request.call->answer_result(Json::object());
        }}});
  add({{.name = "server/discover", .is_legacy = false, .run = [](const McpRequest& request) {
          request.call->answer_result(discovery(*request.peer.protocol));
        }}});
  subscriptions_.add_part(task_listen_part(dispatcher, follower_));
  add(tools_.methods());
  add(tasks_.methods());
  add(resources_.methods());
  add(subscriptions_.methods());
  add(prompts_.methods());
  add(completions_.methods());
  add({set_level_method()});
#ifdef INDX_MCP_FIXTURES
  if (options_.has_fixtures)
    for (auto& [key, method] : methods_) method = with_conformance_fixtures(method, services_);
#endif
}

void McpServer::add(const std::vector<McpMethod>& methods) {
  for (const McpMethod& method : methods) {
    if (method.is_legacy) methods_.emplace(MethodKey(Era::Legacy, method.name), method);
    if (method.is_modern) methods_.emplace(MethodKey(Era::Modern, method.name), method);
  }
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

std::shared_ptr<OpenCall> McpServer::request(const McpPeer& peer, const RpcMessage& message,
                                             std::shared_ptr<McpReply> reply) {
  if (peer.protocol && peer.protocol->era == Era::Modern)
    reply = std::make_shared<ModernReply>(std::move(reply), message, *peer.protocol);
  auto call = peer.calls->open(message.id, std::move(reply));
  try {
    run({peer, message, call});
  } catch (const std::exception& error) {  // one bad call must not end the service of all
    log_error("a method of MCP threw", {{"method", message.method}, {"what", error.what()}});
    call->answer_fault(kRpcInternalError, "The server failed to handle this request.");
  }
  return call;
}

void McpServer::run(const McpRequest& request) const {
  const auto& [peer, message, call] = request;
  const Era era = peer.protocol ? peer.protocol->era : Era::Legacy;
  const auto method = methods_.find({era, message.method});
  if (method == methods_.end())
    return call->answer_fault(
        kRpcMethodNotFound,
        cat("There is no method ", prefix_at_grapheme(message.method, kMaxShownName), "."));
  if (!peer.protocol && message.method != "ping")
    return call->answer_fault(kRpcInvalidRequest, "Send initialize first.");

  const Json* cursor = member(message.params, "cursor");
  if (cursor && *cursor == "") cursor = nullptr;  // hosts fill in what they have no value for
  const bool takes_cursor = message.method == "resources/list" || message.method == "tasks/list";
  if (message.method.ends_with("/list") && cursor && !(takes_cursor && cursor->is_string()))
    return call->answer_fault(kRpcInvalidParams, "This cursor was not given by this list.");
  const bool tells_what_there_is =
      message.method.ends_with("/list") || message.method == "prompts/get";
  if (!tells_what_there_is) return method->second.run(request);
  McpRequest granted = request;
  granted.peer.principal = services_.dispatcher.as_granted(peer.principal);
  method->second.run(granted);
}

void McpServer::notification(const McpPeer& peer, const RpcMessage& message) {
  if (message.method == "notifications/initialized") return subscriptions_.welcome(peer);
  if (message.method != "notifications/cancelled") return;
  const Json* id = member(message.params, "requestId");
  if (!id) return;
  for (const auto& call : peer.calls->with_id(*id)) cancel(peer, call);
}

void McpServer::cancel(const McpPeer& peer, const std::shared_ptr<OpenCall>& call) {
  if (call->is_ended()) return;
  call->cancel(CancelReason::Requested);
  if (const std::string job = call->job_id(); !job.empty())
    cancel_job(services_.dispatcher, peer, job);
}

void McpServer::response(const McpPeer& peer, const RpcMessage& message) {
  peer.calls->take_reply(message);
}

}  // namespace indx
