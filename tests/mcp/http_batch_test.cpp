#include "tests/support/mcp_endpoint.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

const Json kQuietMessage = {{"jsonrpc", "2.0"}, {"method", "notifications/nobody_knows"}};

}  // namespace

TEST_CASE("a batch of 2025-03-26 is answered as one array, without its notifications",
          "[mcp][B72]") {
  McpEndpoint endpoint;
  const McpHeaders session = endpoint.open("indx_writer", "2025-03-26");

  const auto exchange =
      endpoint.post(Json::array({mcp_request(1, "ping"),
                                 kQuietMessage,
                                 mcp_request("1", "no/such"),
                                 7,
                                 {{"jsonrpc", "2.0"}, {"id", "x"}, {"result", Json::object()}}}),
                    session);

  CHECK(exchange->status() == 200);
  CHECK(exchange->header("Content-Type") == "application/json");
  const Json answers = mcp_json(exchange);
  REQUIRE(answers.size() == 3);
  CHECK(answers[0] == Json{{"jsonrpc", "2.0"}, {"id", 1}, {"result", Json::object()}});
  CHECK(answers[1]["id"] == "1");
  CHECK(answers[1]["error"]["code"] == kRpcMethodNotFound);
  CHECK(answers[2]["error"]["code"] == kRpcInvalidRequest);
}

TEST_CASE("a batch without requests gets 202, an empty or broken one 400", "[mcp][B72]") {
  McpEndpoint endpoint;
  const McpHeaders session = endpoint.open("indx_writer", "2025-03-26");

  const auto silent = endpoint.post(Json::array({kQuietMessage, mcp_cancel(4)}), session);
  CHECK(silent->status() == 202);
  CHECK(silent->body().empty());

  const auto empty = endpoint.send("POST", " \n[]", session);
  CHECK(empty->status() == 400);
  CHECK(mcp_json(empty)["error"]["code"] == kRpcInvalidRequest);
  CHECK(mcp_json(endpoint.send("POST", "[1,", session))["error"]["code"] == kRpcParseError);
  CHECK(mcp_json(endpoint.post(Json(std::vector<int>(1001, 1)), session))["error"]["code"] ==
        kRpcInvalidRequest);
}

TEST_CASE("other versions refuse a batch, and without a session it is no better off",
          "[mcp][B72]") {
  McpEndpoint endpoint;
  const Json batch = Json::array({mcp_request(1, "ping")});
  for (const char* version : {"2024-11-05", "2025-06-18", "2025-11-25"}) {
    const auto refused = endpoint.post(batch, endpoint.open("indx_writer", version));
    CHECK(refused->status() == 400);
    CHECK(mcp_json(refused)["error"]["code"] == kRpcInvalidRequest);
  }
  CHECK(endpoint.post(batch)->status() == 400);
  CHECK(endpoint.post(batch, {{"mcp-session-id", "no-such-session"}})->status() == 404);
}

TEST_CASE("a batch waits for its slowest request, and one that is cancelled is left out",
          "[mcp][B72]") {
  McpEndpoint endpoint;
  const McpHeaders session = endpoint.open("indx_writer", "2025-03-26");
  const auto exchange = endpoint.post(
      Json::array({mcp_request(1, "ping"), mcp_request(2, "tools/call", {{"name", "slow_read"}}),
                   mcp_request(3, "tools/call", {{"name", "slow_read"}})}),
      session);
  CHECK_FALSE(exchange->is_answered());

  endpoint.post(mcp_cancel(2), session);
  endpoint.dispatcher.held().back().answer(mcp_answer(Json{{"path", "a.md"}}));

  const Json answers = mcp_json(exchange);
  REQUIRE(answers.size() == 2);
  CHECK(answers[0]["id"] == 1);
  CHECK(answers[1]["id"] == 3);

  const auto all =
      endpoint.post(Json::array({mcp_request(9, "tools/call", {{"name", "slow_read"}})}), session);
  endpoint.post(mcp_cancel(9), session);
  CHECK(all->status() == 202);
  CHECK(all->body().empty());
}

TEST_CASE("a batch whose requests tell of progress is a stream of single messages", "[mcp][B72]") {
  McpEndpoint endpoint;
  const McpHeaders session = endpoint.open("indx_writer", "2025-03-26");
  const auto exchange = endpoint.post(
      Json::array(
          {mcp_request(1, "ping"),
           mcp_request(2, "tools/call", with_progress_token({{"name", "vault_reindex"}}, "t"))}),
      session);
  const auto held = endpoint.dispatcher.held().back();

  held.progress(progress_event(1, 2));
  held.answer(mcp_answer(Json{{"indexed", 2}}));

  const auto messages = mcp_messages(exchange);
  REQUIRE(messages.size() == 3);
  CHECK(messages[0]["id"] == 1);
  CHECK(messages[1]["method"] == "notifications/progress");
  CHECK(messages[2]["id"] == 2);
  CHECK(exchange->is_closed());

  const auto only_stream =
      endpoint.post(Json::array({mcp_request(1, "ping"), mcp_request(2, "ping")}),
                    with_header(session, "accept", "text/event-stream"));
  CHECK(mcp_messages(only_stream).size() == 2);
  CHECK(only_stream->is_closed());
}

}  // namespace indx
