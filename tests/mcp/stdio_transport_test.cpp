#include "mcp/stdio_transport.hpp"

#include "base/text.hpp"
#include "tests/support/fake_mcp_dispatcher.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <chrono>
#include <poll.h>
#include <thread>
#include <unistd.h>

namespace indx {
namespace {

/// A client with a server on the other end of two pipes.
class StdioClient {
 public:
  explicit StdioClient(std::set<Scope> scopes = {Scope::VaultRead, Scope::VaultWrite}) {
    REQUIRE(::pipe(to_server_.data()) == 0);
    REQUIRE(::pipe(from_server_.data()) == 0);
    thread_ =
        std::thread([this, principal = FakeMcpDispatcher::principal("local", std::move(scopes))] {
          exit_code = serve_mcp_stdio(dispatcher, principal, to_server_[0], from_server_[1], stop);
        });
  }
  ~StdioClient() {
    close_input();
    if (thread_.joinable()) thread_.join();
    for (const int fd : {to_server_[0], from_server_[0], from_server_[1]})
      if (fd >= 0) ::close(fd);
  }
  StdioClient(const StdioClient&) = delete;
  StdioClient& operator=(const StdioClient&) = delete;

  void write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const auto written = ::write(to_server_[1], bytes.data(), bytes.size());
      if (written <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  void send(const Json& id, const std::string& method, const Json& params = Json::object()) const {
    write(Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}.dump() +
          "\n");
  }
  void initialize() {
    send("i", "initialize", {{"protocolVersion", "2025-11-25"}});
    REQUIRE(next()["id"] == "i");
  }

  /// The next message; discarded when none comes in half a minute (busy machines).
  Json next() {
    for (;;) {
      if (const auto end = received_.find('\n'); end != std::string::npos) {
        const Json message = Json::parse(received_.substr(0, end), nullptr, false);
        received_.erase(0, end + 1);
        return message;
      }
      pollfd readable{from_server_[0], POLLIN, 0};
      std::array<char, 65536> buffer;
      if (::poll(&readable, 1, 30000) <= 0) return Json(Json::value_t::discarded);
      const auto count = ::read(from_server_[0], buffer.data(), buffer.size());
      if (count <= 0) return Json(Json::value_t::discarded);
      received_.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }

  void close_input() {
    if (to_server_[1] >= 0) ::close(to_server_[1]);
    to_server_[1] = -1;
  }
  void close_output() {
    ::close(from_server_[0]);
    from_server_[0] = -1;
  }
  /// How long the server took to return.
  std::chrono::milliseconds join() {
    const auto start = std::chrono::steady_clock::now();
    thread_.join();
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                                 start);
  }

  FakeMcpDispatcher dispatcher;
  CancelToken stop;
  int exit_code = -1;

