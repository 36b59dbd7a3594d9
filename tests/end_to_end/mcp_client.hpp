#pragma once
#include "tests/end_to_end/running_server.hpp"

#include <string>
#include <utility>
#include <vector>

namespace indx {

/// A client of /mcp in one session of the legacy era.
class McpHttpClient {
 public:
  explicit McpHttpClient(const RunningServer& server, std::string token = "",
                         const std::string& version = "2025-11-25")
      : server_(server), token_(token.empty() ? server.token() : std::move(token)) {
    const auto hello = post("initialize", {{"protocolVersion", version},
                                           {"capabilities", Json::object()},
                                           {"clientInfo", {{"name", "t"}, {"version", "1"}}}});
    if (const auto id = hello.headers.find("mcp-session-id"); id != hello.headers.end())
      headers_.emplace_back("Mcp-Session-Id", id->second);
  }

  RunningServer::Reply post(const std::string& method, const Json& params) const {
    return server_.call_as(token_, "POST", "/mcp",
                           {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}},
                           headers_);
  }
  Json list() const { return post("tools/list", Json::object()).body["result"]["tools"]; }
  Json call(const std::string& tool, const Json& arguments) const {
    return post("tools/call", {{"name", tool}, {"arguments", arguments}}).body["result"];
  }

 private:
  const RunningServer& server_;
  const std::string token_;
  std::vector<std::pair<std::string, std::string>> headers_ = {
      {"Accept", "application/json, text/event-stream"}};
};

}  // namespace indx
