#include "mcp/http_transport.hpp"

#include "base/text.hpp"
#include "tests/support/fake_mcp_dispatcher.hpp"
#include "tests/support/fake_mcp_exchange.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

namespace indx {
namespace {

using Headers = std::map<std::string, std::string>;
using Exchange = std::shared_ptr<FakeMcpExchange>;

Json rpc(const Json& id, const std::string& method, const Json& params = Json::object()) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}};
}

/// One endpoint and the clients that talk to it.
class Endpoint {
 public:
  explicit Endpoint(McpOptions options = {}) {
    options.clock = &clock;
    mcp = make_mcp_http(dispatcher, options);
    mcp->add_routes(router_);
  }

  Exchange send(const std::string& method, const std::string& body, Headers headers = {}) {
    HttpRequest request;
    request.method = method;
    request.path = "/mcp";
    request.is_loopback_listener = true;
    request.body = body;
    request.headers = {{"authorization", "Bearer indx_writer"},
                       {"content-type", "application/json"},
                       {"accept", "application/json, text/event-stream"}};
    for (auto& [name, value] : headers) {
      if (value.empty())
        request.headers.erase(name);
      else
        request.headers[name] = std::move(value);
    }
    auto exchange = std::make_shared<FakeMcpExchange>();
    router_.handle(request, Responder(exchange));
    return exchange;
  }
  Exchange post(const Json& message, Headers headers = {}) {
    return send("POST", message.dump(), std::move(headers));
  }

  /// Opens a session and gives the headers that carry it.
  Headers open(const std::string& token = "indx_writer",
               const std::string& version = "2025-11-25") {
    const auto exchange = post(
        rpc("i", "initialize", {{"protocolVersion", version}, {"capabilities", Json::object()}}),
        {{"authorization", "Bearer " + token}});
    REQUIRE(exchange->status() == 200);
    return {{"authorization", "Bearer " + token},
            {"mcp-session-id", exchange->header("Mcp-Session-Id")},
            {"mcp-protocol-version", version}};
  }

  FakeMcpDispatcher dispatcher;
  McpTestClock clock;
  std::unique_ptr<McpHttp> mcp;

 private:
  Router router_;
};

Headers with(Headers headers, const std::string& name, const std::string& value) {
  headers[name] = value;
  return headers;
}

Json json_of(const Exchange& exchange) { return Json::parse(exchange->body(), nullptr, false); }

/// The messages of an event stream, in order.
std::vector<Json> messages_of(const Exchange& exchange) {
  std::vector<Json> messages;
  for (const std::string& line : split(exchange->body(), '\n'))
    if (line.starts_with("data: {")) messages.push_back(Json::parse(line.substr(6)));
  return messages;
}

std::vector<std::string> tool_names(const Exchange& exchange) {
  std::vector<std::string> names;
  const Json answer = json_of(exchange);
  for (const Json& tool : answer["result"]["tools"])
    names.push_back(tool["name"].get<std::string>());
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Event progress_event(std::int64_t done, std::int64_t total) {
  Event event;
  event.kind = "job.progress";
  event.job_id = "J1";
  event.data = {{"done", done}, {"total", total}, {"unit", "notes"}};
  return event;
}

Json with_token(const Json& params, const Json& token) {
  Json made = params;
  made["_meta"] = {{"progressToken", token}};
  return made;
}

}  // namespace

TEST_CASE("initialize answers the version asked for, who we are and a session", "[mcp][B1][B8]") {
  Endpoint endpoint;
  for (const std::string version : {"2025-11-25", "2025-06-18"}) {
    const auto exchange = endpoint.post(
        rpc(0, "initialize", {{"protocolVersion", version}, {"capabilities", Json::object()}}));
    const Json result = json_of(exchange)["result"];

    CHECK(result["protocolVersion"] == version);
    CHECK(result["serverInfo"]["name"] == "indx");
    CHECK(result["serverInfo"]["version"] == "0.1.0");
    CHECK(result["instructions"].get<std::string>().size() < 2048);
    CHECK(exchange->header("Mcp-Session-Id").size() == 32);
  }
  const auto other = endpoint.post(rpc(1, "initialize", {{"protocolVersion", "1999-01-01"}}));
  CHECK(json_of(other)["result"]["protocolVersion"] == "2025-11-25");
}

