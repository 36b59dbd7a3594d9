#include "cli/mcp_doctor.hpp"

#include "ai/provider.hpp"
#include "base/http_client.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "cli/child_process.hpp"
#include "cli/mcp_config.hpp"
#include "cli/output.hpp"
#include "cli/place.hpp"
#include "cli/serve.hpp"
#include "mcp/json_rpc.hpp"
#include "mcp/protocol.hpp"

#include <filesystem>
#include <optional>
#include <thread>
#include <unistd.h>

namespace indx {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kHandshakeLimit{10'000}, kGoodHandshake{1'000}, kAnswerLimit{20'000};
constexpr milliseconds kIndexingLimit{3'000}, kIndexingPause{100};
constexpr seconds kEndLimit{5};
constexpr std::size_t kMaxCatalogBytes = 60'000;

Json initialize_params(std::string_view version) {
  return {{"protocolVersion", version},
          {"capabilities", Json::object()},
          {"clientInfo", {{"name", "indx mcp doctor"}, {"version", "1"}}}};
}

std::string newest_legacy_version() { return std::string(negotiate_protocol("").version); }

bool has_tool(const Json& tools, std::string_view name) {
  for (const Json& tool : tools)
    if (tool.is_object() && tool.value("name", "") == name) return true;
  return false;
}

/// What tools/list gave: how many, how large, and what they allow.
void check_catalog(McpReport& report, const Json& result) {
  const Json tools = result.value("tools", Json::array());
  if (!tools.is_array() || tools.empty())
    return report.fail("tools", "The catalog is empty.",
                       "Give the token or --scopes at least vault:read.");
  const std::size_t bytes = result.dump().size();
  const std::string finding = cat(tools.size(), " tools, ", bytes / 1000,
                                  " kB; reads: ", has_tool(tools, "note_read") ? "yes" : "no",
                                  ", writes: ", has_tool(tools, "note_write") ? "yes" : "no",
                                  ", admin: ", has_tool(tools, "vault_reindex") ? "yes" : "no");
  if (bytes > kMaxCatalogBytes)
    return report.warn("tools", finding,
                       "Hosts may cut so long a catalog; give fewer scopes where they do.");
  report.ok("tools", finding);
}

/// The answer of a tool: its structured content, or why there is none.
Result<Json> structured_of(const Json& result) {
  if (!result.value("isError", false)) return result.value("structuredContent", Json::object());
  const Json content = result.value("content", Json::array());
  const bool has_text = content.is_array() && !content.empty() && content[0].is_object();
  return make_error(Reason::Internal, has_text ? content[0].value("text", "") : "no text");
}

template <typename Ask>
Result<Json> ask_tool(const Ask& ask, std::string_view name, Json arguments) {
  const Result<Json> answer =
      ask("tools/call", Json{{"name", name}, {"arguments", std::move(arguments)}});
  return answer ? structured_of(*answer) : answer;
}

/// `no ai_* tools are listed.`, or which: some need no model for text.
std::string listed_ai_tools(const Json& catalog) {
  std::vector<std::string> names;
  for (const Json& tool : catalog.value("tools", Json::array()))
    if (const auto name = tool.value("name", ""); name.starts_with("ai_")) names.push_back(name);
  if (names.empty()) return "no ai_* tools are listed.";
  return cat("only these ai_* tools are listed: ", join(names, ", "), ".");
}

/// Whether the server has a provider and, where its configuration is known here, why not.
template <typename Ask>
void check_ai(McpReport& report, const Ask& ask, const Json& catalog, const AiConfig* config) {
  const Result<Json> status = ask_tool(ask, "vault_status", Json::object());
  if (!status) return;  // as what is read next, which tells why
  const Json ai = status->value("ai", Json::object());
  if (ai.value("enabled", false))
    return report.ok("ai", cat(ai.value("provider", ""), ", model ", ai.value("model", "")));
  std::string listed = listed_ai_tools(catalog);
  if (!config)
    return report.ok("ai", cat("off: the server uses no provider, so ", listed,
                               " If one is configured there, the server's log says why."));
  if (config->provider.empty())
    return report.ok("ai", cat("off: no provider is configured, so ", listed));
  if (!config->enabled) return report.ok("ai", cat("off: ai.enabled is false, so ", listed));
  std::string lack = lack_of_provider(*config);
  if (lack.empty())
    lack =
        "the process that holds the vault has no provider; set INDX_AI_PROVIDER and its variables "
        "where that one is started";
  listed.front() = listed.front() == 'n' ? 'N' : 'O';
  report.warn("ai", cat("off: ", lack, ". ", listed), "");
}

/// ` (3 of 120 files)`; empty: not counted yet.
std::string indexed_so_far(const Json& list) {
  const Json indexed = list.value("indexed", Json::object());
  const auto total = indexed.value("total", std::int64_t{0});
  return total == 0 ? ""
                    : cat(" (", indexed.value("done", std::int64_t{0}), " of ", total, " files)");
}

/// Lists one note, which takes the whole way from the protocol to the index. A first indexing is
/// waited for, but not to its end in a large vault.
template <typename Ask>
void check_read(McpReport& report, const Ask& ask) {
  const auto is_indexing = [](const Json& list) { return list.value("indexing", Json()) == true; };
  const auto until = std::chrono::steady_clock::now() + kIndexingLimit;
  Result<Json> list = ask_tool(ask, "note_list", {{"limit", 1}});
  while (list && is_indexing(*list) && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(kIndexingPause);
    list = ask_tool(ask, "note_list", {{"limit", 1}});
  }
  if (!list)
    return report.fail("read", cat("note_list failed: ", list.error().message),
                       "`indx vault status` and `indx doctor` say more about the vault.");
  if (is_indexing(*list))
    return report.ok("read", cat("The first indexing is not done yet", indexed_so_far(*list),
                                 "; searches find more soon."));
  const bool has_notes = !list->value("notes", Json::array()).empty();
  if (has_notes) return report.ok("read", "A note of the vault can be listed.");
  report.warn("read", "The read worked, but there is no note to see.",
              "Check that --vault is the right folder and that `path:` scopes or the token's globs "
              "are not too narrow.");
}

// --- over stdio

/// Whether the folder can be used, and by which configuration.
std::optional<Config> check_vault(McpReport& report, const Invocation& invocation,
                                  const Environment& env) {
  const auto config = load_vault_config(invocation.global, env, ".");
  if (!config) {
    const bool is_folder = config.error().reason != Reason::NotFound;
    report.fail(
        "vault", config.error().message,
        is_folder
            ? "Correct that variable or key; docs/configuration.md lists the values."
            : "Give the absolute path of the folder with --vault, as in `indx mcp config HOST`.");
    return std::nullopt;
  }
  if (::access(config->vault_dir.c_str(), R_OK | X_OK) != 0) {
    report.fail("vault", cat(config->vault_dir, " cannot be read."),
                "Let the user that the host runs as read the folder.");
    return std::nullopt;
  }
  const std::string remark = current_folder_remark(invocation.global, env);
  report.ok("vault", cat(config->vault_dir, remark.empty() ? "" : ". " + remark));
  if (::access(config->vault_dir.c_str(), W_OK) != 0)
    report.warn("permissions", "The vault is read-only for this user.",
                "Writing tools will fail; use --scopes vault:read, or allow writing.");
  std::error_code failure;
  const std::string& index = config->index_dir;
  const bool exists = std::filesystem::is_directory(index, failure);
  const auto parent = std::filesystem::path(index).parent_path().string();
  if (::access((exists ? index : parent).c_str(), W_OK | X_OK) != 0) {
    report.fail("index", cat("The index folder ", index, " cannot be written."),
                "Allow writing there, or set INDX_INDEX_DIR to another folder.");
    return std::nullopt;
  }
  report.ok("index", cat(index, exists ? "" : " (will be made)"));
  return *config;
}

/// The server as a host would start it.
class StdioClient {
 public:
  explicit StdioClient(ChildProcess process) : process_(std::move(process)) {}

  void notify(std::string_view method) {
    process_.write_line(dump_rpc(rpc_notification(method, Json::object())));
  }
  Result<Json> ask(std::string_view method, Json params, milliseconds longest) {
    const Json id = ++last_id_;
    if (!process_.write_line(dump_rpc(rpc_request(id, method, std::move(params)))))
      return no_answer(longest);
    const auto until = std::chrono::steady_clock::now() + longest;
    while (true) {
      const auto left =
          std::chrono::duration_cast<milliseconds>(until - std::chrono::steady_clock::now());
      const auto line = process_.read_line(left);
      if (!line) return no_answer(longest);
      const Json message = Json::parse(*line, nullptr, false);
      if (!message.is_object())
        return make_error(Reason::ParseFailed, "A line on stdout is no JSON-RPC message.");
      if (message.value("id", Json()) != id) continue;
      if (const auto error = message.find("error"); error != message.end())
        return make_error(Reason::Internal, error->value("message", "an error"));
      return message.value("result", Json::object());
    }
  }
  std::optional<int> end() {
    process_.close_input();
    return process_.wait(kEndLimit);
  }

 private:
  Error no_answer(milliseconds longest) {
    process_.close_input();
    if (const auto code = process_.wait(milliseconds(500))) {
      const std::string why = process_.last_error();
      return make_error(Reason::Unavailable, cat("The server ended with exit code ", *code,
                                                 why.empty() ? "." : ": ", why));
    }
    return make_error(Reason::Timeout, cat("No answer in ", longest.count() / 1000, " s."));
  }

  ChildProcess process_;
  int last_id_ = 0;
};

std::vector<std::string> serve_command(const Invocation& invocation, const Config& config) {
  std::vector<std::string> command = {own_program(), "mcp",     "serve",
                                      "--stdio",     "--vault", config.vault_dir};
  if (const auto scopes = invocation.input.find("scopes"); scopes != invocation.input.end())
    for (const Json& scope : *scopes) {
      command.emplace_back("--scopes");
      command.push_back(scope.get<std::string>());
    }
  return command;
}

/// The command as one pastes it.
std::string shell_line(const std::vector<std::string>& command) {
  std::vector<std::string> words;
  for (const std::string& word : command) words.push_back(shell_word(word));
  return join(words, " ");
}

void check_stdio(McpReport& report, const Invocation& invocation, const Environment& env) {
  report.ok("program", own_program());
  const auto config = check_vault(report, invocation, env);
  if (!config) return;
  const auto command = serve_command(invocation, *config);
  auto process = ChildProcess::start(command);
  if (!process)
    return report.fail("start", process.error().message, "Check the permissions of the program.");
  StdioClient client(std::move(*process));
  const auto started = std::chrono::steady_clock::now();
  const auto greeting =
      client.ask("initialize", initialize_params(newest_legacy_version()), kHandshakeLimit);
  if (!greeting)
    return report.fail("handshake", greeting.error().message,
                       cat("Run `", shell_line(command), "` in a terminal: stderr says more."));
  const auto took =
      std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - started);
  const std::string finding =
      cat("version ", greeting->value("protocolVersion", "?"), " in ", took.count(), " ms");
  if (took > kGoodHandshake)
    report.warn("handshake", finding, "Hosts wait 10 to 30 s; look what else the machine does.");
  else
    report.ok("handshake", finding);
  client.notify("notifications/initialized");
  const auto ask = [&](std::string_view method, Json params) {
    return client.ask(method, std::move(params), kAnswerLimit);
  };
  const auto catalog = ask("tools/list", Json::object());
  if (!catalog)
    return report.fail("tools", catalog.error().message,
                       "`indx doctor` says more about the vault.");
  check_catalog(report, *catalog);
  check_ai(report, ask, *catalog, &config->ai);
  check_read(report, ask);
  if (client.end() == 0) return report.ok("end", "The server ends when the host does.");
  report.warn("end", "The server did not end by itself within 5 s.", "It was ended by force.");
}

// --- over HTTP

class HttpClient {
 public:
  HttpClient(std::string url, std::string token) : url_(std::move(url)), token_(std::move(token)) {}

