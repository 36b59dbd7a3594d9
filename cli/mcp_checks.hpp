#pragma once
#include "base/config.hpp"
#include "base/result.hpp"
#include "cli/mcp_doctor.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace indx {

// What `indx mcp doctor` looks at on either transport.

/// A request of MCP and its result.
using McpAsk = std::function<Result<Json>(std::string_view method, Json params)>;

Json initialize_params(std::string_view version);
std::string newest_legacy_version();

/// What tools/list gave: how many, how large, and what they allow.
void check_catalog(McpReport& report, const Json& result);
/// Whether the server has a provider and, where its configuration is known here (else null), why
/// not.
void check_ai(McpReport& report, const McpAsk& ask, const Json& catalog, const AiConfig* config);
/// Lists one note, which takes the whole way from the protocol to the index. A first indexing is
/// waited for, but not to its end in a large vault.
void check_read(McpReport& report, const McpAsk& ask);

/// A server at this address. `vault`: of the server; empty: it is not known here.
void check_http(McpReport& report, const std::string& base, const std::string& token,
                const std::string& vault);

}  // namespace indx