TEST_CASE("initialize without a version, or inside a session, is refused and opens nothing",
          "[mcp]") {
  Endpoint endpoint;
  const auto bare = endpoint.post(rpc(1, "initialize"));
  CHECK(json_of(bare)["error"]["code"] == kRpcInvalidParams);
  CHECK(bare->header("Mcp-Session-Id").empty());

  const auto second =
      endpoint.post(rpc(2, "initialize", {{"protocolVersion", "2025-11-25"}}), endpoint.open());
  CHECK(second->status() == 400);
  CHECK(json_of(second)["error"]["code"] == kRpcInvalidRequest);
}

TEST_CASE("every request needs a token and an allowed origin", "[mcp][B8]") {
  Endpoint endpoint;
  for (const char* method : {"POST", "GET", "DELETE"}) {
    CHECK(endpoint.send(method, "{}", {{"authorization", ""}})->status() == 401);
    CHECK(endpoint.send(method, "{}", {{"authorization", "Bearer wrong"}})->status() == 401);
    CHECK(endpoint.send(method, "{}", {{"origin", "http://evil.example"}})->status() == 403);
  }
}

TEST_CASE("a session header that is missing, unknown, foreign or over gets 400 or 404", "[mcp]") {
  Endpoint endpoint;
  const Headers session = endpoint.open();
  const Json ping = rpc(1, "ping");

  CHECK(endpoint.post(ping)->status() == 400);
  CHECK(endpoint.post(ping, {{"mcp-session-id", "no-such-session"}})->status() == 404);
  CHECK(endpoint.post(ping, with(session, "authorization", "Bearer indx_reader"))->status() == 404);
  CHECK(endpoint.send("GET", "", {{"mcp-session-id", "no-such-session"}})->status() == 404);
  CHECK(endpoint.send("DELETE", "", {{"mcp-session-id", "no-such-session"}})->status() == 404);
  CHECK(endpoint.send("DELETE", "", session)->status() == 204);
  CHECK(endpoint.post(ping, session)->status() == 404);
  CHECK(endpoint.send("DELETE", "", session)->status() == 404);
}

TEST_CASE("notifications and responses get 202 with an empty body", "[mcp]") {
  Endpoint endpoint;
  const Headers session = endpoint.open();
  for (const Json& message :
       std::vector<Json>{{{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}},
                         {{"jsonrpc", "2.0"}, {"method", "notifications/nobody_knows"}},
                         {{"jsonrpc", "2.0"},
                          {"method", "notifications/cancelled"},
                          {"params", {{"requestId", 9}}}},
                         {{"jsonrpc", "2.0"}, {"id", "x"}, {"result", Json::object()}}}) {
    const auto exchange = endpoint.post(message, session);
    CHECK(exchange->status() == 202);
    CHECK(exchange->body().empty());
  }
}

TEST_CASE("headers that cannot work are refused, lenient ones are served in a type that fits",
          "[mcp]") {
  Endpoint endpoint;
  const Headers session = endpoint.open();
  const Json ping = rpc(1, "ping");

  CHECK(endpoint.post(ping, with(session, "accept", "text/plain"))->status() == 406);
  CHECK(endpoint.post(ping, with(session, "content-type", "text/plain"))->status() == 415);
  CHECK(endpoint.post(ping, with(session, "mcp-protocol-version", "1999-01-01"))->status() == 400);
  CHECK(endpoint.post(ping, with(session, "mcp-protocol-version", ""))->status() == 200);
  CHECK(endpoint.post(ping, with(session, "content-type", "Application/JSON; charset=utf-8"))
            ->status() == 200);
  for (const char* accept :
       {"*/*", "application/json", "text/event-stream;q=0.9, application/json", ""})
    CHECK(endpoint.post(ping, with(session, "accept", accept))->header("Content-Type") ==
          "application/json");

  const auto stream = endpoint.post(ping, with(session, "accept", "text/event-stream"));
  CHECK(stream->header("Content-Type") == "text/event-stream");
  CHECK(stream->is_closed());
  CHECK(messages_of(stream).at(0)["id"] == 1);
}