 private:
  std::array<int, 2> to_server_{-1, -1}, from_server_{-1, -1};
  std::string received_;
  std::thread thread_;
};

constexpr std::chrono::milliseconds kLimit{5000};  // 1.5 s by design; the rest is for busy machines

}  // namespace

TEST_CASE("a stdio client opens a session, lists tools and calls one", "[mcp][B7]") {
  StdioClient client;
  client.initialize();

  client.send(1, "tools/list");
  CHECK(client.next()["result"]["tools"].size() > 3);
  client.send(2, "tools/call",
              {{"name", "note_read"}, {"arguments", {{"path", "Ops/Runbook.md"}}}});
  CHECK(client.next()["result"]["structuredContent"]["body"] == "# Runbook\n");
  client.send(3, "resources/read", {{"uri", "vault://Ops/Runbook.md"}});
  CHECK(client.next()["result"]["contents"][0]["text"] == "# Runbook\n");
}

TEST_CASE("narrower scopes hide tools on stdio, and calling one is a forbidden result",
          "[mcp][B7][B9]") {
  StdioClient client({Scope::VaultRead});
  client.initialize();

  client.send(1, "tools/list");
  const Json list = client.next();
  CHECK(list["result"]["tools"].size() > 1);
  for (const Json& tool : list["result"]["tools"]) CHECK(tool["name"] != "note_write");
  client.send(2, "tools/call", {{"name", "note_write"}});
  const Json result = client.next()["result"];
  CHECK(result["isError"] == true);
  CHECK(Json::parse(result["content"][0]["text"].get<std::string>())["code"] == "forbidden");
}

TEST_CASE("a cursor that a host filled in with nothing is none", "[mcp]") {
  StdioClient client;
  client.initialize();
  for (const std::string method :
       {"tools/list", "prompts/list", "resources/list", "resources/templates/list"}) {
    client.send(method, method, {{"cursor", ""}});
    const Json answer = client.next();
    INFO(answer.dump());
    CHECK(answer["result"].is_object());
  }
}

TEST_CASE("a key of a call that is no text is refused and not passed over", "[mcp]") {
  StdioClient client;
  client.initialize();
  client.send(1, "tools/call",
              {{"name", "note_write"},
               {"arguments", {{"path", "a.md"}, {"body", "x"}}},
               {"_meta", {{"indx/idempotency_key", 5}}}});
  CHECK(client.next()["error"]["code"] == kRpcInvalidParams);
}

TEST_CASE("before initialize a client may ping and gets an error for the rest", "[mcp]") {
  StdioClient client;

  client.send(0, "server/discover");  // of the modern era, but without what that asks for
  CHECK(client.next()["error"]["code"] == kRpcInvalidParams);
  client.send("", "ping");
  CHECK(client.next() == Json{{"jsonrpc", "2.0"}, {"id", ""}, {"result", Json::object()}});
  client.send(1, "tools/list");
  CHECK(client.next()["error"]["code"] == kRpcInvalidRequest);
  client.initialize();
  client.send(2, "initialize", {{"protocolVersion", "2025-11-25"}});
  CHECK(client.next()["error"]["code"] == kRpcInvalidRequest);
}

TEST_CASE("lines may be split, blank, end in CRLF, or be a megabyte long", "[mcp]") {
  StdioClient client;
  for (const char byte : std::string(R"({"jsonrpc":"2.0","id":"ü","method":"ping"})") + "\n")
    client.write({&byte, 1});
  CHECK(client.next()["id"] == "ü");

  client.write("\r\n\n  \n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\r\n");
  CHECK(client.next()["id"] == 2);

  client.send(3, "ping", {{"_meta", {{"pad", std::string(1 << 20, 'x')}}}});
  CHECK(client.next()["id"] == 3);
}

TEST_CASE("a malformed line is reported and the session goes on", "[mcp]") {
  StdioClient client;
  client.write("{\"jsonrpc\":\"2.0\", oops\n");
  CHECK(client.next()["error"]["code"] == kRpcParseError);

  client.write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/nobody_knows\"}\n");
  client.send(1, "ping");
  CHECK(client.next()["id"] == 1);
}

TEST_CASE("a slow call blocks no ping, and its cancellation is final", "[mcp]") {
  StdioClient client;
  client.initialize();
  client.send("slow", "tools/call", {{"name", "slow_read"}});
  client.send("fast", "ping");
  CHECK(client.next()["id"] == "fast");

  client.write(
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow"}})"
      "\n");
  client.send("after", "ping");
  CHECK(client.next()["id"] == "after");
  const auto held = client.dispatcher.held().back();
  CHECK(held.call.cancel.reason() == CancelReason::Requested);
  held.answer(mcp_answer(Json{{"path", "a.md"}}));
  client.send("end", "ping");
  CHECK(client.next()["id"] == "end");
}

TEST_CASE("progress on stdio comes before the answer of its call", "[mcp]") {
  StdioClient client;
  client.initialize();
  client.send(5, "tools/call", {{"name", "vault_reindex"}, {"_meta", {{"progressToken", "t"}}}});
  client.send(6, "ping");
  CHECK(client.next()["id"] == 6);
  const auto held = client.dispatcher.held().back();
  Event event;
  event.kind = "job.progress";
  event.data = {{"progress", {{"done", 1}, {"total", 4}, {"current", "a.md"}}}};

  held.progress(event);
  held.answer(mcp_answer(Json{{"indexed", 4}}));

  const Json progress = client.next();
  CHECK(progress["method"] == "notifications/progress");
  CHECK(progress["params"]["message"] == "1 of 4 notes, a.md");
  CHECK(client.next()["id"] == 5);
}

TEST_CASE("many pipelined requests are all answered", "[mcp]") {
  StdioClient client;
  std::string lines;
  for (int i = 0; i < 500; ++i)
    lines += R"({"jsonrpc":"2.0","method":"ping","id":)" + std::to_string(i) + "}\n";
  client.write(lines);

  for (int i = 0; i < 500; ++i) REQUIRE(client.next()["id"] == i);
}

