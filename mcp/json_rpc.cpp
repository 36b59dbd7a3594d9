#include "mcp/json_rpc.hpp"

#include "base/json_text.hpp"
#include "base/number_text.hpp"

#include <utility>

namespace indx {
namespace {

// Deeper input is refused before it is parsed: serialising and checking it would recurse.
constexpr int kMaxNesting = 200;

bool is_nested_too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxNesting) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

bool is_request_id(const Json& id) { return id.is_string() || id.is_number_integer(); }

RpcFault invalid_request(std::string message, Json id = nullptr) {
  return {kRpcInvalidRequest, std::move(message), nullptr, std::move(id)};
}

}  // namespace

std::variant<RpcMessage, RpcFault> parse_rpc(std::string_view text) {
  if (is_nested_too_deep(text)) return invalid_request("The message is nested too deeply.");
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded())
    return RpcFault{kRpcParseError, "The message is not valid JSON in UTF-8.", nullptr, nullptr};
  if (json.is_array())
    return invalid_request(
        "Batches are not part of this protocol version. Send one message at a time.");
  if (!json.is_object()) return invalid_request("A message is a JSON object.");

  const bool has_id = json.contains("id");
  const Json id = has_id && is_request_id(json["id"]) ? json["id"] : Json(nullptr);
  if (json.value("jsonrpc", Json()) != "2.0")
    return invalid_request("jsonrpc must be \"2.0\".", id);
  if (has_id && id.is_null()) return invalid_request("id must be a string or an integer.");

  if (const auto number = oversized_integer(text))
    return invalid_request(number_too_large("The message", *number).message, id);

  RpcMessage message;
  message.id = id;
  if (!json.contains("method")) {
    if (!has_id || (!json.contains("result") && !json.contains("error")))
      return invalid_request("method is missing.", id);
    message.kind = RpcMessage::Kind::Response;
    message.result = json.value("result", Json());
    message.error = json.value("error", Json());
    return message;
  }
  if (!json["method"].is_string()) return invalid_request("method must be a string.", id);
  message.kind = has_id ? RpcMessage::Kind::Request : RpcMessage::Kind::Notification;
  message.method = json["method"].get<std::string>();
  if (json.contains("params") && !json["params"].is_null()) {
    if (!json["params"].is_object())
      return RpcFault{kRpcInvalidParams, "params must be an object.", nullptr, id};
    message.params = std::move(json["params"]);
  }
  return message;
}

Json rpc_result(const Json& id, Json result) {
  Json message = {{"jsonrpc", "2.0"}, {"id", id}};
  message["result"] = std::move(result);
  return message;
}

Json rpc_error(const RpcFault& fault) {
  Json message = {{"jsonrpc", "2.0"},
                  {"id", fault.id},
                  {"error", {{"code", fault.code}, {"message", fault.message}}}};
  if (!fault.data.is_null()) message["error"]["data"] = fault.data;
  return message;
}

Json rpc_request(const Json& id, std::string_view method, Json params) {
  Json message = {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}};
  message["params"] = std::move(params);
  return message;
}

Json rpc_notification(std::string_view method, Json params) {
  Json message = {{"jsonrpc", "2.0"}, {"method", method}};
  message["params"] = std::move(params);
  return message;
}

std::string dump_rpc(const Json& message) { return json_text(message); }

}  // namespace indx
