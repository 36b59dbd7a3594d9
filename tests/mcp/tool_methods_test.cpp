#include "mcp/server.hpp"
#include "tests/support/fake_mcp_dispatcher.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

/// Keeps what was answered.
class KeptToolReply : public McpReply {
 public:
  void notify(const Json&) override {}
  void answer(McpAnswer given) override { kept = std::move(given); }
  void drop(CancelReason) override {}
  McpAnswer kept;
};

/// One peer of a server whose operations are fakes.
class ToolClient {
 public:
  explicit ToolClient(std::set<Scope> scopes = {Scope::VaultRead, Scope::VaultWrite})
      : server_(dispatcher, {.clock = &clock}) {
    peer_.protocol = &protocols().front();
    peer_.principal = FakeMcpDispatcher::principal("p", std::move(scopes));
    peer_.calls = std::make_shared<OpenCalls>();
  }

  McpAnswer request(const std::string& method, Json params) {
    RpcMessage message;
    message.id = 1;
    message.method = method;
    message.params = std::move(params);
    const auto reply = std::make_shared<KeptToolReply>();
    server_.request(peer_, message, reply);
    return reply->kept;
  }
  Json call(const std::string& name, Json arguments) {
    return request("tools/call", {{"name", name}, {"arguments", std::move(arguments)}}).message;
  }
  McpPeer& peer() { return peer_; }

  FakeMcpDispatcher dispatcher;
  McpTestClock clock;

 private:
  McpServer server_;
  McpPeer peer_;
};

bool is_replayed(const Json& result) { return result.at("_meta").value("indx/replayed", false); }

const Json kRunbook = {{"path", "Ops/Runbook.md"}};

}  // namespace

TEST_CASE("the same safe call within a minute is answered from memory, and says so",
          "[mcp][B4][B6]") {
  ToolClient client;
  client.dispatcher.vault_revision = "r1";

  const Json first = client.call("note_read", kRunbook)["result"];
  const Json second = client.call("note_read", kRunbook)["result"];

  CHECK(client.dispatcher.calls_of("note_read").size() == 1);
  CHECK(second["content"] == first["content"]);
  CHECK(second["structuredContent"] == first["structuredContent"]);
  CHECK_FALSE(is_replayed(first));
  CHECK(is_replayed(second));
}

TEST_CASE("a change of the vault, another caller, or a minute ends the replay", "[mcp][B6]") {
  ToolClient client;
  client.dispatcher.vault_revision = "r1";
  client.call("note_read", kRunbook);

  client.dispatcher.vault_revision = "r2";
  CHECK_FALSE(is_replayed(client.call("note_read", kRunbook)["result"]));
  client.peer().principal.subject = "somebody else";
  CHECK_FALSE(is_replayed(client.call("note_read", kRunbook)["result"]));
  client.clock.advance(std::chrono::seconds(61));
  CHECK_FALSE(is_replayed(client.call("note_read", kRunbook)["result"]));
  client.dispatcher.vault_revision.reset();
  CHECK_FALSE(is_replayed(client.call("note_read", kRunbook)["result"]));
  CHECK(client.dispatcher.calls_of("note_read").size() == 5);
}

TEST_CASE("writes are never replayed", "[mcp][B6]") {
  ToolClient client;
  client.dispatcher.vault_revision = "r1";
  const Json note = {{"path", "a.md"}, {"body", "x"}};

  client.call("note_write", note);
  client.call("note_write", note);

  CHECK(client.dispatcher.calls_of("note_write").size() == 2);
}

TEST_CASE("a page that is too long is asked for again with fewer rows, so that its cursor fits",
          "[mcp]") {
  ToolClient client;
  client.dispatcher.behaviours["note_list"] = [](const Call& call) {
    const int limit = call.input.value("limit", 500);
    Json notes = Json::array();
    for (int i = 0; i < limit; ++i) notes.push_back({{"path", std::string(200, 'a') + ".md"}});
    return mcp_answer(Json{{"notes", notes}, {"next_cursor", "after " + std::to_string(limit)}});
  };

  const Json result = client.call("note_list", {{"limit", 500}})["result"];

  const auto shown = result["structuredContent"]["notes"].size();
  CHECK(shown > 50);
  CHECK(shown < 500);
  CHECK(result["structuredContent"]["next_cursor"] == "after " + std::to_string(shown));
  CHECK(result["_meta"]["indx/limit"] == shown);
  CHECK_FALSE(result["_meta"].contains("indx/cut"));
}

TEST_CASE("an action of a group is called with the scope of its operation", "[mcp][B2][B9]") {
  ToolClient writer;
  const Json arguments = {{"action", "token_create"}, {"name", "n"}};

  CHECK(writer.call("vault_manage", arguments)["result"]["isError"] == true);
  writer.peer().transport = McpTransport::Http;
  const auto refused =
      writer.request("tools/call", {{"name", "vault_manage"}, {"arguments", arguments}});
  CHECK(refused.http_status == 403);
  CHECK(refused.message["error"]["data"]["required_scopes"] == Json({"vault:admin"}));

  ToolClient admin({Scope::VaultAdmin});
  admin.dispatcher.behaviours["token_create"] = [](const Call&) {
    return mcp_answer(Json::object());
  };
  CHECK(admin.call("vault_manage", arguments)["result"]["isError"] == false);
  REQUIRE(admin.dispatcher.calls_of("token_create").size() == 1);
  CHECK(admin.dispatcher.calls_of("token_create")[0].input == Json{{"name", "n"}});
}

TEST_CASE("who names an action as a tool is told which tool it is of", "[mcp][B2]") {
  ToolClient client;

  const Json answer = client.call("token_create", {{"name", "n"}});

  CHECK(answer["error"]["code"] == kRpcInvalidParams);
  CHECK(answer["error"]["message"].get<std::string>().find(
            "Call vault_manage with action token_create") != std::string::npos);
}

TEST_CASE("a call that needs a model runs as a job unless its caller hears of progress", "[mcp]") {
  ToolClient client;
  client.dispatcher.is_ai_configured = true;

  client.call("ai_ask", {{"question", "q"}});

  REQUIRE(client.dispatcher.calls_of("ai_ask").size() == 1);
  CHECK(client.dispatcher.calls_of("ai_ask")[0].as_job);
}

TEST_CASE("hosts give up after 60 s, a job is handed out before 45 s", "[mcp]") {
  CHECK(McpOptions().job_wait <= std::chrono::seconds(45));
}

}  // namespace indx
