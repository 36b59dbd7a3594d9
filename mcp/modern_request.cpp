#include "mcp/modern_request.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "mcp/logging.hpp"
#include "mcp/operation_call.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace indx {
namespace {

constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view kOnlyModern = "server/discover";

/// The methods whose Mcp-Name repeats a member of params.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kNamed = {
    {{"tools/call", "name"},
     {"prompts/get", "name"},
     {"resources/read", "uri"},
     {"tasks/get", "taskId"},
     {"tasks/update", "taskId"},
     {"tasks/cancel", "taskId"}}};

std::string_view named_by(std::string_view method) {
  for (const auto& [each, key] : kNamed)
    if (each == method) return key;
  return {};
}

RpcFault invalid_params(const RpcMessage& request, std::string text) {
  return {kRpcInvalidParams, std::move(text), nullptr, request.id};
}

/// What is wrong with `_meta` apart from the version it names.
std::optional<RpcFault> fault_of_meta(const RpcMessage& request, const Json& meta) {
  const auto missing = [&](std::string_view key, std::string_view type) {
    return invalid_params(request, cat("params._meta[\"", key, "\"] must be ", type, '.'));
  };
  if (!string_member(meta, kVersionKey))
    return missing(kVersionKey, "a string like \"2026-07-28\"");
  const Json* capabilities = member(meta, kCapabilitiesKey);
  if (!capabilities || !capabilities->is_object())
    return missing(kCapabilitiesKey, "an object; {} declares nothing");
  if (dump_rpc(*capabilities).size() > kMaxClientCapabilities)
    return invalid_params(request, "The client capabilities are too long.");
  if (member(meta, kLogLevelMeta)) {
    const auto level = string_member(meta, kLogLevelMeta);
    if (!level || !parse_mcp_log_level(*level))
      return missing(kLogLevelMeta, cat("one of ", mcp_log_levels()));
  }
  return std::nullopt;
}

RpcFault unsupported_version(const RpcMessage& request, const std::string& version) {
  const std::string text =
      find_protocol(version)
          ? cat("Version ", version, " is spoken only after initialize, without it in _meta.")
          : std::string("This protocol version is not supported.");
  return {kRpcUnsupportedVersion,
          text,
          {{"supported", protocol_versions()}, {"requested", version}},
          request.id};
}

/// The value that a header stands for; nullopt: it has bytes that a header cannot have, or is not
/// base64 though it says so.
std::optional<std::string> header_value(std::string_view header) {
  constexpr std::string_view kBegin = "=?base64?", kEnd = "?=";
  std::string_view text = trim(header);
  const bool is_plain = std::all_of(text.begin(), text.end(),
                                    [](char c) { return (c >= ' ' && c <= '~') || c == '\t'; });
  if (!is_plain) return std::nullopt;
  if (text.size() < kBegin.size() + kEnd.size() || !text.starts_with(kBegin) ||
      !text.ends_with(kEnd))
    return std::string(text);
  text.remove_prefix(kBegin.size());
  text.remove_suffix(kEnd.size());
  auto decoded = base64_decode(text);
  return decoded.ok ? std::optional(std::move(decoded.bytes)) : std::nullopt;
}

RpcFault mismatch(const RpcMessage& request, std::string_view header, const std::string& given,
                  std::string_view body) {
  if (trim(given).empty())
    return RpcFault{kRpcHeaderMismatch,
                    cat("The header ", header, " is missing; it repeats ", body, '.'), nullptr,
                    request.id};
  return RpcFault{kRpcHeaderMismatch,
                  cat("The header ", header, " does not agree with ", body, '.'), nullptr,
                  request.id};
}

std::optional<RpcFault> fault_of_name(const RpcMessage& request, const std::string& header) {
  const std::string_view key = named_by(request.method);
  if (key.empty()) return std::nullopt;
  const auto name = string_member(request.params, key);
  if (!name) return invalid_params(request, cat("params.", key, " must be a string."));
  if (!trim(header).empty() && header_value(header) == *name) return std::nullopt;
  return mismatch(request, "Mcp-Name", header, cat("params.", key));
}

}  // namespace

bool is_modern_version(std::string_view version) {
  const Protocol* protocol = find_protocol(version);
  return protocol && protocol->era == Era::Modern;
}

bool is_modern(const RpcMessage& message, std::string_view version_header) {
  if (message.method == kOnlyModern || is_modern_version(trim(version_header))) return true;
  const Json* meta = member(message.params, "_meta");
  return meta && meta->is_object() && meta->contains(kVersionKey);
}

std::variant<ModernTerms, RpcFault> read_modern_terms(const RpcMessage& request,
                                                      const ModernHeaders* headers) {
  const Json* given = member(request.params, "_meta");
  const Json& meta = given ? *given : Json::object();
  if (auto fault = fault_of_meta(request, meta)) return std::move(*fault);

  const std::string version = *string_member(meta, kVersionKey);
  if (headers && trim(headers->version) != version)
    return mismatch(request, "MCP-Protocol-Version", headers->version, "the version in _meta");
  if (!is_modern_version(version)) return unsupported_version(request, version);
  if (headers) {
    if (trim(headers->method) != request.method)
      return mismatch(request, "Mcp-Method", headers->method, "the method");
    if (auto fault = fault_of_name(request, headers->name)) return std::move(*fault);
  }
  return ModernTerms{find_protocol(version), *member(meta, kCapabilitiesKey)};
}

}  // namespace indx
