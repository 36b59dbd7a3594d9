#include "tests/support/mcp_endpoint.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <thread>

namespace indx {
namespace {

const std::vector<std::string> kLegacyVersions = {"2024-11-05", "2025-03-26", "2025-06-18",
                                                  "2025-11-25"};

const Json kPing = mcp_request(1, "ping");

}  // namespace

TEST_CASE("every legacy version gets its session, and may leave its header out", "[mcp][B72]") {
  McpEndpoint endpoint;
  for (const std::string& version : kLegacyVersions) {
    const auto opened = endpoint.post(mcp_request(
        0, "initialize", {{"protocolVersion", version}, {"capabilities", Json::object()}}));
    CHECK(mcp_json(opened)["result"]["protocolVersion"] == version);
    const McpHeaders session = {{"mcp-session-id", opened->header("Mcp-Session-Id")}};
    CHECK(endpoint.post(kPing, session)->status() == 200);
    CHECK(endpoint.post(kPing, with_header(session, "mcp-protocol-version", version))->status() ==
          200);
  }
}

TEST_CASE("a session header that is missing, unknown, foreign or over gets 400 or 404", "[mcp]") {
  McpEndpoint endpoint;
  const McpHeaders session = endpoint.open();

  CHECK(endpoint.post(kPing)->status() == 400);
  CHECK(endpoint.send("DELETE", "")->status() == 400);
  for (const McpHeaders& dead : {McpHeaders{{"mcp-session-id", "no-such-session"}},
                                 with_header(session, "authorization", "Bearer indx_reader")}) {
    CHECK(endpoint.post(kPing, dead)->status() == 404);
    CHECK(endpoint.get(dead)->status() == 404);
    CHECK(endpoint.send("DELETE", "", dead)->status() == 404);
  }
  CHECK(endpoint.post(kPing, session)->status() == 200);  // nobody else could end it
  CHECK(endpoint.send("DELETE", "", session)->status() == 204);
  CHECK(endpoint.post(kPing, session)->status() == 404);
  CHECK(endpoint.get(session)->status() == 404);
  CHECK(endpoint.send("DELETE", "", session)->status() == 404);
}

TEST_CASE("a call in work when its session is ended is told so, and not that it was taken",
          "[mcp]") {
  McpEndpoint endpoint;
  const McpHeaders session = endpoint.open();
  const auto plain = endpoint.post(mcp_request(7, "tools/call", {{"name", "slow_read"}}),
                                   with_header(session, "accept", "application/json"));

  CHECK(endpoint.send("DELETE", "", session)->status() == 204);

  CHECK(plain->status() == 404);
  CHECK(mcp_json(plain)["id"] == 7);
  CHECK(endpoint.dispatcher.held().back().call.cancel.is_cancelled());
}

TEST_CASE("an expired session is 404 on every method, and the next initialize works", "[mcp]") {
  McpOptions options;
  options.sessions.idle = std::chrono::minutes(10);
  McpEndpoint endpoint(options);
  const McpHeaders first = endpoint.open(), second = endpoint.open(), third = endpoint.open();

  endpoint.clock.advance(std::chrono::minutes(11));

  CHECK(endpoint.post(kPing, first)->status() == 404);
  CHECK(endpoint.get(second)->status() == 404);
  CHECK(endpoint.send("DELETE", "", third)->status() == 404);
  CHECK(endpoint.post(kPing, endpoint.open())->status() == 200);
}

TEST_CASE("the same request id in two sessions, and twice in one, belongs to its own exchange",
          "[mcp]") {
  McpEndpoint endpoint;
  const McpHeaders first = endpoint.open(), second = endpoint.open();
  const Json call = mcp_request(7, "tools/call", {{"name", "slow_read"}});
  std::vector<McpExchange> exchanges = {endpoint.post(call, first), endpoint.post(call, first),
                                        endpoint.post(call, second)};
  const auto held = endpoint.dispatcher.held();

  for (const std::size_t i : {std::size_t{2}, std::size_t{0}, std::size_t{1}})
    held[i].answer(mcp_answer(Json{{"path", cat(i)}}));

  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(mcp_json(exchanges[i])["id"] == 7);
    CHECK(mcp_json(exchanges[i])["result"]["structuredContent"]["path"] == cat(i));
  }
}