TEST_CASE("malformed messages get 400 and a JSON-RPC error", "[mcp]") {
  Endpoint endpoint;
  const Headers session = endpoint.open();

  const auto broken = endpoint.send("POST", R"({"jsonrpc":)", session);
  CHECK(broken->status() == 400);
  CHECK(json_of(broken)["error"]["code"] == kRpcParseError);
  CHECK(endpoint.send("POST", "[" + rpc(1, "ping").dump() + "]", session)->status() == 400);
  CHECK(json_of(endpoint.post(rpc(2, "no/such"), session))["error"]["code"] == kRpcMethodNotFound);
  CHECK(json_of(endpoint.post(rpc(2, "prompts/list"), session))["error"]["code"] ==
        kRpcMethodNotFound);
}

TEST_CASE("GET without a stream to resume is 405 with Allow", "[mcp]") {
  Endpoint endpoint;
  const Headers session = endpoint.open();

  for (const Headers& headers : {session, Headers{}, with(session, "last-event-id", "bogus")}) {
    const auto exchange = endpoint.send("GET", "", headers);
    CHECK(exchange->status() == 405);
    CHECK(exchange->header("Allow") == "POST, DELETE");
  }
  CHECK(endpoint.send("GET", "", with(session, "accept", "application/json"))->status() == 406);
  CHECK(endpoint.send("PUT", "", session)->status() == 405);
}

TEST_CASE("the catalog shows what the token's scopes and the provider allow", "[mcp][B9][B11]") {
  Endpoint endpoint;
  const auto writer = tool_names(endpoint.post(rpc(1, "tools/list"), endpoint.open()));
  const auto reader = tool_names(endpoint.post(rpc(1, "tools/list"), endpoint.open("indx_reader")));

  CHECK(contains(writer, "note_write"));
  CHECK_FALSE(contains(reader, "note_write"));
  CHECK(contains(reader, "note_read"));
  CHECK_FALSE(contains(writer, "ai_ask"));
  CHECK_FALSE(contains(writer, "token_create"));

  endpoint.dispatcher.is_ai_configured = true;
  CHECK(contains(tool_names(endpoint.post(rpc(1, "tools/list"), endpoint.open())), "ai_ask"));
  CHECK(json_of(endpoint.post(rpc(1, "tools/list", {{"cursor", "x"}}),
                              endpoint.open()))["error"]["code"] == kRpcInvalidParams);
}

TEST_CASE("a hidden tool is 403 with the id, an unknown one -32602, an ai tool ai_unavailable",
          "[mcp][B9][B11]") {
  Endpoint endpoint;
  const Headers reader = endpoint.open("indx_reader");

  const auto hidden = endpoint.post(rpc(7, "tools/call", {{"name", "note_write"}}), reader);
  CHECK(hidden->status() == 403);
  CHECK(hidden->header("WWW-Authenticate").find("insufficient_scope") != std::string::npos);
  CHECK(hidden->header("WWW-Authenticate").find("vault:write") != std::string::npos);
  CHECK(json_of(hidden)["id"] == 7);
  CHECK(json_of(hidden).contains("error"));

  CHECK(json_of(endpoint.post(rpc(8, "tools/call", {{"name", "nope"}}), reader))["error"]["code"] ==
        kRpcInvalidParams);
  const Json ai =
      json_of(endpoint.post(rpc(9, "tools/call", {{"name", "ai_ask"}}), reader))["result"];
  CHECK(ai["isError"] == true);
  CHECK(Json::parse(ai["content"][0]["text"].get<std::string>())["code"] == "ai_unavailable");
}

