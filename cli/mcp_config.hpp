#pragma once
#include "base/config.hpp"
#include "cli/args.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// The MCP hosts whose configuration we know.
std::vector<std::string> mcp_host_names();

/// What a host is told to use.
struct McpEntry {
  std::string program;  ///< absolute path of indx
  std::string vault;    ///< absolute; empty: forward to `url`
  std::string url;      ///< of the MCP endpoint; empty: stdio on the vault
  bool is_http = false;
  std::string scopes;       ///< `vault:read,path:Public/**`; empty: the default
  std::string token_vault;  ///< of the server at `url`, where tokens are made; empty: not known
  std::vector<std::string> remarks;  ///< what flags and environment give reason to say
};

/// The text to paste for a host, what file it belongs into, and what else to do.
struct McpBlock {
  std::string host, title, file, format;  ///< format: json or toml
  std::string text;                       ///< ends with a newline
  std::vector<std::string> remarks;
};
/// `validation_failed` for a host that we do not know, naming the nearest.
Result<McpBlock> mcp_block(const std::string& host, const McpEntry& entry);

/// `indx mcp config [HOST]`: the block on stdout, what to do with it on stderr; without HOST the
/// hosts. Gives the exit code.
int run_mcp_config(const Invocation& invocation, const Environment& env);

/// Absolute path of this program.
std::string own_program();
/// ` --vault /home/me/Notes`, for a command on the vault of a server; FOLDER stands for one that is
/// not known.
std::string vault_flag(const std::string& vault);
/// `No --vault was given: …`; empty where INDX_VAULT, at least, names one.
std::string current_folder_remark(const GlobalFlags& global, const Environment& env);
/// `http://127.0.0.1:8080` as `http://127.0.0.1:8080/mcp`.
std::string mcp_endpoint(std::string url);

}  // namespace indx