  using Headers = std::vector<std::pair<std::string, std::string>>;
  Result<HttpClientResponse> send(std::string_view http_method, const std::string& body,
                                  const Headers& more = {}) const {
    HttpClientRequest request;
    request.method = std::string(http_method);
    request.url = url_;
    request.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
    if (!token_.empty()) request.headers.emplace_back("Authorization", cat("Bearer ", token_));
    if (!session_.empty()) request.headers.emplace_back("Mcp-Session-Id", session_);
    request.headers.insert(request.headers.end(), more.begin(), more.end());
    request.body = body;
    request.timeout = kAnswerLimit;
    return http_exchange(request, {});
  }
  Result<HttpClientResponse> post(std::string_view method, const Json& params,
                                  const Headers& more = {}) const {
    return send("POST", dump_rpc(rpc_request(1, method, params)), more);
  }
  Result<Json> ask(std::string_view method, const Json& params, const Headers& more = {}) const {
    const auto response = INDX_TRY(post(method, params, more));
    const Json message = Json::parse(response.body, nullptr, false);
    if (message.is_object() && message.contains("error") && message["error"].is_object())
      return make_error(Reason::Internal, message["error"].value("message", "an error"));
    if (response.status != 200 || !message.is_object() || !message.contains("result"))
      return make_error(Reason::Internal, cat("HTTP ", response.status));
    return message["result"];
  }
  void use_session(std::string id) { session_ = std::move(id); }
  void end_session() {
    if (!session_.empty()) (void)send("DELETE", "");
    session_.clear();
  }