TEST_CASE("the end of the input ends the server with exit code 0, open calls or not", "[mcp]") {
  StdioClient idle;
  idle.close_input();
  CHECK(idle.join() < kLimit);
  CHECK(idle.exit_code == 0);

  StdioClient busy;
  busy.initialize();
  busy.send(1, "tools/call", {{"name", "slow_read"}});
  busy.send(2, "ping");
  CHECK(busy.next()["id"] == 2);
  busy.close_input();
  CHECK(busy.join() < kLimit);
  CHECK(busy.dispatcher.held().back().call.cancel.is_cancelled());
  busy.dispatcher.held().back().answer(mcp_answer(Json::object()));  // too late, and harmless
}

TEST_CASE("the end of the input ends the server also when nobody reads what it answers", "[mcp]") {
  StdioClient deaf;
  const auto ping = [&](std::size_t id_bytes) {
    deaf.write(
        cat(R"({"jsonrpc":"2.0","method":"ping","id":")", std::string(id_bytes, 'x'), "\"}\n"));
  };
  for (int i = 0; i < 63; ++i) ping(1U << 20U);
  ping(1'900'000);  // answers of more than 64 MB wait: what comes now is not read any more
  for (int i = 0; i < 100; ++i) ping(20);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  CHECK(deaf.exit_code == -1);  // as long as the client is there, its reader is waited for
  deaf.close_input();

  CHECK(deaf.join() < kLimit);
  CHECK(deaf.exit_code == 0);
}

TEST_CASE("a last line without a newline is still answered", "[mcp]") {
  StdioClient client;
  client.write(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
  client.close_input();

  CHECK(client.next()["id"] == 1);
}

TEST_CASE("a stop request and a client that stops reading both end the server", "[mcp]") {
  StdioClient stopped;
  stopped.stop.cancel(CancelReason::Shutdown);
  CHECK(stopped.join() < kLimit);

  StdioClient gone;
  gone.close_output();
  gone.send(1, "ping");
  CHECK(gone.join() < kLimit);
}

TEST_CASE("a batch is answered in one line where the version has batches, and refused elsewhere",
          "[mcp][B72]") {
  StdioClient newer;
  newer.write(R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])"
              "\n");
  CHECK(newer.next()["error"]["code"] == kRpcInvalidRequest);
  newer.initialize();
  newer.write(R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])"
              "\n");
  CHECK(newer.next()["error"]["code"] == kRpcInvalidRequest);

  StdioClient client;
  client.send("i", "initialize", {{"protocolVersion", "2025-03-26"}});
  REQUIRE(client.next()["result"]["protocolVersion"] == "2025-03-26");
  client.write(R"([{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow_read"}},)"
               R"({"jsonrpc":"2.0","method":"notifications/nobody_knows"},7,)"
               R"({"jsonrpc":"2.0","id":2,"method":"ping"}])"
               "\n[]\n");
  CHECK(client.next()["error"]["code"] == kRpcInvalidRequest);  // of the empty one
  client.dispatcher.held().back().answer(mcp_answer(Json{{"path", "a.md"}}));
  const Json answers = client.next();
  REQUIRE(answers.size() == 3);
  CHECK(answers[0]["error"]["code"] == kRpcInvalidRequest);
  CHECK(answers[1]["id"] == 2);
  CHECK(answers[2]["id"] == 1);

  client.write(R"([{"jsonrpc":"2.0","method":"notifications/nobody_knows"}])"
               "\n");
  client.send(3, "ping");
  CHECK(client.next()["id"] == 3);
}

TEST_CASE("200 slow calls over stdio, cancelled at any time: never an answer after it",
          "[mcp][B72][mcp-9]") {
  StdioClient client;
  client.initialize();
  SeededRandom random(7);
  for (int i = 0; i < 200; ++i) {
    client.send(i, "tools/call", {{"name", "slow_read"}});
    client.send("started", "ping");
    REQUIRE(client.next()["id"] == "started");
    const auto held = client.dispatcher.held().back();
    const bool ends_first = random.next() % 2 == 0;
    if (ends_first) {
      held.answer(mcp_answer(Json{{"path", "a.md"}}));
      CHECK(client.next()["id"] == i);
    }
    for (int times = 0; times < 2; ++times)
      client.write(Json{{"jsonrpc", "2.0"},
                        {"method", "notifications/cancelled"},
                        {"params", {{"requestId", i}}}}
                       .dump() +
                   "\n");
    client.send("cancelled", "ping");
    CHECK(client.next()["id"] == "cancelled");
    if (!ends_first) held.answer(mcp_answer(Json{{"path", "a.md"}}));
  }
  client.send("end", "ping");
  CHECK(client.next()["id"] == "end");
}

}  // namespace indx
