#pragma once
#include "base/json.hpp"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace indx {

/// JSON-RPC 2.0 codes, and the one of MCP for resources.
inline constexpr int kRpcParseError = -32700;
inline constexpr int kRpcInvalidRequest = -32600;
inline constexpr int kRpcMethodNotFound = -32601;
inline constexpr int kRpcInvalidParams = -32602;
inline constexpr int kRpcInternalError = -32603;
inline constexpr int kRpcResourceNotFound = -32002;
/// Of the modern era.
inline constexpr int kRpcHeaderMismatch = -32020;
inline constexpr int kRpcMissingCapability = -32021;
inline constexpr int kRpcUnsupportedVersion = -32022;
/// Ours, outside the reserved range: the principal lacks a scope.
inline constexpr int kRpcForbidden = 403;

/// One message from the peer. `id` keeps its exact type and value; `params` is an object, empty
/// when absent or null.
struct RpcMessage {
  enum class Kind : std::uint8_t { Request, Notification, Response };
  Kind kind = Kind::Request;
  Json id;
  std::string method;
  Json params = Json::object();
  Json result, error;  ///< of a response; one of them is null
};

/// Why a message cannot be handled; `id` is null when it could not be read.
struct RpcFault {
  int code = kRpcInvalidRequest;
  std::string message;
  Json data;  ///< null: none
  Json id;
};

using RpcParsed = std::variant<RpcMessage, RpcFault>;

/// Reads one message; an array is a fault, see parse_rpc_batch.
RpcParsed parse_rpc(std::string_view text);

/// Whether the text is an array, which only some protocol versions know (`Protocol::has_batch`).
bool is_rpc_batch(std::string_view text);
/// Reads an array of messages, each for itself. A fault for all: it is not JSON, empty, or of more
/// than 1,000 messages.
std::variant<std::vector<RpcParsed>, RpcFault> parse_rpc_batch(std::string_view text);
/// A request, or what cannot be read.
bool wants_answer(const RpcParsed& parsed);
/// What a peer is told whose version has no batches.
RpcFault no_rpc_batches();

Json rpc_result(const Json& id, Json result);
Json rpc_error(const RpcFault& fault);
Json rpc_request(const Json& id, std::string_view method, Json params);
Json rpc_notification(std::string_view method, Json params);

/// One line without raw newlines; invalid UTF-8 in strings becomes U+FFFD.
std::string dump_rpc(const Json& message);

}  // namespace indx
