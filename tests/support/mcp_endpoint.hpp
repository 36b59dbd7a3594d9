#pragma once
#include "base/text.hpp"
#include "mcp/http_transport.hpp"
#include "tests/support/fake_mcp_dispatcher.hpp"
#include "tests/support/fake_mcp_exchange.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace indx {

using McpHeaders = std::map<std::string, std::string>;
using McpExchange = std::shared_ptr<FakeMcpExchange>;

inline Json mcp_request(const Json& id, const std::string& method,
                        const Json& params = Json::object()) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}};
}

inline Json mcp_cancel(const Json& request_id) {
  return {{"jsonrpc", "2.0"},
          {"method", "notifications/cancelled"},
          {"params", {{"requestId", request_id}}}};
}

/// One endpoint and the clients that talk to it.
class McpEndpoint {
 public:
  explicit McpEndpoint(McpOptions options = {}) {
    options.clock = &clock;
    mcp = make_mcp_http(dispatcher, options);
    mcp->add_routes(router);
  }

  McpExchange send(const std::string& method, const std::string& body, McpHeaders headers = {},
                   const std::string& path = "/mcp") {
    HttpRequest request;
    request.method = method;
    request.path = path;
    request.is_loopback_listener = true;
    request.body = body;
    request.headers = {{"authorization", "Bearer indx_writer"},
                       {"content-type", "application/json"},
                       {"accept", "application/json, text/event-stream"}};
    for (auto& [name, value] : headers) {
      if (value.empty())
        request.headers.erase(name);
      else
        request.headers[name] = std::move(value);
    }
    auto exchange = std::make_shared<FakeMcpExchange>();
    router.handle(request, Responder(exchange));
    return exchange;
  }
  McpExchange post(const Json& message, McpHeaders headers = {}) {
    return send("POST", message.dump(), std::move(headers));
  }
  McpExchange get(McpHeaders headers) { return send("GET", "", std::move(headers)); }

  /// Opens a session and gives the headers that carry it.
  McpHeaders open(const std::string& token = "indx_writer",
                  const std::string& version = "2025-11-25") {
    const auto exchange =
        post(mcp_request("i", "initialize",
                         {{"protocolVersion", version}, {"capabilities", Json::object()}}),
             {{"authorization", "Bearer " + token}});
    REQUIRE(exchange->status() == 200);
    return {{"authorization", "Bearer " + token},
            {"mcp-session-id", exchange->header("Mcp-Session-Id")},
            {"mcp-protocol-version", version}};
  }

  FakeMcpDispatcher dispatcher;
  McpTestClock clock;
  std::unique_ptr<McpHttp> mcp;
  Router router;
};

inline McpHeaders with_header(McpHeaders headers, const std::string& name,
                              const std::string& value) {
  headers[name] = value;
  return headers;
}

inline Json mcp_json(const McpExchange& exchange) {
  return Json::parse(exchange->body(), nullptr, false);
}

/// The messages of an event stream, in order.
inline std::vector<Json> mcp_messages(const McpExchange& exchange) {
  std::vector<Json> messages;
  for (const std::string& line : split(exchange->body(), '\n'))
    if (line.starts_with("data: {")) messages.push_back(Json::parse(line.substr(6)));
  return messages;
}

inline Event progress_event(std::int64_t done, std::int64_t total) {
  Event event;
  event.kind = "job.progress";
  event.job_id = "J1";
  event.data = {{"done", done}, {"total", total}, {"unit", "notes"}};
  return event;
}

inline Json with_progress_token(const Json& params, const Json& token) {
  Json made = params;
  made["_meta"] = {{"progressToken", token}};
  return made;
}

}  // namespace indx
