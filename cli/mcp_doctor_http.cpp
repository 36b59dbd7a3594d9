#include "base/http_client.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "cli/mcp_checks.hpp"
#include "cli/mcp_config.hpp"
#include "mcp/json_rpc.hpp"
#include "mcp/protocol.hpp"

#include <chrono>
#include <utility>
#include <vector>

namespace indx {
namespace {

constexpr std::chrono::milliseconds kHttpAnswerLimit{20'000};

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
    request.timeout = kHttpAnswerLimit;
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

}  // namespace

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

}  // namespace indx
