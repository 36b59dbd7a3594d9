#include "tests/support/mcp_endpoint.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

namespace indx {
namespace {

std::vector<std::string> tool_names(const McpExchange& exchange) {
  std::vector<std::string> names;
  const Json answer = mcp_json(exchange);
  for (const Json& tool : answer["result"]["tools"])
    names.push_back(tool["name"].get<std::string>());
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

TEST_CASE("initialize answers the version asked for, who we are and a session", "[mcp][B1][B8]") {
  McpEndpoint endpoint;
  for (const std::string version : {"2025-11-25", "2025-06-18"}) {
    const auto exchange = endpoint.post(mcp_request(
        0, "initialize", {{"protocolVersion", version}, {"capabilities", Json::object()}}));
    const Json result = mcp_json(exchange)["result"];

    CHECK(result["protocolVersion"] == version);
    CHECK(result["serverInfo"]["name"] == "indx");
    CHECK(result["serverInfo"]["version"] == "0.1.0");
    CHECK(result["instructions"].get<std::string>().size() < 2048);
    CHECK(exchange->header("Mcp-Session-Id").size() == 32);
  }
  const auto other =
      endpoint.post(mcp_request(1, "initialize", {{"protocolVersion", "1999-01-01"}}));
  CHECK(mcp_json(other)["result"]["protocolVersion"] == "2025-11-25");
}

TEST_CASE("initialize without a version, or inside a session, is refused and opens nothing",
          "[mcp]") {
  McpEndpoint endpoint;
  const auto bare = endpoint.post(mcp_request(1, "initialize"));
  CHECK(mcp_json(bare)["error"]["code"] == kRpcInvalidParams);
  CHECK(bare->header("Mcp-Session-Id").empty());

  const auto second = endpoint.post(
      mcp_request(2, "initialize", {{"protocolVersion", "2025-11-25"}}), endpoint.open());
  CHECK(second->status() == 400);
  CHECK(mcp_json(second)["error"]["code"] == kRpcInvalidRequest);
}

TEST_CASE("every request needs a token and an allowed origin", "[mcp][B8]") {
  McpEndpoint endpoint;
  for (const char* method : {"POST", "GET", "DELETE"}) {
    CHECK(endpoint.send(method, "{}", {{"authorization", ""}})->status() == 401);
    CHECK(endpoint.send(method, "{}", {{"authorization", "Bearer wrong"}})->status() == 401);
    CHECK(endpoint.send(method, "{}", {{"origin", "http://evil.example"}})->status() == 403);
  }
}

TEST_CASE("notifications and responses get 202 with an empty body", "[mcp]") {
  McpEndpoint endpoint;
  const McpHeaders session = endpoint.open();
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
  McpEndpoint endpoint;
  const McpHeaders session = endpoint.open();
  const Json ping = mcp_request(1, "ping");

  const auto unreadable = endpoint.post(ping, with_header(session, "accept", "text/plain"));
  CHECK(unreadable->status() == 406);
  CHECK(mcp_json(unreadable)["id"] == 1);  // it could be told
  CHECK(endpoint
            .post({{"jsonrpc", "2.0"}, {"method", "notifications/nobody_knows"}},
                  with_header(session, "accept", "text/plain"))
            ->status() == 202);
  CHECK(endpoint.post(ping, with_header(session, "content-type", "text/plain"))->status() == 415);
  CHECK(endpoint.post(ping, with_header(session, "mcp-protocol-version", "1999-01-01"))->status() ==
        400);
  CHECK(endpoint.post(ping, with_header(session, "mcp-protocol-version", ""))->status() == 200);
  CHECK(
      endpoint.post(ping, with_header(session, "content-type", "Application/JSON; charset=utf-8"))
          ->status() == 200);
  const auto stream = endpoint.post(ping, with_header(session, "accept", "text/event-stream"));
  CHECK(stream->header("Content-Type") == "text/event-stream");
  CHECK(stream->is_closed());
  CHECK(mcp_messages(stream).at(0)["id"] == 1);
}

TEST_CASE("every form of Accept gets an answer that it allows, or none", "[mcp][B8]") {
  struct Form {
    const char* accept;  // empty: no header
    const char* post;    // "": 406
    bool opens_stream;   // with GET
  };
  constexpr const char *kJson = "application/json", *kSse = "text/event-stream";
  const std::vector<Form> forms = {{"", kJson, true},
                                   {"*/*", kJson, true},
                                   {"application/json", kJson, false},
                                   {"APPLICATION/JSON", kJson, false},
                                   {"application/json; charset=utf-8", kJson, false},
                                   {"application/*", kJson, false},
                                   {"Application/*;q=0.1", kJson, false},
                                   {"text/event-stream", kSse, true},
                                   {"Text/Event-Stream", kSse, true},
                                   {"text/*", kSse, true},
                                   {"application/json, text/event-stream", kJson, true},
                                   {"text/event-stream;q=0.9, application/json", kJson, true},
                                   {"application/json,text/event-stream;q=0", kJson, false},
                                   {"text/event-stream;q=0, */*", kJson, false},
                                   {"application/json;q=0, */*", kSse, true},
                                   {"application/json; q=0.000 , text/*", kSse, true},
                                   {"application/*;q=0, */*", kSse, true},
                                   {"application/*;q=0, application/json", kJson, false},
                                   {"*/*;q=0, application/json", kJson, false},
                                   {"*/*;q=0.001", kJson, true},
                                   {"*/*;Q=0", "", false},
                                   {"application/json;q=0", "", false},
                                   {"application/json;q=0, text/event-stream;q=0, */*", "", false},
                                   {"text/plain", "", false},
                                   {"application/json-seq, application/xml", "", false},
                                   {"json", "", false},
                                   {",", "", false},
                                   // Two headers, as the reader of requests joins them.
                                   {"application/json, text/event-stream, */*;q=0", kJson, true},
                                   {"text/html, application/json", kJson, false},
                                   {"text/html, text/event-stream", kSse, true}};
  McpEndpoint endpoint;
  const McpHeaders session = endpoint.open();
  for (const auto& [accept, post, opens_stream] : forms) {
    INFO("Accept: " << accept);
    const auto headers = with_header(session, "accept", accept);
    const auto posted = endpoint.post(mcp_request(5, "ping"), headers);
    const bool is_served = *post != '\0';
    CHECK(posted->status() == (is_served ? 200 : 406));
    CHECK(posted->header("Content-Type") == (is_served ? post : kJson));
    const Json answer = post == kSse ? mcp_messages(posted).at(0) : mcp_json(posted);
    CHECK(answer["id"] == 5);
    CHECK(answer.contains("error") != is_served);

    const auto got = endpoint.get(headers);
    CHECK(got->status() == (opens_stream ? 200 : 405));
    CHECK(got->header("Content-Type") == (opens_stream ? kSse : kJson));
  }
}

TEST_CASE("malformed messages get 400 and a JSON-RPC error", "[mcp]") {
  McpEndpoint endpoint;
  const McpHeaders session = endpoint.open();

  const auto broken = endpoint.send("POST", R"({"jsonrpc":)", session);
  CHECK(broken->status() == 400);
  CHECK(mcp_json(broken)["error"]["code"] == kRpcParseError);
  CHECK(mcp_json(endpoint.post(mcp_request(2, "no/such"), session))["error"]["code"] ==
        kRpcMethodNotFound);
}

TEST_CASE("the catalog shows what the token's scopes and the provider allow",
          "[mcp][B9][B11][mcp-11]") {
  McpEndpoint endpoint;
  const auto writer = tool_names(endpoint.post(mcp_request(1, "tools/list"), endpoint.open()));
  const auto reader =
      tool_names(endpoint.post(mcp_request(1, "tools/list"), endpoint.open("indx_reader")));

  CHECK(contains(writer, "note_write"));
  CHECK_FALSE(contains(reader, "note_write"));
  CHECK(contains(reader, "note_read"));
  CHECK_FALSE(contains(writer, "ai_ask"));
  CHECK_FALSE(contains(writer, "token_create"));

  endpoint.dispatcher.is_ai_configured = true;
  CHECK(
      contains(tool_names(endpoint.post(mcp_request(1, "tools/list"), endpoint.open())), "ai_ask"));
  CHECK_FALSE(
      mcp_json(endpoint.post(mcp_request(1, "tools/list"), endpoint.open()))["result"].contains(
          "nextCursor"));
  CHECK(mcp_json(endpoint.post(mcp_request(1, "tools/list", {{"cursor", "x"}}),
                               endpoint.open()))["error"]["code"] == kRpcInvalidParams);
}

TEST_CASE("a hidden tool is 403 with the id, an unknown one -32602, an ai tool ai_unavailable",
          "[mcp][B9][B11]") {
  McpEndpoint endpoint;
  const McpHeaders reader = endpoint.open("indx_reader");

  const auto hidden = endpoint.post(mcp_request(7, "tools/call", {{"name", "note_write"}}), reader);
  CHECK(hidden->status() == 403);
  CHECK(hidden->header("WWW-Authenticate").find("insufficient_scope") != std::string::npos);
  CHECK(hidden->header("WWW-Authenticate").find("vault:write") != std::string::npos);
  CHECK(mcp_json(hidden)["id"] == 7);
  CHECK(mcp_json(hidden).contains("error"));

  CHECK(mcp_json(endpoint.post(mcp_request(8, "tools/call", {{"name", "nope"}}),
                               reader))["error"]["code"] == kRpcInvalidParams);
  const Json ai =
      mcp_json(endpoint.post(mcp_request(9, "tools/call", {{"name", "ai_ask"}}), reader))["result"];
  CHECK(ai["isError"] == true);
  CHECK(Json::parse(ai["content"][0]["text"].get<std::string>())["code"] == "ai_unavailable");
}

TEST_CASE("a tool call reaches the dispatcher with repaired input and answers as JSON",
          "[mcp][B5][B8]") {
  McpEndpoint endpoint;
  const McpHeaders session = endpoint.open();

  const auto read = endpoint.post(
      mcp_request(1, "tools/call",
                  {{"name", "note_read"}, {"arguments", R"({"path":"Ops/Runbook.md"})"_json}}),
      session);
  CHECK(read->header("Content-Type") == "application/json");
  CHECK(mcp_json(read)["result"]["structuredContent"]["body"] == "# Runbook\n");
  CHECK(endpoint.dispatcher.calls_of("note_read").at(0).principal.subject == "writer");
  CHECK_FALSE(endpoint.dispatcher.calls_of("note_read").at(0).keep);

  const auto missing = endpoint.post(
      mcp_request(2, "tools/call", {{"name", "note_read"}, {"arguments", {{"path", "x.md"}}}}),
      session);
  const Json error = mcp_json(missing)["result"];
  CHECK(missing->status() == 200);
  CHECK(error["isError"] == true);
  CHECK(Json::parse(error["content"][0]["text"].get<std::string>())["code"] == "not_found");
}

TEST_CASE("progress with a token streams on the call's own connection and ends with the answer",
          "[mcp]") {
  McpEndpoint endpoint;
  const McpHeaders session = endpoint.open();
  for (const Json& token : std::vector<Json>{"tok-ü", 0}) {
    const auto exchange = endpoint.post(
        mcp_request("p", "tools/call", with_progress_token({{"name", "vault_reindex"}}, token)),
        session);
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
    const auto messages = mcp_messages(exchange);
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
  McpEndpoint endpoint;
  const auto exchange = endpoint.post(
      mcp_request(1, "tools/call", with_progress_token({{"name", "vault_reindex"}}, 7)),
      endpoint.open());
  const auto held = endpoint.dispatcher.held().back();
  Event started;
  started.kind = "job.started";
  started.job_id = "J1";

  held.progress(started);
  endpoint.clock.advance(std::chrono::seconds(1));
  held.progress(started);  // a second try
  held.answer(mcp_answer(Json{{"indexed", 1}}));

  const auto messages = mcp_messages(exchange);
  REQUIRE(messages.size() == 2);
  CHECK(messages[0]["params"]["progress"] == 0);
  CHECK(messages[1]["id"] == 1);
}

TEST_CASE("without a token nothing streams, and a failing call with one answers as JSON", "[mcp]") {
  McpEndpoint endpoint;
  const McpHeaders session = endpoint.open();

  const auto silent =
      endpoint.post(mcp_request(1, "tools/call", {{"name", "vault_reindex"}}), session);
  endpoint.dispatcher.held().back().progress(progress_event(1, 2));
  CHECK_FALSE(silent->is_answered());
  endpoint.dispatcher.held().back().answer(mcp_answer(Json{{"indexed", 2}}));
  CHECK(silent->header("Content-Type") == "application/json");

  const auto failed = endpoint.post(
      mcp_request(2, "tools/call", with_progress_token({{"name", "vault_reindex"}}, 1)), session);
  endpoint.dispatcher.held().back().answer(mcp_answer(make_error(Reason::Unavailable, "Busy.")));
  CHECK(failed->header("Content-Type") == "application/json");
  CHECK(mcp_json(failed)["result"]["isError"] == true);
}

TEST_CASE("a long job without progress is answered with its id before hosts give up",
          "[mcp][mcp-14]") {
  McpOptions options;
  options.job_wait = std::chrono::milliseconds(30);
  McpEndpoint endpoint(options);
  const McpHeaders session = endpoint.open();
  const Json silent = mcp_request(1, "tools/call", {{"name", "vault_reindex"}});
  const Json unheard =
      mcp_request(2, "tools/call", with_progress_token({{"name", "vault_reindex"}}, 1));
  for (const auto& exchange :
       {endpoint.post(silent, session),
        endpoint.post(unheard, with_header(session, "accept", "application/json"))}) {
    for (const auto& held : endpoint.dispatcher.held()) held.progress(progress_event(1, 100));

    REQUIRE(exchange->wait([](const auto& each) { return each.is_answered(); }));

    const Json result = mcp_json(exchange)["result"];
    CHECK(result["structuredContent"] == Json{{"job_id", "J1"}, {"status", "running"}});
    CHECK(result["content"][0]["text"].get<std::string>().find("job_get") != std::string::npos);
  }
  for (const auto& held : endpoint.dispatcher.held())
    held.answer(mcp_answer(Json{{"indexed", 100}}));  // too late
}

TEST_CASE("resources are notes: listed by page, offered as a template, read by URI", "[mcp]") {
  McpEndpoint endpoint;
  const McpHeaders session = endpoint.open("indx_reader");

  const Json first = mcp_json(endpoint.post(mcp_request(1, "resources/list"), session))["result"];
  CHECK(first["resources"][0]["uri"] == "vault://Ops/Runbook.md");
  const Json last = mcp_json(endpoint.post(
      mcp_request(2, "resources/list", {{"cursor", first["nextCursor"]}}), session))["result"];
  CHECK(last["resources"][0]["uri"] == "vault:///tags/a%20b.md");
  CHECK_FALSE(last.contains("nextCursor"));
  CHECK(mcp_json(endpoint.post(mcp_request(3, "resources/list", {{"cursor", "bad"}}),
                               session))["error"]["code"] == kRpcInvalidParams);
  CHECK(mcp_json(endpoint.post(mcp_request(4, "resources/templates/list"),
                               session))["result"]["resourceTemplates"][0]["uriTemplate"] ==
        "vault://{+path}");

  const Json read = mcp_json(endpoint.post(
      mcp_request(5, "resources/read", {{"uri", "vault://Ops/Runbook.md"}}), session))["result"];
  CHECK(read["contents"][0]["text"] == "# Runbook\n");
  CHECK(endpoint.dispatcher.calls_of("note_read").back().input["include"] == Json::array({"raw"}));
  const Json missing = mcp_json(endpoint.post(
      mcp_request(6, "resources/read", {{"uri", "vault://no.md"}}), session))["error"];
  CHECK(missing["code"] == kRpcResourceNotFound);
  CHECK(missing["data"]["uri"] == "vault://no.md");
  CHECK(mcp_json(endpoint.post(mcp_request(7, "resources/read", {{"uri", "vault://../x"}}),
                               session))["error"]["code"] == kRpcInvalidParams);
  CHECK(endpoint.post(mcp_request(8, "resources/list"), endpoint.open("indx_nobody"))->status() ==
        403);
}

TEST_CASE("stopping ends open calls and refuses new ones", "[mcp]") {
  McpEndpoint endpoint;
  const McpHeaders session = endpoint.open();
  const auto exchange =
      endpoint.post(mcp_request(1, "tools/call", {{"name", "slow_read"}}), session);

  endpoint.mcp->stop();

  CHECK(exchange->status() == 503);
  CHECK(endpoint.dispatcher.held().back().call.cancel.reason() == CancelReason::Shutdown);
  CHECK(endpoint.post(mcp_request(2, "ping"), session)->status() == 503);
}

}  // namespace indx