TEST_CASE("a tool call reaches the dispatcher with repaired input and answers as JSON",
          "[mcp][B5][B8]") {
  Endpoint endpoint;
  const Headers session = endpoint.open();

  const auto read = endpoint.post(
      rpc(1, "tools/call",
          {{"name", "note_read"}, {"arguments", R"({"path":"Ops/Runbook.md"})"_json}}),
      session);
  CHECK(read->header("Content-Type") == "application/json");
  CHECK(json_of(read)["result"]["structuredContent"]["body"] == "# Runbook\n");
  CHECK(endpoint.dispatcher.calls_of("note_read").at(0).principal.subject == "writer");
  CHECK_FALSE(endpoint.dispatcher.calls_of("note_read").at(0).keep);

  const auto missing = endpoint.post(
      rpc(2, "tools/call", {{"name", "note_read"}, {"arguments", {{"path", "x.md"}}}}), session);
  const Json error = json_of(missing)["result"];
  CHECK(missing->status() == 200);
  CHECK(error["isError"] == true);
  CHECK(Json::parse(error["content"][0]["text"].get<std::string>())["code"] == "not_found");
}

TEST_CASE("progress with a token streams on the call's own connection and ends with the answer",
          "[mcp]") {
  Endpoint endpoint;
  const Headers session = endpoint.open();
  for (const Json& token : std::vector<Json>{"tok-ü", 0}) {
    const auto exchange = endpoint.post(
        rpc("p", "tools/call", with_token({{"name", "vault_reindex"}}, token)), session);
    CHECK_FALSE(exchange->is_answered());
    const auto held = endpoint.dispatcher.held().back();
    CHECK(held.call.keep);

    held.progress(progress_event(1, 10));
    endpoint.clock.advance(std::chrono::milliseconds(100));
    held.progress(progress_event(2, 10));  // too soon
    endpoint.clock.advance(std::chrono::milliseconds(300));
    held.progress(progress_event(1, 10));  // a second phase
    endpoint.clock.advance(std::chrono::milliseconds(300));
    held.answer(mcp_answer(Json{{"indexed", 10}}));
    held.progress(progress_event(9, 10));  // too late

    CHECK(exchange->header("Content-Type") == "text/event-stream");
    CHECK(exchange->header("Cache-Control") == "no-cache, no-transform");
    CHECK(exchange->is_closed());
    const auto messages = messages_of(exchange);
    REQUIRE(messages.size() == 3);
    CHECK(messages[0]["params"]["progressToken"] == token);
    CHECK(messages[0]["params"]["progress"] == 1);
    CHECK(messages[1]["params"]["progress"] == 2);
    CHECK(messages[1]["params"]["total"] == 11);
    CHECK(messages[2]["result"]["structuredContent"]["indexed"] == 10);
  }
}

TEST_CASE("the start of a job is progress, once, also when its operation never reports any",
          "[mcp]") {
  Endpoint endpoint;
  const auto exchange = endpoint.post(
      rpc(1, "tools/call", with_token({{"name", "vault_reindex"}}, 7)), endpoint.open());
  const auto held = endpoint.dispatcher.held().back();
  Event started;
  started.kind = "job.started";
  started.job_id = "J1";

  held.progress(started);
  endpoint.clock.advance(std::chrono::seconds(1));
  held.progress(started);  // a second try
  held.answer(mcp_answer(Json{{"indexed", 1}}));

  const auto messages = messages_of(exchange);
  REQUIRE(messages.size() == 2);
  CHECK(messages[0]["params"]["progress"] == 0);
  CHECK(messages[1]["id"] == 1);
}