TEST_CASE("5,000 sessions that nobody ends leave no more behind than the cap", "[mcp]") {
  McpEndpoint endpoint;
  std::vector<McpExchange> listeners;
  for (int i = 0; i < 5000; ++i) {
    endpoint.clock.advance(std::chrono::milliseconds(1));
    const McpHeaders session = endpoint.open();
    listeners.push_back(endpoint.get(session));
    endpoint.post(mcp_request(1, "tools/call",
                              {{"name", "note_read"}, {"arguments", {{"path", "Ops/Runbook.md"}}}}),
                  session);
    if (i % 2 == 0) listeners.back()->disconnect();
  }
  const auto held = std::count_if(listeners.begin(), listeners.end(),
                                  [](const auto& each) { return each->is_held(); });

  CHECK(held <= 1000);
  CHECK(listeners.back()->is_held());
  CHECK(listeners[1]->is_closed());  // who still listened was told
}

TEST_CASE("a cancelled call stops, its job ends, and no answer follows", "[mcp][B72]") {
  McpEndpoint endpoint;
  const McpHeaders session = endpoint.open();
  const auto exchange =
      endpoint.post(mcp_request("slow", "tools/call", {{"name", "vault_reindex"}}), session);
  const auto held = endpoint.dispatcher.held().back();
  held.progress(progress_event(1, 2));

  endpoint.post(mcp_cancel("slow"), endpoint.open());
  CHECK_FALSE(held.call.cancel.is_cancelled());
  CHECK(endpoint.post(mcp_cancel("slow"), session)->status() == 202);
  endpoint.post(mcp_cancel("slow"), session);
  held.answer(mcp_answer(Json{{"indexed", 2}}));

  CHECK(held.call.cancel.reason() == CancelReason::Requested);
  CHECK(exchange->status() == 202);
  CHECK(exchange->body().empty());
  REQUIRE(endpoint.dispatcher.calls_of("job_cancel").size() == 1);
  CHECK(endpoint.dispatcher.calls_of("job_cancel")[0].input["id"] == "J1");
}

TEST_CASE(
    "200 slow calls, cancelled at any time, twice and after the end: none is answered twice "
    "or after its cancellation",
    "[mcp][B72]") {
  McpEndpoint endpoint;
  const McpHeaders session = endpoint.open();
  SeededRandom random(20260729);
  for (int i = 0; i < 200; ++i) {
    const Json id = i % 3 == 0 ? Json(cat("c", i)) : Json(i);
    const bool streams = i % 2 == 0;
    Json params = {{"name", streams ? "vault_reindex" : "slow_read"}};
    if (streams) params = with_progress_token(params, i);
    const auto exchange = endpoint.post(mcp_request(id, "tools/call", params), session);
    const auto held = endpoint.dispatcher.held().back();
    const auto work = [&] {
      for (std::uint64_t step = random.next() % 4; step > 0; --step) {
        endpoint.clock.advance(std::chrono::seconds(1));
        held.progress(progress_event(static_cast<std::int64_t>(4 - step), 4));
      }
      held.answer(mcp_answer(Json{{streams ? "indexed" : "path", streams ? Json(1) : "a.md"}}));
    };
    const auto cancel = [&] { CHECK(endpoint.post(mcp_cancel(id), session)->status() == 202); };

    const auto order = random.next() % 3;
    if (order == 0) {  // cancel first
      cancel();
      work();
    } else if (order == 1) {  // answer first
      work();
      cancel();
    } else {  // whoever comes first
      std::thread worker(work);
      cancel();
      worker.join();
    }
    const std::string at_cancel = exchange->body();
    cancel();

    CHECK(exchange->body() == at_cancel);
    CHECK(exchange->is_closed());
    CHECK_FALSE(exchange->is_held());
    const bool is_json = exchange->header("Content-Type") == "application/json";
    const auto messages = is_json ? std::vector<Json>{mcp_json(exchange)} : mcp_messages(exchange);
    const auto answers = std::count_if(messages.begin(), messages.end(),
                                       [](const Json& message) { return message.contains("id"); });
    CHECK(answers == (order == 0 ? 0 : order == 1 ? 1 : answers));
    CHECK(answers <= 1);
    if (answers == 1) CHECK(messages.back()["id"] == id);
  }
  CHECK(endpoint.post(kPing, session)->status() == 200);
}

