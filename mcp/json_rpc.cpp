#include "mcp/json_rpc.hpp"

#include "base/json_depth.hpp"
#include "base/json_text.hpp"
#include "base/number_text.hpp"
#include "base/text.hpp"

#include <optional>
#include <utility>

namespace indx {
namespace {

// Deeper input is refused before it is parsed: serialising and checking it would recurse.
constexpr int kMaxNesting = 200;
constexpr std::size_t kMaxBatch = 1000;

bool is_request_id(const Json& id) { return id.is_string() || id.is_number_integer(); }

RpcFault invalid_request(std::string message, Json id = nullptr) {
  return {kRpcInvalidRequest, std::move(message), nullptr, std::move(id)};
}

RpcFault no_json() {
  return {kRpcParseError, "The message is not valid JSON in UTF-8.", nullptr, nullptr};
}

/// The value of the text, or why there is none.
std::variant<Json, RpcFault> parse_json(std::string_view text) {
  if (holds_zero_byte(text)) return no_json();
  if (is_nested_deeper(text, kMaxNesting)) {
    if (!Json::accept(text)) return no_json();  // makes no value, and does not recurse
    return invalid_request("The message is nested too deeply.");
  }
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return no_json();
  return json;
}

/// How many members a message has as it was written, repeated ones as often as they are there.
struct Members {
  std::size_t own = 0, all = 0;  ///< all: with those of the objects in it
};

/// Of each message in the text of valid JSON. `levels`: how many brackets each message stands in.
std::vector<Members> written_members(std::string_view text, int levels) {
  std::vector<Members> counts(1);
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i)
        if (text[i] == '\\') ++i;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ':') {
      ++counts.back().all;
      if (depth == levels + 1) ++counts.back().own;
    } else if (c == ',' && depth == levels && levels > 0) {
      counts.emplace_back();
    }
  }
  return counts;
}

std::size_t kept_members(const Json& json) {
  std::size_t count = json.is_object() ? json.size() : 0;
  if (json.is_structured())
    for (const Json& each : json) count += kept_members(each);
  return count;
}

/// `oversized`: a number of the text that would be rounded. `members`: as they were written.
RpcParsed read_message(Json json, const std::optional<std::string_view>& oversized,
                       const Members& members) {
  if (!json.is_object()) return invalid_request("A message is a JSON object.");
  const bool has_id = json.contains("id");
  const Json id = has_id && is_request_id(json["id"]) ? json["id"] : Json(nullptr);
  if (json.value("jsonrpc", Json()) != "2.0")
    return invalid_request("jsonrpc must be \"2.0\".", id);
  // Nobody may answer those, whatever their id is.
  const bool is_response =
      !json.contains("method") && (json.contains("result") || json.contains("error"));
  if (has_id && id.is_null() && !is_response)
    return invalid_request("id must be a string or an integer.");
  // Which id is meant, nobody can tell; so the answer bears none.
  if (has_id && members.own != json.size() && !is_response)
    return invalid_request("The message has a member twice, such as id or method.");
  // Likewise of the arguments: who looks at a call on its way may have read the other one.
  if (has_id && members.all != kept_members(json) && !is_response)
    return RpcFault{kRpcInvalidParams, "An object in params has a member twice.", nullptr, id};
  const bool is_notification = !has_id && json.contains("method") && json["method"].is_string();
  if (oversized && !is_notification && !is_response)
    return invalid_request(number_too_large("The message", *oversized).message, id);

  RpcMessage message;
  message.id = id;
  if (!json.contains("method") && !is_response) return invalid_request("method is missing.", id);
  if (is_response) {
    message.kind = RpcMessage::Kind::Response;
    message.result = json.value("result", Json());
    message.error = json.value("error", Json());
    return message;
  }
  if (!json["method"].is_string()) return invalid_request("method must be a string.", id);
  message.kind = has_id ? RpcMessage::Kind::Request : RpcMessage::Kind::Notification;
  message.method = json["method"].get<std::string>();
  if (!json.contains("params") || json["params"].is_null()) return message;
  if (json["params"].is_object() && !oversized)
    message.params = std::move(json["params"]);
  else if (!is_notification)  // nobody may answer those, so what they say is left out
    return RpcFault{kRpcInvalidParams, "params must be an object.", nullptr, id};
  return message;
}

}  // namespace

RpcParsed parse_rpc(std::string_view text) {
  auto parsed = parse_json(text);
  if (auto* fault = std::get_if<RpcFault>(&parsed)) return std::move(*fault);
  auto& json = std::get<Json>(parsed);
  if (json.is_array()) return no_rpc_batches();
  return read_message(std::move(json), oversized_integer(text), written_members(text, 0).front());
}

bool is_rpc_batch(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '[';
}

std::variant<std::vector<RpcParsed>, RpcFault> parse_rpc_batch(std::string_view text) {
  auto parsed = parse_json(text);
  if (auto* fault = std::get_if<RpcFault>(&parsed)) return std::move(*fault);
  auto& json = std::get<Json>(parsed);
  if (!json.is_array() || json.empty())
    return invalid_request("A batch is an array of at least one message.");
  if (json.size() > kMaxBatch)
    return invalid_request(cat("A batch has at most ", kMaxBatch, " messages."));
  const auto oversized = oversized_integer(text);
  const auto members = written_members(text, 1);
  std::vector<RpcParsed> messages;
  for (std::size_t i = 0; i < json.size(); ++i)
    messages.push_back(read_message(std::move(json[i]), oversized, members.at(i)));
  return messages;
}

bool wants_answer(const RpcParsed& parsed) {
  const auto* message = std::get_if<RpcMessage>(&parsed);
  return !message || message->kind == RpcMessage::Kind::Request;
}

RpcFault no_rpc_batches() {
  return invalid_request(
      "Batches are not part of this protocol version. Send one message at a time.");
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
