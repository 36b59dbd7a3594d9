#include "mcp/logging.hpp"

#include "mcp/server.hpp"
#include "tests/support/fake_mcp_dispatcher.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

class LogTestReply : public McpReply {
 public:
  void notify(const Json& message) override { said.push_back(message); }
  void answer(McpAnswer answer) override { said.push_back(answer.message); }
  void drop(CancelReason) override {}
  std::vector<Json> said;
};

class LogTestChannel : public McpChannel {
 public:
  void send(const Json& notification) override { said.push_back(notification); }
  std::vector<Json> said;
};

/// One client in a session of its own, or a modern one without.
struct LogWorld {
  explicit LogWorld(const char* version = "2025-11-25") {
    options.clock = &clock;
    server = std::make_unique<McpServer>(dispatcher, options);
    peer.protocol = find_protocol(version);
    peer.principal = FakeMcpDispatcher::principal("writer", {Scope::VaultRead, Scope::VaultWrite});
    peer.calls = std::make_shared<OpenCalls>();
    if (peer.protocol->era == Era::Modern) return;
    peer.session = std::make_shared<McpSession>();
    peer.session->channel = channel;
    peer.calls = peer.session->calls;
  }
  std::vector<Json> ask(const std::string& method, const Json& params) {
    const auto reply = std::make_shared<LogTestReply>();
    RpcMessage message;
    message.id = 1;
    message.method = method;
    message.params = params;
    server->request(peer, message, reply);
    return reply->said;
  }
  std::vector<Json> fail(const Json& meta = Json::object()) {
    return ask(
        "tools/call",
        {{"name", "note_read"}, {"arguments", {{"path", "secret plans.md"}}}, {"_meta", meta}});
  }

  McpTestClock clock;
  McpOptions options;
  FakeMcpDispatcher dispatcher;
  std::shared_ptr<LogTestChannel> channel = std::make_shared<LogTestChannel>();
  std::unique_ptr<McpServer> server;
  McpPeer peer;
};

}  // namespace

TEST_CASE("a session is silent until it sets a level, then hears what reaches it", "[mcp][B72]") {
  LogWorld world;
  world.fail();
  CHECK(world.channel->said.empty());

  CHECK(world.ask("logging/setLevel", {{"level", "warning"}})[0]["result"] == Json::object());
  world.fail();

  REQUIRE(world.channel->said.size() == 1);
  const Json& line = world.channel->said[0];
  CHECK(line["method"] == "notifications/message");
  CHECK(line["params"]["level"] == "warning");
  CHECK(line["params"]["data"]["tool"] == "note_read");
  CHECK(line["params"]["data"]["code"] == "not_found");
  CHECK(line.dump().find("secret plans") == std::string::npos);

  world.ask("logging/setLevel", {{"level", "error"}});
  world.fail();
  CHECK(world.channel->said.size() == 1);
}

TEST_CASE("a level that is none is refused and changes nothing", "[mcp][B72]") {
  LogWorld world;

  for (const Json& params : {Json{{"level", "loud"}}, Json{{"level", 3}}, Json::object()})
    CHECK(world.ask("logging/setLevel", params)[0]["error"]["code"] == kRpcInvalidParams);

  world.fail();
  CHECK(world.channel->said.empty());
}

TEST_CASE("log lines of a session are limited, and those left out are counted", "[mcp][B72]") {
  LogWorld world;
  world.ask("logging/setLevel", {{"level", "debug"}});

  for (int i = 0; i < McpLogFilter::kLinesPerWindow + 5; ++i) world.fail();
  CHECK(world.channel->said.size() == std::size_t{McpLogFilter::kLinesPerWindow});
  world.clock.advance(McpLogFilter::kWindow);
  world.fail();

  CHECK(world.channel->said.back()["params"]["data"]["lines_left_out"] == 5);
}

TEST_CASE("a job behind a call is told of when it starts and when it is tried again",
          "[mcp][B72]") {
  LogWorld world;
  world.ask("logging/setLevel", {{"level", "info"}});
  world.ask("tools/call", {{"name", "vault_reindex"}});
  REQUIRE(world.dispatcher.held().size() == 1);
  Event event;
  event.job_id = "J1";
  event.kind = "job.started";
  world.dispatcher.held()[0].progress(event);
  event.kind = "job.retrying";
  world.dispatcher.held()[0].progress(event);

  REQUIRE(world.channel->said.size() == 2);
  CHECK(world.channel->said[0]["params"]["level"] == "info");
  CHECK(world.channel->said[1]["params"]["level"] == "warning");
  CHECK(world.channel->said[1]["params"]["data"]["job_id"] == "J1");
}

TEST_CASE("a modern request gets log lines before its answer, at the level that it names",
          "[mcp][B72]") {
  LogWorld world("2026-07-28");
  const Json loud = {{"io.modelcontextprotocol/logLevel", "info"}};
  const Json quiet = {{"io.modelcontextprotocol/logLevel", "error"}};

  const auto heard = world.fail(loud);

  REQUIRE(heard.size() == 2);
  CHECK(heard[0]["method"] == "notifications/message");
  CHECK(heard[1].contains("result"));
  CHECK(world.fail(quiet).size() == 1);
  CHECK(world.fail().size() == 1);
}

}  // namespace indx