TEST_CASE("a client that goes away cancels nothing", "[mcp][B72]") {
  McpEndpoint endpoint;
  const McpHeaders session = endpoint.open();
  const auto exchange =
      endpoint.post(mcp_request(1, "tools/call", {{"name", "slow_read"}}), session);

  exchange->disconnect();

  CHECK_FALSE(endpoint.dispatcher.held().back().call.cancel.is_cancelled());
  endpoint.dispatcher.held().back().answer(mcp_answer(Json{{"path", "a.md"}}));
  CHECK(endpoint.post(kPing, session)->status() == 200);
}

TEST_CASE("a Host is this machine in every way of writing it, and nothing that looks like it",
          "[mcp][mcp-13]") {
  McpEndpoint endpoint;
  const auto status = [&](const std::string& name, const std::string& value) {
    return endpoint
        .post(mcp_request(1, "initialize", {{"protocolVersion", "2025-11-25"}}), {{name, value}})
        ->status();
  };
  for (const char* host : {"localhost", "localhost:8080", "LocalHost:8080", "127.0.0.1",
                           "127.0.0.1:1", "[::1]", "[::1]:8080", "notes.localhost"}) {
    CHECK(status("host", host) == 200);
    CHECK(status("origin", cat("http://", host)) == 200);
    CHECK(status("origin", cat("https://", host)) == 200);
  }
  for (const char* host :
       {"evil.example", "localhost.evil", "localhost.evil:8080", "127.0.0.1.evil", "127.0.0.1.",
        "localhost.", "127.1.evil:80", "[::1].evil", "evil.example:8080", "localhost@evil.example",
        "xlocalhost", "127.0.0.1x", "[::2]", "128.0.0.1"}) {
    CHECK(status("host", host) == 403);
    CHECK(status("origin", cat("http://", host)) == 403);
  }
  for (const char* origin :
       {"null", "file://", "localhost", "chrome-extension://localhost", "httpx.evil", "http://"})
    CHECK(status("origin", origin) == 403);
}

TEST_CASE("a configured public name is this server too, and beyond loopback a page of its own host",
          "[mcp][mcp-13]") {
  McpEndpoint endpoint;
  const auto status = [&](bool is_loopback, const std::string& host, const std::string& origin) {
    HttpRequest request;
    request.method = "POST";
    request.path = "/mcp";
    request.is_loopback_listener = is_loopback;
    request.public_names =
        std::make_shared<const std::vector<std::string>>(std::vector<std::string>{"notes.example"});
    request.headers = {{"authorization", "Bearer indx_writer"},
                       {"content-type", "application/json"},
                       {"host", host}};
    if (!origin.empty()) request.headers["origin"] = origin;
    request.body = mcp_request(1, "initialize", {{"protocolVersion", "2025-11-25"}}).dump();
    const auto exchange = std::make_shared<FakeMcpExchange>();
    endpoint.router.handle(request, Responder(exchange));
    return exchange->status();
  };

  CHECK(status(true, "Notes.Example", "https://notes.example") == 200);
  CHECK(status(true, "notes.example:443", "https://notes.example:443") == 200);
  CHECK(status(true, "notes.example.evil", "") == 403);
  CHECK(status(true, "localhost", "https://notes.example.evil") == 403);

  CHECK(status(false, "192.168.1.5:8080", "") == 200);
  CHECK(status(false, "192.168.1.5:8080", "http://192.168.1.5:8080") == 200);
  CHECK(status(false, "192.168.1.5:8080", "https://notes.example") == 200);
  CHECK(status(false, "192.168.1.5:8080", "http://evil.example") == 403);
  CHECK(status(false, "192.168.1.5:8080", "null") == 403);
}

}  // namespace indx
