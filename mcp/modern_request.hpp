#pragma once
#include "mcp/json_rpc.hpp"
#include "mcp/protocol.hpp"

#include <string>
#include <string_view>
#include <variant>

namespace indx {

/// The modern era (2026-07-28): a request says in `_meta` what it is made under, and over HTTP
/// repeats it in headers, for who routes without reading bodies.

bool is_modern_version(std::string_view version);
/// Whether a message belongs to the modern era: `_meta` or the header names its version, or only
/// that era has the method. A bare initialize does not.
bool is_modern(const RpcMessage& message, std::string_view version_header = {});

/// What a request is handled under.
struct ModernTerms {
  const Protocol* protocol = nullptr;
  Json client_capabilities;
};

/// The headers that repeat the body; empty: missing.
struct ModernHeaders {
  std::string version, method, name;
};

/// Reads `_meta` of a request and compares the headers (null: the transport has none) with the
/// body. Faults, each with the id: kRpcInvalidParams for what is missing or of a wrong type,
/// kRpcHeaderMismatch, kRpcUnsupportedVersion with `{supported, requested}`. All are 400 over HTTP.
std::variant<ModernTerms, RpcFault> read_modern_terms(const RpcMessage& request,
                                                      const ModernHeaders* headers);

}  // namespace indx
