#pragma once
#include "http/router.hpp"
#include "mcp/json_rpc.hpp"

#include <string>
#include <string_view>

namespace indx {

/// HTTP heads and bodies of the MCP endpoint.

/// The header that names the protocol version, as requests hold it.
inline constexpr const char* kVersionHeader = "mcp-protocol-version";

/// `application/json` of `Application/JSON; charset=utf-8`
std::string media_type(std::string_view text);

/// What the client can read; JSON when it does not say.
struct Accepted {
  bool json = false;
  bool sse = false;      ///< asked for by name, or the only form that it takes
  bool any_sse = false;  ///< may come where nothing else is to be had: a GET
};
Accepted accepted_types(const HttpRequest& request);

HttpResponse rpc_response(int status, const Json& message, const HttpRequest& request);
HttpResponse rpc_failure(int status, std::string message, const HttpRequest& request,
                         int code = kRpcInvalidRequest, const Json& id = nullptr);

}  // namespace indx
