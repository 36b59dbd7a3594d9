#include "cli/mcp_config.hpp"

#include "base/json_text.hpp"
#include "base/text.hpp"
#include "cli/mcp_serve.hpp"
#include "cli/output.hpp"
#include "cli/place.hpp"
#include "cli/serve.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <unistd.h>

namespace indx {
namespace {

/// How a host spells a server; the formats are those of its documentation.
struct Host {
  std::string_view name, title, file;
  std::string_view servers;  ///< the member that holds all servers
  std::string_view url;      ///< the member for the address; empty: it reads no HTTP servers
  std::string_view token;    ///< what stands for the token; empty: a variable is named
  bool names_type = false;   ///< `"type": "stdio"` or `"http"`
  std::string_view remark;
};
constexpr std::string_view kPlainToken = "PASTE_TOKEN_HERE";
constexpr std::array kHosts = {
    Host{"claude-desktop", "Claude Desktop",
         "~/Library/Application Support/Claude/claude_desktop_config.json (macOS), "
         "%APPDATA%\\Claude\\claude_desktop_config.json (Windows)",
         "mcpServers", "", "", false,
         "Settings > Developer > Edit Config opens the file. Restart Claude Desktop afterwards."},
    Host{"claude-code", "Claude Code", ".mcp.json in the project", "mcpServers", "url",
         "${INDX_TOKEN}", true, "In Claude Code, /mcp shows whether the server is connected."},
    Host{"cursor", "Cursor", "~/.cursor/mcp.json, or .cursor/mcp.json in a project", "mcpServers",
         "url", "${env:INDX_TOKEN}", false, "Restart Cursor afterwards."},
    Host{"vscode", "VS Code", ".vscode/mcp.json in the workspace", "servers", "url",
         "${input:indx_token}", true,
         "The command `MCP: List Servers` starts it and shows its log."},
    Host{"windsurf", "Windsurf", "~/.codeium/windsurf/mcp_config.json", "mcpServers", "serverUrl",
         "${env:INDX_TOKEN}", false, "Refresh the MCP servers in Cascade afterwards."},
    Host{"zed", "Zed", "settings.json (command `zed: open settings file`)", "context_servers",
         "url", kPlainToken, false, ""},
    Host{"codex", "Codex CLI", "~/.codex/config.toml", "mcp_servers", "url", "", false,
         "In Codex, /mcp lists the servers."},
    Host{"gemini-cli", "Gemini CLI",
         "~/.gemini/settings.json, or .gemini/settings.json in a project", "mcpServers", "httpUrl",
         "$INDX_TOKEN", false, "In Gemini CLI, /mcp shows whether the server is connected."},
    Host{"generic", "any other host", "the host's list of MCP servers", "mcpServers", "url",
         kPlainToken, false, "Hosts differ in names; these are the most common ones."},
};

const Host* find_host(std::string_view name) {
  const auto found = std::find_if(kHosts.begin(), kHosts.end(),
                                  [&](const Host& host) { return host.name == name; });
  return found == kHosts.end() ? nullptr : &*found;
}

std::vector<std::string> stdio_arguments(const McpEntry& entry) {
  std::vector<std::string> args = {"mcp", "serve", "--stdio"};
  if (entry.vault.empty())
    args.insert(args.end(), {"--remote", entry.url.substr(0, entry.url.rfind("/mcp"))});
  else
    args.insert(args.end(), {"--vault", entry.vault});
  // Forwarded calls have the rights of the token; named ones keep the host from tools beyond them.
  std::vector<std::string> scopes;
  for (const std::string& each : split(entry.scopes, ','))
    if (!each.empty() && !(entry.vault.empty() && each.starts_with("path:")))
      scopes.push_back(each);
  if (!scopes.empty()) args.insert(args.end(), {"--scopes", join(scopes, ",")});
  return args;
}

/// A server that the host starts itself; it forwards to a server when no vault is named.
Json stdio_server(const Host& host, const McpEntry& entry) {
  Json server = Json::object();
  if (host.names_type) server["type"] = "stdio";
  server["command"] = entry.program;
  server["args"] = stdio_arguments(entry);
  if (entry.vault.empty())
    server["env"] = {{"INDX_TOKEN", host.token.empty() ? kPlainToken : host.token}};
  return server;
}

Json http_server(const Host& host, const McpEntry& entry) {
  Json server = Json::object();
  if (host.names_type) server["type"] = "http";
  server[std::string(host.url)] = entry.url;
  server["headers"] = {{"Authorization", cat("Bearer ", host.token)}};
  return server;
}

/// VS Code asks for what an input stands for, and keeps it safe.
Json token_input() {
  return Json::array({{{"type", "promptString"},
                       {"id", "indx_token"},
                       {"description", "Token of the indx server"},
                       {"password", true}}});
}

std::string json_block(const Host& host, const McpEntry& entry) {
  const bool is_http = entry.is_http && !host.url.empty();
  Json block = {{std::string(host.servers),
                 {{"indx", is_http ? http_server(host, entry) : stdio_server(host, entry)}}}};
  const bool asks = host.token.starts_with("${input:") && (is_http || entry.vault.empty());
  if (asks) block["inputs"] = token_input();
  return block.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// A string of JSON is one of TOML too, for what JSON escapes TOML escapes alike; but for DEL.
std::string toml_string(const std::string& text) {
  return replace_all(json_text(text), "\x7f", "\\u007F");
}

std::string toml_block(const Host& host, const McpEntry& entry) {
  std::string text = cat("[", host.servers, ".indx]\n");
  if (entry.is_http)
    return text +
           cat("url = ", toml_string(entry.url), "\nbearer_token_env_var = \"INDX_TOKEN\"\n");
  std::vector<std::string> args;
  for (const auto& arg : stdio_arguments(entry)) args.push_back(toml_string(arg));
  text += cat("command = ", toml_string(entry.program), "\nargs = [", join(args, ", "), "]\n");
  if (entry.vault.empty()) text += cat("env = { INDX_TOKEN = \"", kPlainToken, "\" }\n");
  return text;
}

/// The call that makes a token with the rights of `--scopes`.
std::string token_command(const Host& host, const McpEntry& entry) {
  std::vector<std::string> scopes, globs;
  for (const std::string& each : split(entry.scopes, ',')) {
    const bool is_path = each.starts_with("path:");
    if (!each.empty()) (is_path ? globs : scopes).push_back(is_path ? each.substr(5) : each);
  }
  if (scopes.empty()) scopes = {"vault:read", "vault:write"};
  std::string command = cat("indx token create ", host.name, " --scopes ", join(scopes, ","));
  for (const std::string& glob : globs) command += cat(" --path-globs ", shell_word(glob));
  return command + vault_flag(entry.token_vault);
}

std::string_view token_place(const Host& host) {
  if (host.token == kPlainToken || host.url.empty()) return " and paste it.";
  if (host.token.starts_with("${input:")) return "; VS Code asks for it once.";
  return " and set the variable INDX_TOKEN to it where the host starts.";
}

std::vector<std::string> remarks_of(const Host& host, const McpEntry& entry) {
  std::vector<std::string> remarks;
  if (entry.is_http && host.url.empty())
    remarks.push_back(
        cat(host.title,
            " reads no HTTP servers from this file, so it starts indx, which forwards "
            "to the server."));
  const bool needs_token = entry.is_http || entry.vault.empty();
  if (needs_token)
    remarks.push_back(cat("Make a token with `", token_command(host, entry), "`",
                          entry.token_vault.empty() ? " (FOLDER is the vault of the server)" : "",
                          token_place(host)));
  remarks.insert(remarks.end(), entry.remarks.begin(), entry.remarks.end());
  if (!host.remark.empty()) remarks.emplace_back(host.remark);
  return remarks;
}

/// What the flags ask for; the folder must be there, for a host would only say that indx ended.
Result<McpEntry> entry_of(const Invocation& invocation, const Environment& env) {
  const Json& input = invocation.input;
  McpEntry entry;
  entry.program = own_program();
  entry.is_http = input.value("http", false) || input.contains("url");
  INDX_TRY(mcp_principal(input));  // the server would refuse them
  if (input.contains("scopes")) {
    std::vector<std::string> scopes;
    for (const Json& scope : input["scopes"])
      scopes.emplace_back(trim(scope.get_ref<const std::string&>()));
    entry.scopes = join(scopes, ",");
  }
  const std::string remote = invocation.global.remote.value_or(
      invocation.global.vault ? "" : env("INDX_URL").value_or(""));
  entry.url = input.value("url", remote);
  std::string token_vault = invocation.global.vault.value_or("");
  if (entry.url.empty() && entry.is_http) {
    entry.url = "http://127.0.0.1:8080";
    if (token_vault.empty()) token_vault = env("INDX_VAULT").value_or("");
  }
  if (!entry.url.empty()) {
    if (!entry.url.starts_with("http://") && !entry.url.starts_with("https://"))
      return invalid(cat("`", entry.url,
                         "` is not the address of a server: http://HOST:PORT or "
                         "https://HOST."),
                     Json{{"path", "--url"}});
    entry.url = mcp_endpoint(entry.url);
    if (!token_vault.empty())
      entry.token_vault = std::filesystem::absolute(token_vault).lexically_normal();
    return entry;
  }
  const std::string dir = named_vault(invocation.global, env);
  std::error_code failure;
  const auto path = std::filesystem::canonical(dir, failure);
  if (failure || !std::filesystem::is_directory(path, failure))
    return not_found(
        cat("The vault `", dir, "` is no folder. Name one with --vault or INDX_VAULT."),
        Json{{"path", dir}});
  entry.vault = path.string();
  if (auto remark = current_folder_remark(invocation.global, env); !remark.empty())
    entry.remarks.push_back(std::move(remark));
  if (!env("INDX_AI_PROVIDER").value_or("").empty())
    entry.remarks.emplace_back(
        "For the ai_* tools add INDX_AI_PROVIDER and its variables under \"env\".");
  return entry;
}

Json hosts_json() {
  Json hosts = Json::array();
  for (const Host& host : kHosts)
    hosts.push_back({{"host", host.name},
                     {"title", host.title},
                     {"file", host.file},
                     {"http", !host.url.empty()}});
  return {{"hosts", std::move(hosts)}};
}

int print_hosts(bool as_json) {
  if (as_json) return print_result(hosts_json());
  std::string text;
  for (const Host& host : kHosts)
    text +=
        cat(host.name, std::string(16 - host.name.size(), ' '), host.title, ": ", host.file, "\n");
  return write_all(STDOUT_FILENO, text) ? 0 : 1;
}

}  // namespace

std::vector<std::string> mcp_host_names() {
  std::vector<std::string> names;
  for (const Host& host : kHosts) names.emplace_back(host.name);
  return names;
}

Result<McpBlock> mcp_block(const std::string& name, const McpEntry& entry) {
  const Host* host = find_host(name);
  if (!host) {
    const auto names = mcp_host_names();
    const std::string near = nearest(name, names);
    return invalid(cat("`", name, "` is no host that we know.",
                       near.empty() ? "" : " Did you mean `" + near + "`?",
                       " Known: ", join(names, ", "), "."),
                   Json{{"path", "host"}, {"expected", names}, {"actual", name}});
  }
  const bool is_toml = host->servers == "mcp_servers";
  return McpBlock{name,
                  std::string(host->title),
                  std::string(host->file),
                  is_toml ? "toml" : "json",
                  is_toml ? toml_block(*host, entry) : json_block(*host, entry),
                  remarks_of(*host, entry)};
}

int run_mcp_config(const Invocation& invocation, const Environment& env) {
  const bool as_json = invocation.global.json;
  const std::string host = invocation.input.value("host", "");
  if (host.empty()) return print_hosts(as_json);
  const auto entry = entry_of(invocation, env);
  if (!entry) return print_error(entry.error());
  const auto block = mcp_block(host, *entry);
  if (!block) return print_error(block.error());
  if (as_json)
    return print_result(Json{{"host", block->host},
                             {"file", block->file},
                             {"format", block->format},
                             {"block", block->text},
                             {"remarks", block->remarks}});
  std::string about =
      cat("For ", block->title, ", in ", block->file, "; keep the other servers that it names.\n");
  for (const auto& remark : block->remarks) about += remark + "\n";
  write_all(STDERR_FILENO, about);
  return write_all(STDOUT_FILENO, block->text) ? 0 : 1;
}

std::string own_program() {
  std::error_code failure;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failure);
  return failure ? "indx" : program.string();
}

std::string vault_flag(const std::string& vault) {
  return cat(" --vault ", vault.empty() ? "FOLDER" : shell_word(vault));
}

std::string current_folder_remark(const GlobalFlags& global, const Environment& env) {
  const bool is_named = global.vault || !env("INDX_VAULT").value_or("").empty();
  return is_named ? "" : "No --vault was given: this is the current folder.";
}

std::string mcp_endpoint(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url.ends_with("/mcp") ? url : url + "/mcp";
}

}  // namespace indx