 private:
  const std::string url_, token_;
  std::string session_;
};

const Json& greeting_params() {
  static const Json params = initialize_params(newest_legacy_version());
  return params;
}

std::string session_of(const HttpClientResponse& response) {
  const auto header = response.headers.find("mcp-session-id");
  return header == response.headers.end() ? "" : header->second;
}

/// What may be wrong about the first letters of an address where no answer, or none of ours, came.
std::string scheme_advice(const std::string& url) {
  return url.starts_with("https://")
             ? " `indx serve` itself speaks http://; where TLS stands in front of it, its "
               "certificate must be for this name and from an authority that this machine trusts."
             : " Where TLS stands in front of it, the address begins with https://.";
}

/// Whether somebody answers there, and asks for a token.
bool check_reachable(McpReport& report, const std::string& url) {
  const auto response = HttpClient(url, "").post("initialize", greeting_params());
  if (!response) {
    report.fail(
        "reach", cat(url, ": ", response.error().message),
        cat("Start `indx serve`, and check host, port and proxies between.", scheme_advice(url)));
    return false;
  }
  const auto elsewhere = response->headers.find("location");
  if (response->status / 100 == 3 && elsewhere != response->headers.end()) {
    report.fail("reach", cat(url, " leads on to ", elsewhere->second, "."),
                "Give the address that it leads to: hosts drop the token on the way.");
    return false;
  }
  if (response->status == 404 || response->status == 405) {
    report.fail("reach",
                cat(url, " answers HTTP ", response->status, "; no MCP endpoint is there."),
                "The endpoint of `indx serve` is /mcp.");
    return false;
  }
  if (response->status != 401) {
    report.fail("reach", cat(url, " answers HTTP ", response->status, " where 401 is due."),
                cat("Something between may answer instead of indx, or change its answers.",
                    scheme_advice(url)));
    return false;
  }
  report.ok("reach", cat(url, " answers and asks for a token"));
  return true;
}

bool has_bearer(const std::string& token) { return to_lower(token).starts_with("bearer "); }

/// `vault`: of the server; empty: it is not known here.
bool check_token(McpReport& report, HttpClient& client, const std::string& token,
                 const std::string& vault) {
  const std::string makes_one = cat("`indx token create NAME", vault_flag(vault), "` makes one.");
  if (token.empty()) {
    report.fail("token", "No token was given.",
                "Give one with --token or INDX_TOKEN; " + makes_one);
    return false;
  }
  const auto response = client.post("initialize", greeting_params());
  if (response && response->status == 200 && !session_of(*response).empty()) {
    client.use_session(session_of(*response));
    report.ok("token", "accepted");
    return true;
  }
  const int status = response ? response->status : 0;
  if (status == 401)
    report.fail("token", "The server does not know this token, or it was revoked.",
                has_bearer(token) ? "The token is what comes after it: leave out \"Bearer\"."
                                  : cat("`indx token list", vault_flag(vault),
                                        "` shows those there are; ", makes_one));
  else
    report.fail("token",
                response ? cat("The handshake was answered with HTTP ", status, ".")
                         : response.error().message,
                "The log of the server says why.");
  return false;
}

bool speaks(const std::string& url, const std::string& token, const Protocol& protocol) {
  HttpClient client(url, token);
  const std::string version(protocol.version);
  if (protocol.era == Era::Legacy) {
    const auto response = client.post("initialize", initialize_params(version));
    if (!response || response->status != 200) return false;
    client.use_session(session_of(*response));
    client.end_session();
    const Json message = Json::parse(response->body, nullptr, false);
    return message.is_object() &&
           message.value("/result/protocolVersion"_json_pointer, "") == version;
  }
  const Json meta = {{"io.modelcontextprotocol/protocolVersion", version},
                     {"io.modelcontextprotocol/clientCapabilities", Json::object()}};
  return client
      .ask("server/discover", {{"_meta", meta}},
           {{"MCP-Protocol-Version", version}, {"Mcp-Method", "server/discover"}})
      .has_value();
}

void check_protocol_versions(McpReport& report, const std::string& url, const std::string& token) {
  std::vector<std::string> spoken, missing;
  for (const Protocol& protocol : protocols())
    (speaks(url, token, protocol) ? spoken : missing).emplace_back(protocol.version);
  if (spoken.empty())
    return report.fail("versions", "No version of the protocol is spoken.",
                       "Something between may change the messages.");
  if (missing.empty()) return report.ok("versions", join(spoken, ", "));
  report.warn("versions", cat(join(spoken, ", "), "; not ", join(missing, ", ")),
              "Is the server older than this program, or are headers taken away between?");
}

/// A web page must not be able to use the server of the person who looks at it.
void check_origin_guard(McpReport& report, const HttpClient& client) {
  const auto response =
      client.post("ping", Json::object(), {{"Origin", "https://attacker.example"}});
  if (response && response->status == 403)
    return report.ok("origin", "Requests of foreign web pages are refused.");
  report.fail("origin",
              cat("A request with a foreign Origin was answered with ",
                  response ? cat("HTTP ", response->status) : "nothing", ", not HTTP 403."),
              "Let a proxy pass the headers Origin and Host on.");
}

void check_http(McpReport& report, const std::string& base, const std::string& token,
                const std::string& vault) {
  if (!base.starts_with("http://") && !base.starts_with("https://"))
    return report.fail("url", cat("`", base, "` is no address."),
                       "Give http://HOST:PORT/mcp or https://HOST/mcp.");
  const std::string url = mcp_endpoint(base);
  if (!check_reachable(report, url)) return;
  HttpClient client(url, token);
  if (!check_token(report, client, token, vault)) return;
  check_protocol_versions(report, url, token);
  check_origin_guard(report, client);
  const auto ask = [&](std::string_view method, const Json& params) {
    return client.ask(method, params);
  };
  const auto catalog = ask("tools/list", Json::object());
  if (catalog)
    check_catalog(report, *catalog);
  else
    report.fail("tools", catalog.error().message, "Give the token at least vault:read.");
  if (catalog) {
    check_ai(report, ask, *catalog, nullptr);
    check_read(report, ask);
  }
  client.end_session();
}

std::string_view state_name(McpCheck::State state) {
  switch (state) {
    case McpCheck::State::Ok:
      return "ok";
    case McpCheck::State::Warn:
      return "warn";
    case McpCheck::State::Fail:
      break;
  }
  return "fail";
}

}  // namespace

void McpReport::ok(std::string name, std::string finding) {
  checks_.push_back({McpCheck::State::Ok, std::move(name), std::move(finding), ""});
}
void McpReport::warn(std::string name, std::string finding, std::string advice) {
  checks_.push_back(
      {McpCheck::State::Warn, std::move(name), std::move(finding), std::move(advice)});
}
void McpReport::fail(std::string name, std::string finding, std::string advice) {
  checks_.push_back(
      {McpCheck::State::Fail, std::move(name), std::move(finding), std::move(advice)});
}

bool McpReport::is_healthy() const {
  for (const McpCheck& check : checks_)
    if (check.state == McpCheck::State::Fail) return false;
  return true;
}

std::string McpReport::text() const {
  std::string text;
  for (const McpCheck& check : checks_) {
    const std::string state(state_name(check.state));
    text += cat(state, std::string(6 - state.size(), ' '), check.name, ": ",
                replace_all(check.finding, "\n", " "));
    if (!check.advice.empty()) text += cat("  -> ", check.advice);
    text += "\n";
  }
  return text;
}

Json McpReport::json() const {
  Json rows = Json::array();
  for (const McpCheck& check : checks_) {
    rows.push_back(
        {{"name", check.name}, {"state", state_name(check.state)}, {"finding", check.finding}});
    if (!check.advice.empty()) rows.back()["advice"] = check.advice;
  }
  return {{"ok", is_healthy()}, {"checks", std::move(rows)}};
}

int run_mcp_doctor(const Invocation& invocation, const Environment& env) {
  McpReport report;
  const std::string url = invocation.input.value(
      "url", invocation.global.remote.value_or(
                 invocation.global.vault ? "" : env("INDX_URL").value_or("")));
  if (url.empty())
    check_stdio(report, invocation, env);
  else
    check_http(report, url, invocation.global.token.value_or(env("INDX_TOKEN").value_or("")),
               invocation.global.vault.value_or(""));
  const std::string text =
      invocation.global.json ? data_text(report.json(), is_terminal(STDOUT_FILENO)) : report.text();
  const bool is_read = write_all(STDOUT_FILENO, text);
  return is_read && report.is_healthy() ? 0 : 1;
}

}  // namespace indx
