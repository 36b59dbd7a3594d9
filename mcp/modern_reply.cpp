#include "mcp/modern_reply.hpp"

#include "mcp/operation_call.hpp"

#include <array>
#include <optional>
#include <utility>

namespace indx {
namespace {

constexpr std::string_view kServerInfoKey = "io.modelcontextprotocol/serverInfo";
constexpr int kUntilConfigured = 60'000;  // changes only with the configuration of the server

/// What clients may keep, and for how many milliseconds. Notes change at any time.
constexpr std::array<std::pair<std::string_view, int>, 6> kTtl = {
    {{"server/discover", kUntilConfigured},
     {"tools/list", kUntilConfigured},
     {"prompts/list", kUntilConfigured},
     {"resources/templates/list", kUntilConfigured},
     {"resources/list", 0},
     {"resources/read", 0}}};

std::optional<int> ttl_of(std::string_view method) {
  for (const auto& [each, ttl] : kTtl)
    if (each == method) return ttl;
  return std::nullopt;
}

int http_status_of(int code) {
  switch (code) {
    case kRpcMethodNotFound:
      return 404;
    case kRpcMissingCapability:
      return 400;
    default:
      return 200;
  }
}

}  // namespace

void complete_modern_result(Json& result, std::string_view method, const Protocol& protocol) {
  result.emplace("resultType", "complete");
  Json& meta = result["_meta"];
  if (!meta.is_object()) meta = Json::object();
  meta.emplace(kServerInfoKey, server_info(protocol));
  const auto ttl = ttl_of(method);
  if (!protocol.has_caching_hints || !ttl || result["resultType"] != "complete") return;
  result.emplace("ttlMs", *ttl);
  result.emplace("cacheScope", "private");  // a list shows what its token may see
}

void ModernReply::answer(McpAnswer answer) {
  if (const auto result = answer.message.find("result"); result != answer.message.end()) {
    complete_modern_result(*result, method_, protocol_);
  } else if (const Json* error = member(answer.message, "error");
             error && answer.http_status == 200) {
    answer.http_status = http_status_of(error->value("code", kRpcInternalError));
  }
  transport_->answer(std::move(answer));
}

}  // namespace indx