TEST_CASE("only a 2025-11-25 stream begins with an empty event", "[mcp]") {
  Endpoint endpoint;
  for (const auto& [version, primes] :
       std::map<std::string, bool>{{"2025-11-25", true}, {"2025-06-18", false}}) {
    const auto exchange =
        endpoint.post(rpc(1, "tools/call", with_token({{"name", "vault_reindex"}}, 1)),
                      endpoint.open("indx_writer", version));
    endpoint.dispatcher.held().back().progress(progress_event(1, 2));

    CHECK((exchange->body().find("data: \n\n") != std::string::npos) == primes);
    CHECK(exchange->body().find("retry: ") != std::string::npos);
  }
}

TEST_CASE("without a token nothing streams, and a failing call with one answers as JSON", "[mcp]") {
  Endpoint endpoint;
  const Headers session = endpoint.open();

  const auto silent = endpoint.post(rpc(1, "tools/call", {{"name", "vault_reindex"}}), session);
  endpoint.dispatcher.held().back().progress(progress_event(1, 2));
  CHECK_FALSE(silent->is_answered());
  endpoint.dispatcher.held().back().answer(mcp_answer(Json{{"indexed", 2}}));
  CHECK(silent->header("Content-Type") == "application/json");

  const auto failed =
      endpoint.post(rpc(2, "tools/call", with_token({{"name", "vault_reindex"}}, 1)), session);
  endpoint.dispatcher.held().back().answer(mcp_answer(make_error(Reason::Unavailable, "Busy.")));
  CHECK(failed->header("Content-Type") == "application/json");
  CHECK(json_of(failed)["result"]["isError"] == true);
}

TEST_CASE("a client that lost its stream gets the rest, once, on a new connection", "[mcp]") {
  Endpoint endpoint;
  const Headers session = endpoint.open();
  const auto first =
      endpoint.post(rpc("r", "tools/call", with_token({{"name", "vault_reindex"}}, 1)), session);
  const auto held = endpoint.dispatcher.held().back();
  held.progress(progress_event(1, 3));
  first->disconnect();
  endpoint.clock.advance(std::chrono::seconds(1));
  held.progress(progress_event(2, 3));

  const auto second = endpoint.send("GET", "", with(session, "last-event-id", "1-1"));
  CHECK(second->status() == 200);
  held.answer(mcp_answer(Json{{"indexed", 3}}));

  const auto messages = messages_of(second);
  REQUIRE(messages.size() == 2);
  CHECK(messages[0]["params"]["progress"] == 2);
  CHECK(messages[1]["id"] == "r");
  CHECK(second->is_closed());
  CHECK(messages_of(endpoint.send("GET", "", with(session, "last-event-id", "1-2"))).size() == 1);
  CHECK(endpoint.send("GET", "", with(session, "last-event-id", "1-3"))->status() == 405);
  CHECK(endpoint.send("GET", "", with(endpoint.open(), "last-event-id", "1-1"))->status() == 405);
}

TEST_CASE("a cancelled call stops, its job ends, and no answer follows", "[mcp]") {
  Endpoint endpoint;
  const Headers session = endpoint.open();
  const auto exchange =
      endpoint.post(rpc("slow", "tools/call", {{"name", "vault_reindex"}}), session);
  const auto held = endpoint.dispatcher.held().back();
  held.progress(progress_event(1, 2));
  const Json cancel = {{"jsonrpc", "2.0"},
                       {"method", "notifications/cancelled"},
                       {"params", {{"requestId", "slow"}}}};

  endpoint.post(cancel, endpoint.open());
  CHECK_FALSE(held.call.cancel.is_cancelled());
  CHECK(endpoint.post(cancel, session)->status() == 202);
  endpoint.post(cancel, session);
  held.answer(mcp_answer(Json{{"indexed", 2}}));

  CHECK(held.call.cancel.reason() == CancelReason::Requested);
  CHECK(exchange->status() == 202);
  CHECK(exchange->body().empty());
  REQUIRE(endpoint.dispatcher.calls_of("job_cancel").size() == 1);
  CHECK(endpoint.dispatcher.calls_of("job_cancel")[0].input["id"] == "J1");
}

