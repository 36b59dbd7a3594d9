#include "base/http_client.hpp"
#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"
#include "tests/support/vendor_server.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

namespace indx {
namespace {

using HeaderList = std::vector<std::pair<std::string, std::string>>;

Json modern_message(const std::string& method, Json params, const Json& id = 1) {
  Json& meta = params["_meta"];
  if (meta.is_null()) meta = Json::object();
  meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
  meta["io.modelcontextprotocol/clientCapabilities"] = Json::object();
  return {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}};
}

HeaderList modern_headers(const std::string& method, const std::string& name) {
  HeaderList headers = {{"Accept", "application/json, text/event-stream"},
                        {"MCP-Protocol-Version", "2026-07-28"},
                        {"Mcp-Method", method}};
  if (!name.empty()) headers.emplace_back("Mcp-Name", name);
  return headers;
}

RunningServer::Reply modern_call(const RunningServer& server, const std::string& method,
                                 const Json& params = Json::object(),
                                 const std::string& name = "") {
  return server.call("POST", "/mcp", modern_message(method, params), modern_headers(method, name));
}

}  // namespace

TEST_CASE("a client of the modern era needs no session: it discovers, reads and writes",
          "[end_to_end][B1][B8][B72]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);

  const auto discovered = modern_call(server, "server/discover");
  CHECK(discovered.status == 200);
  CHECK(discovered.headers.count("mcp-session-id") == 0);
  CHECK(discovered.body["result"]["instructions"].is_string());
  CHECK(discovered.body["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "indx");

  const auto read =
      modern_call(server, "resources/read", {{"uri", "vault://Plan.md"}}, "vault://Plan.md");
  INFO(read.body.dump());
  REQUIRE(read.body.contains("result"));
  CHECK(read.body["result"]["contents"][0]["text"] == vault.read("Plan.md"));
  const auto written =
      modern_call(server, "tools/call",
                  {{"name", "note_write"}, {"arguments", {{"path", "New.md"}, {"body", "new\n"}}}},
                  "=?base64?bm90ZV93cml0ZQ==?=");
  INFO(written.body.dump());
  REQUIRE(written.body.contains("result"));
  CHECK(written.body["result"]["resultType"] == "complete");
  CHECK(vault.read("New.md") == "new\n");

  const auto smuggled =
      modern_call(server, "tools/call",
                  {{"name", "note_delete"}, {"arguments", {{"path", "New.md"}}}}, "note_read");
  CHECK(smuggled.status == 400);
  CHECK(smuggled.body["error"]["code"] == -32020);
  CHECK(vault.read("New.md") == "new\n");
  CHECK(modern_call(server, "ping").status == 404);
  CHECK(server.call("DELETE", "/mcp", Json(), modern_headers("", "")).status == 405);
}

TEST_CASE("nothing hints at OAuth: a plain challenge and no well-known pages", "[end_to_end]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);

  const auto refused =
      server.call_as("indx_wrong", "POST", "/mcp", modern_message("tools/list", Json::object()),
                     modern_headers("tools/list", ""));
  CHECK(refused.status == 401);
  CHECK(refused.headers.at("www-authenticate") == "Bearer realm=\"indx\"");
  for (const char* path :
       {"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server", "/.well-known/oauth-authorization-server/mcp",
        "/.well-known/openid-configuration", "/mcp/.well-known/openid-configuration"}) {
    INFO(path);
    CHECK(server.call("GET", path).status == 404);
  }
  CHECK(server.call("POST", "/register", Json::object()).status == 404);
}

TEST_CASE("a modern client that closes its connection ends the call of the model",
          "[end_to_end][B72]") {
  const TempFolder vault;
  vault.write("a.md", "# Garden\n\nCompost warms the heap in winter.\n");
  VendorServer model("openai");
  RunningServer server(vault, {}, provider_variables(model.config()));
  VendorPlan plan;
  plan.fault = VendorFault::Hang;
  model.plan(plan);

  HttpClientRequest request;
  request.method = "POST";
  request.url = server.url() + "/mcp";
  request.headers = modern_headers("tools/call", "ai_summarize");
  request.headers.emplace_back("Authorization", "Bearer " + server.token());
  request.headers.emplace_back("Content-Type", "application/json");
  request.body = modern_message("tools/call",
                                {{"name", "ai_summarize"},
                                 {"arguments", {{"scope", {{"kind", "note"}, {"path", "a.md"}}}}}})
                     .dump();
  const CancelToken leave;
  std::jthread client([&] { static_cast<void>(http_exchange(request, leave)); });
  REQUIRE(wait_until([&] {
    const auto seen = model.requests();
    return std::any_of(seen.begin(), seen.end(),
                       [](const auto& each) { return each.body.contains("messages"); });
  }));
  leave.cancel(CancelReason::Requested);
  const auto left = std::chrono::steady_clock::now();

  REQUIRE(model.saw_close());
  CHECK(std::chrono::steady_clock::now() - left < std::chrono::seconds(1));
}

TEST_CASE("a stdio process answers a client that probes for the modern era, then one that does not",
          "[end_to_end][B7][B72]") {
  const TempFolder vault;
  fill_vault(vault);
  Process process(indx_spec({"mcp", "serve", "--stdio", "--vault", vault.path()}));
  const auto say = [&](const Json& message) { process.write(message.dump() + "\n"); };

  say(modern_message("server/discover", Json::object(), "d"));
  REQUIRE(process.wait_for_out("\"id\":\"d\"", std::chrono::seconds(60)));
  say(modern_message("tools/call", {{"name", "note_read"}, {"arguments", {{"path", "Plan.md"}}}},
                     "r"));
  REQUIRE(process.wait_for_out("\"id\":\"r\"", std::chrono::seconds(60)));
  say({{"jsonrpc", "2.0"},
       {"id", "i"},
       {"method", "initialize"},
       {"params", {{"protocolVersion", "2025-06-18"}, {"capabilities", Json::object()}}}});
  REQUIRE(process.wait_for_out("\"id\":\"i\"", std::chrono::seconds(60)));
  process.close_input();

  CHECK(process.wait().value_or(-1) == 0);
  std::map<std::string, Json> answers;
  for (const auto& line : split(process.out(), '\n'))
    if (!line.empty()) {
      const Json message = Json::parse(line);
      answers[message["id"].get<std::string>()] = message;
    }
  CHECK(answers["d"]["result"]["supportedVersions"][0] == "2026-07-28");
  CHECK(answers["r"]["result"]["structuredContent"]["path"] == "Plan.md");
  CHECK(answers["r"]["result"]["resultType"] == "complete");
  CHECK(answers["i"]["result"]["protocolVersion"] == "2025-06-18");
}

}  // namespace indx
