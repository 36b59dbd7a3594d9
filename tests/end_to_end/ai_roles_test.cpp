#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"
#include "tests/support/vendor_server.hpp"

#include <catch2/catch.hpp>

#include <set>

namespace indx {
namespace {

struct RolesSet {
  bool chat = false, embeddings = false;
  bool has(const std::string& role) const {
    return role == "chat" ? chat : role == "embeddings" ? embeddings : chat || embeddings;
  }
};

/// The variables that set these roles, both at the same server.
std::map<std::string, std::string> role_variables(const AiConfig& config, const RolesSet& roles) {
  std::map<std::string, std::string> env = {{"INDX_OPENAI_BASE_URL", config.openai_base_url},
                                            {"INDX_OPENAI_API_KEY", config.openai_api_key}};
  if (roles.chat) env.insert({{"INDX_AI_PROVIDER", "openai"}, {"INDX_AI_MODEL", config.model}});
  if (roles.embeddings) env["INDX_EMBEDDINGS_PROVIDER"] = "openai";
  return env;
}

std::set<std::string> tools_of(const RunningServer& server) {
  const std::vector<std::pair<std::string, std::string>> accept = {
      {"Accept", "application/json, text/event-stream"}};
  const Json hello{{"protocolVersion", "2025-11-25"},
                   {"capabilities", Json::object()},
                   {"clientInfo", {{"name", "t"}, {"version", "1"}}}};
  const auto greeted = server.call(
      "POST", "/mcp", {{"jsonrpc", "2.0"}, {"id", 1}, {"method", "initialize"}, {"params", hello}},
      accept);
  auto headers = accept;
  headers.emplace_back("Mcp-Session-Id", greeted.headers.at("mcp-session-id"));
  const auto listed = server.call(
      "POST", "/mcp",
      {{"jsonrpc", "2.0"}, {"id", 2}, {"method", "tools/list"}, {"params", Json::object()}},
      headers);
  std::set<std::string> names;
  for (const auto& tool : listed.body["result"]["tools"])
    names.insert(tool["name"].get<std::string>());
  return names;
}

std::set<std::string> documented_operations(const RunningServer& server) {
  std::set<std::string> ids;
  const Json document = server.call("GET", "/openapi.json").body;
  for (const auto& [path, methods] : document["paths"].items())
    for (const auto& [method, operation] : methods.items())
      ids.insert(operation["operationId"].get<std::string>());
  return ids;
}

}  // namespace

TEST_CASE("what the two roles of AI offer: each alone, both and none",
          "[end_to_end][D1][D2][D3][D4][D5][D6][D10][D57][D74][B11]") {
  const Json contract = Json::parse(run_indx({"schema"}).out, nullptr, false);
  REQUIRE(contract["operations"].is_array());
  std::set<std::string> all_tools;
  for (const auto roles : {RolesSet{true, true}, RolesSet{true, false}, RolesSet{false, true},
                           RolesSet{false, false}}) {
    INFO("chat " << roles.chat << " embeddings " << roles.embeddings);
    const TempFolder vault;
    fill_vault(vault);
    VendorServer model("openai");
    RunningServer server(vault, {}, role_variables(model.config(), roles));
    const auto tools = tools_of(server);
    const auto documented = documented_operations(server);
    if (all_tools.empty()) all_tools = tools;

    std::set<std::string> wanted;
    for (const auto& operation : contract["operations"]) {
      const auto name = operation["name"].get<std::string>();
      INFO(name);
      if (operation["required_role"].is_null()) {
        CHECK(documented.contains(name));
        continue;
      }
      const auto role = operation["required_role"].get<std::string>();
      wanted.insert(role);
      // Its plain headings are there with any model (R17).
      const bool is_listed = roles.has(role) || (name == "ai_toc" && roles.has("either"));
      CHECK(documented.contains(name) == is_listed);
      CHECK(tools.contains(name) == (is_listed && all_tools.contains(name)));
      const auto reply = server.call(operation["http"]["method"].get<std::string>(),
                                     operation["http"]["path"].get<std::string>(), Json::object());
      INFO(reply.body.dump());
      CHECK((reply.status == 503) == !roles.has(role));
      if (roles.has(role)) continue;
      CHECK(reply.body["error"]["code"] == "ai_unavailable");
      const Json told = reply.body["error"]["details"]["required_role"];
      CHECK((role == "either" ? told == "chat" || told == "embeddings" : told == Json(role)));
    }
    CHECK(wanted.contains("chat"));
    CHECK(wanted.contains("embeddings"));
    CHECK(tools.contains("ai_status") == (roles.chat || roles.embeddings));
    const Json status = server.call("GET", "/v1/ai/status").body["data"];
    CHECK(status["enabled"] == roles.chat);
    CHECK((status["embeddings"]["model"] != "") == roles.embeddings);
    if (!roles.embeddings) CHECK(model.requests().empty());  // nobody is called unasked
  }
}

TEST_CASE("a command that indexes ends with an error when the model for vectors is another one",
          "[end_to_end][A70][R20]") {
  const TempFolder vault;
  fill_vault(vault);
  VendorServer model("openai");
  auto env = role_variables(model.config(), {.chat = false, .embeddings = true});
  {
    RunningServer server(vault, {}, env);
    REQUIRE(wait_until([&] {
      return server.call("GET", "/v1/vault/status").body["data"]["embeddings"]["state"] == "ready";
    }));
    CHECK(server.stop() == 0);
  }
  const auto before = model.requests().size();
  CHECK(run_indx({"--vault", vault.path(), "vault", "index"}, env).code == 0);
  env["INDX_EMBEDDINGS_MODEL"] = "text-embedding-3-large";

  const auto refused = run_indx({"--vault", vault.path(), "vault", "index"}, env);
  CHECK(refused.code == 4);
  CHECK(refused.err.find("--reset-db") != std::string::npos);
  CHECK(refused.err.find("text-embedding-3-large") != std::string::npos);
  CHECK(model.requests().size() == before);

  CHECK(run_indx({"--vault", vault.path(), "vault", "index", "--reset-db"}, env).code == 0);
  CHECK(model.requests().size() == before);
  CHECK(run_indx({"--vault", vault.path(), "vault", "embed"}, env).code == 0);
  CHECK(model.requests().size() > before);
  CHECK(model.requests().back().body["model"] == "text-embedding-3-large");
}

}  // namespace indx