TEST_CASE("a long job without progress is answered with its id before hosts give up", "[mcp]") {
  McpOptions options;
  options.job_wait = std::chrono::milliseconds(30);
  Endpoint endpoint(options);
  const Headers session = endpoint.open();
  const Json silent = rpc(1, "tools/call", {{"name", "vault_reindex"}});
  const Json unheard = rpc(2, "tools/call", with_token({{"name", "vault_reindex"}}, 1));
  for (const auto& exchange :
       {endpoint.post(silent, session),
        endpoint.post(unheard, with(session, "accept", "application/json"))}) {
    for (const auto& held : endpoint.dispatcher.held()) held.progress(progress_event(1, 100));

    REQUIRE(exchange->wait([](const auto& each) { return each.is_answered(); }));

    const Json result = json_of(exchange)["result"];
    CHECK(result["structuredContent"] == Json{{"job_id", "J1"}, {"status", "running"}});
    CHECK(result["content"][0]["text"].get<std::string>().find("job_get") != std::string::npos);
  }
  for (const auto& held : endpoint.dispatcher.held())
    held.answer(mcp_answer(Json{{"indexed", 100}}));  // too late
}

TEST_CASE("resources are notes: listed by page, offered as a template, read by URI", "[mcp]") {
  Endpoint endpoint;
  const Headers session = endpoint.open("indx_reader");

  const Json first = json_of(endpoint.post(rpc(1, "resources/list"), session))["result"];
  CHECK(first["resources"][0]["uri"] == "vault://Ops/Runbook.md");
  const Json last = json_of(endpoint.post(
      rpc(2, "resources/list", {{"cursor", first["nextCursor"]}}), session))["result"];
  CHECK(last["resources"][0]["uri"] == "vault:///tags/a%20b.md");
  CHECK_FALSE(last.contains("nextCursor"));
  CHECK(json_of(endpoint.post(rpc(3, "resources/list", {{"cursor", "bad"}}),
                              session))["error"]["code"] == kRpcInvalidParams);
  CHECK(json_of(endpoint.post(rpc(4, "resources/templates/list"),
                              session))["result"]["resourceTemplates"][0]["uriTemplate"] ==
        "vault://{+path}");

  const Json read = json_of(endpoint.post(
      rpc(5, "resources/read", {{"uri", "vault://Ops/Runbook.md"}}), session))["result"];
  CHECK(read["contents"][0]["text"] == "# Runbook\n");
  CHECK(endpoint.dispatcher.calls_of("note_read").back().input["include"] == Json::array({"raw"}));
  const Json missing = json_of(
      endpoint.post(rpc(6, "resources/read", {{"uri", "vault://no.md"}}), session))["error"];
  CHECK(missing["code"] == kRpcResourceNotFound);
  CHECK(missing["data"]["uri"] == "vault://no.md");
  CHECK(json_of(endpoint.post(rpc(7, "resources/read", {{"uri", "vault://../x"}}),
                              session))["error"]["code"] == kRpcInvalidParams);
  CHECK(endpoint.post(rpc(8, "resources/list"), endpoint.open("indx_nobody"))->status() == 403);
}

TEST_CASE("stopping ends open calls and refuses new ones", "[mcp]") {
  Endpoint endpoint;
  const Headers session = endpoint.open();
  const auto exchange = endpoint.post(rpc(1, "tools/call", {{"name", "slow_read"}}), session);

  endpoint.mcp->stop();

  CHECK(exchange->status() == 503);
  CHECK(endpoint.dispatcher.held().back().call.cancel.reason() == CancelReason::Shutdown);
  CHECK(endpoint.post(rpc(2, "ping"), session)->status() == 503);
}

}  // namespace indx
