#include "base/text.hpp"
#include "mcp/client_capabilities.hpp"
#include "mcp/http_transport.hpp"
#include "mcp/modern_reply.hpp"
#include "tests/support/fake_mcp_dispatcher.hpp"
#include "tests/support/fake_mcp_exchange.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

using ModernExchange = std::shared_ptr<FakeMcpExchange>;
using HeaderMap = std::map<std::string, std::string>;

const std::string kModern = "2026-07-28";
const std::string kNamespace = "io.modelcontextprotocol/";

/// One endpoint and clients of the modern era, each of whose requests stands alone.
class ModernEndpoint {
 public:
  explicit ModernEndpoint(McpOptions options = {}) {
    options.clock = &clock;
    mcp = make_mcp_http(dispatcher, options);
    mcp->add_routes(router_);
  }

  ModernExchange send(const std::string& method, const std::string& body, HeaderMap headers = {}) {
    HttpRequest request;
    request.method = method;
    request.path = "/mcp";
    request.is_loopback_listener = true;
    request.body = body;
    request.headers = {{"authorization", "Bearer indx_writer"},
                       {"content-type", "application/json"},
                       {"accept", "application/json, text/event-stream"},
                       {"mcp-protocol-version", kModern}};
    for (auto& [name, value] : headers) request.headers[name] = std::move(value);
    auto exchange = std::make_shared<FakeMcpExchange>();
    router_.handle(request, Responder(exchange));
    return exchange;
  }

  /// A request that is right in every respect, but for what the headers say.
  ModernExchange ask(const std::string& method, Json params = Json::object(),
                     HeaderMap headers = {}, const Json& id = 1) {
    Json& meta = params["_meta"];
    if (meta.is_null()) meta = Json::object();
    meta[kNamespace + "protocolVersion"] = kModern;
    meta.emplace(kNamespace + "clientCapabilities", Json::object());
    headers.emplace("mcp-method", method);
    for (const char* key : {"name", "uri", "taskId"})
      if (params.contains(key) && params[key].is_string())
        headers.emplace("mcp-name", params[key].get<std::string>());
    const Json message = {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}};
    return send("POST", message.dump(), std::move(headers));
  }

  FakeMcpDispatcher dispatcher;
  McpTestClock clock;
  std::unique_ptr<McpHttp> mcp;

 private:
  Router router_;
};

Json body_of(const ModernExchange& exchange) {
  return Json::parse(exchange->body(), nullptr, false);
}
int error_code(const ModernExchange& exchange) {
  return body_of(exchange)["error"].value("code", 0);
}

std::vector<Json> streamed(const ModernExchange& exchange) {
  std::vector<Json> messages;
  for (const std::string& line : split(exchange->body(), '\n'))
    if (line.starts_with("data: ")) messages.push_back(Json::parse(line.substr(6)));
  return messages;
}

/// What every result of the era says.
void check_complete(const Json& result) {
  CHECK(result["resultType"] == "complete");
  CHECK(result["_meta"][kNamespace + "serverInfo"]["name"] == "indx");
}

/// Sends an answer as the transport would.
class StatusReply : public McpReply {
 public:
  explicit StatusReply(ModernExchange exchange) : exchange_(std::move(exchange)) {}
  void notify(const Json&) override {}
  void answer(McpAnswer answer) override {
    exchange_->send({answer.http_status, {}, answer.message.dump()});
  }
  void drop(CancelReason) override {}

 private:
  const ModernExchange exchange_;
};

Json job_call(const Json& token = nullptr) {
  Json params = {{"name", "vault_reindex"}, {"arguments", Json::object()}};
  if (!token.is_null()) params["_meta"] = {{"progressToken", token}};
  return params;
}

Event job_progress(std::int64_t done) {
  Event event;
  event.kind = "job.progress";
  event.job_id = "J7";
  event.data = {{"done", done}, {"total", 10}, {"unit", "notes"}};
  return event;
}

}  // namespace

TEST_CASE("server/discover says what we speak and offer, without a session", "[mcp][B1][B72]") {
  ModernEndpoint endpoint;
  const auto exchange = endpoint.ask("server/discover");
  const Json result = body_of(exchange)["result"];

  check_complete(result);
  CHECK(result["supportedVersions"][0] == kModern);
  CHECK(result["supportedVersions"].size() == 5);
  CHECK(result["capabilities"]["extensions"].contains(kNamespace + "tasks"));
  CHECK(result["instructions"].get<std::string>().find("note_patch") != std::string::npos);
  CHECK(result["ttlMs"].is_number_unsigned());
  CHECK(result["cacheScope"] == "private");
  CHECK(exchange->header("Mcp-Session-Id").empty());
}

TEST_CASE("session and resume headers mean nothing in the modern era", "[mcp][B72]") {
  ModernEndpoint endpoint;
  const auto exchange =
      endpoint.ask("tools/list", {}, {{"mcp-session-id", "no-such"}, {"last-event-id", "1-0"}});

  CHECK(exchange->status() == 200);
  CHECK(exchange->header("Mcp-Session-Id").empty());
  for (const char* method : {"GET", "DELETE"}) {
    const auto refused = endpoint.send(method, "", {{"mcp-session-id", "no-such"}});
    CHECK(refused->status() == 405);
    CHECK(refused->header("Allow") == "POST");
  }
}

TEST_CASE("methods that the modern era does not have are 404 with the id", "[mcp][B72]") {
  ModernEndpoint endpoint;
  for (const char* method : {"initialize", "ping", "logging/setLevel", "resources/subscribe",
                             "resources/unsubscribe", "no/such/method"}) {
    INFO(method);
    const auto exchange = endpoint.ask(method, {}, {}, "seven");
    CHECK(exchange->status() == 404);
    CHECK(error_code(exchange) == kRpcMethodNotFound);
    CHECK(body_of(exchange)["id"] == "seven");
  }
}

TEST_CASE("bad terms and headers are 400 with the id", "[mcp][B72]") {
  ModernEndpoint endpoint;
  const auto bare = endpoint.send("POST", R"({"jsonrpc":"2.0","id":3,"method":"server/discover"})",
                                  {{"mcp-method", "server/discover"}});
  CHECK(bare->status() == 400);
  CHECK(error_code(bare) == kRpcInvalidParams);
  CHECK(body_of(bare)["id"] == 3);

  const auto wrong_method = endpoint.ask("tools/list", {}, {{"mcp-method", "prompts/list"}});
  CHECK(wrong_method->status() == 400);
  CHECK(error_code(wrong_method) == kRpcHeaderMismatch);
  const auto wrong_name =
      endpoint.ask("tools/call", {{"name", "note_read"}}, {{"mcp-name", "note_write"}});
  CHECK(wrong_name->status() == 400);
  CHECK(error_code(wrong_name) == kRpcHeaderMismatch);
  CHECK(endpoint.dispatcher.calls_of("note_read").empty());
}

TEST_CASE("every result says that it is complete and who made it", "[mcp][B72]") {
  ModernEndpoint endpoint;
  const Json good = {{"name", "note_read"}, {"arguments", {{"path", "Ops/Runbook.md"}}}};
  const Json failing = {{"name", "note_read"}, {"arguments", {{"path", "x.md"}}}};

  check_complete(body_of(endpoint.ask("tools/list"))["result"]);
  check_complete(body_of(endpoint.ask("tools/call", good))["result"]);
  const Json failed = body_of(endpoint.ask("tools/call", failing))["result"];
  CHECK(failed["isError"] == true);
  check_complete(failed);
  const auto stream = endpoint.ask("tools/call", failing, {{"accept", "text/event-stream"}});
  REQUIRE(streamed(stream).size() == 1);
  check_complete(streamed(stream)[0]["result"]);
  CHECK(stream->is_closed());
}

TEST_CASE("lists and reads say how long they may be kept, and by whom", "[mcp][B72]") {
  ModernEndpoint endpoint;
  for (const char* method : {"tools/list", "resources/list", "resources/templates/list"}) {
    const Json result = body_of(endpoint.ask(method))["result"];
    CHECK(result["ttlMs"].is_number_integer());
    CHECK(result["cacheScope"] == "private");
    CHECK(result == body_of(endpoint.ask(method))["result"]);
  }
  const Json read =
      body_of(endpoint.ask("resources/read", {{"uri", "vault://Ops/Runbook.md"}}))["result"];
  CHECK(read["ttlMs"] == 0);
  CHECK(read["contents"][0]["text"] == "# Runbook\n");
  const Json call = body_of(endpoint.ask("tools/call", {{"name", "note_list"}}))["result"];
  CHECK_FALSE(call.contains("ttlMs"));
}

TEST_CASE("progress streams on its own request and the answer ends the stream, without event ids",
          "[mcp][B67][B72]") {
  ModernEndpoint endpoint;
  const auto exchange = endpoint.ask("tools/call", job_call(0), {}, "p");
  const auto held = endpoint.dispatcher.held().back();
  held.progress(job_progress(1));
  CHECK_FALSE(exchange->is_closed());
  held.answer(mcp_answer(Json{{"indexed", 10}}));

  CHECK(exchange->header("Content-Type") == "text/event-stream");
  CHECK(exchange->header("Cache-Control") == "no-cache, no-transform");
  CHECK(exchange->is_closed());
  CHECK(exchange->body().find("id: ") == std::string::npos);
  const auto messages = streamed(exchange);
  REQUIRE(messages.size() == 2);
  CHECK(messages[0]["params"]["progressToken"] == 0);
  CHECK(messages[1]["id"] == "p");
  check_complete(messages[1]["result"]);
  CHECK(messages[1]["result"]["structuredContent"]["indexed"] == 10);
}

TEST_CASE("without a token nothing is said before the answer, which is JSON", "[mcp][B67]") {
  ModernEndpoint endpoint;
  const auto exchange = endpoint.ask("tools/call", job_call());
  const auto held = endpoint.dispatcher.held().back();
  held.progress(job_progress(1));
  CHECK_FALSE(exchange->is_answered());
  held.answer(mcp_answer(Json{{"indexed", 10}}));

  CHECK(exchange->header("Content-Type") == "application/json");
  CHECK(body_of(exchange)["result"]["structuredContent"]["indexed"] == 10);
}

TEST_CASE("a client that leaves cancels its call and the job behind it, once", "[mcp][B72]") {
  ModernEndpoint endpoint;
  for (const Json& token : std::vector<Json>{nullptr, "t"}) {
    const auto exchange = endpoint.ask("tools/call", job_call(token));
    const auto held = endpoint.dispatcher.held().back();
    held.progress(job_progress(1));
    const auto before = endpoint.dispatcher.calls_of("job_cancel").size();

    exchange->disconnect();
    held.answer(mcp_answer(Json{{"indexed", 10}}));

    CHECK(held.call.cancel.reason() == CancelReason::Requested);
    const auto cancelled = endpoint.dispatcher.calls_of("job_cancel");
    REQUIRE(cancelled.size() == before + 1);
    CHECK(cancelled.back().input["id"] == "J7");
    CHECK(exchange->body().find("indexed") == std::string::npos);
  }
}

TEST_CASE("equal ids of two clients are two calls, and a cancel notification ends neither",
          "[mcp][B72]") {
  ModernEndpoint endpoint;
  const auto first = endpoint.ask("tools/call", job_call(), {}, "same");
  const auto second = endpoint.ask("tools/call", job_call(), {}, "same");
  const auto notice = endpoint.send(
      "POST",
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"same"}})");
  CHECK(notice->status() == 202);
  CHECK(notice->body().empty());

  first->disconnect();

  const auto held = endpoint.dispatcher.held();
  REQUIRE(held.size() == 2);
  CHECK(held[0].call.cancel.is_cancelled());
  CHECK_FALSE(held[1].call.cancel.is_cancelled());
  held[1].answer(mcp_answer(Json{{"indexed", 3}}));
  CHECK(body_of(second)["result"]["structuredContent"]["indexed"] == 3);
}

TEST_CASE("a hidden tool is 403 with the challenge, and no token is 401 without a hint at OAuth",
          "[mcp][B9]") {
  ModernEndpoint endpoint;
  const auto hidden = endpoint.ask("tools/call", {{"name", "note_write"}},
                                   {{"authorization", "Bearer indx_reader"}});
  CHECK(hidden->status() == 403);
  CHECK(hidden->header("WWW-Authenticate").find("scope=\"vault:write\"") != std::string::npos);
  CHECK(body_of(hidden)["id"] == 1);

  const auto stranger = endpoint.ask("tools/list", {}, {{"authorization", "Bearer wrong"}});
  CHECK(stranger->status() == 401);
  CHECK(stranger->header("WWW-Authenticate") == "Bearer realm=\"indx\"");
}

TEST_CASE("a capability counts as declared with whatever settings, and its lack is told",
          "[mcp][B72]") {
  const Json tasks = {{"extensions", {{kNamespace + "tasks", Json::object()}}}};
  CHECK(declares({{"extensions", {{kNamespace + "tasks", {{"x", 1}}}, {"y", Json::object()}}}},
                 tasks));
  CHECK_FALSE(declares({{"extensions", Json::object()}}, tasks));
  CHECK_FALSE(declares({{"extensions", {{kNamespace + "tasks", true}}}}, tasks));
  CHECK_FALSE(declares(Json::object(), tasks));

  const auto exchange = std::make_shared<FakeMcpExchange>();
  const auto calls = std::make_shared<OpenCalls>();
  McpRequest request;
  request.call =
      calls->open(5, std::make_shared<ModernReply>(std::make_shared<StatusReply>(exchange),
                                                   request.message, protocols().front()));
  CHECK_FALSE(require_capability(request, tasks));
  CHECK(exchange->status() == 400);
  CHECK(body_of(exchange)["error"]["code"] == kRpcMissingCapability);
  CHECK(body_of(exchange)["error"]["data"]["requiredCapabilities"] == tasks);
}

TEST_CASE("a response is refused, and stopping ends what is open", "[mcp][B72]") {
  ModernEndpoint endpoint;
  CHECK(endpoint.send("POST", R"({"jsonrpc":"2.0","id":"x","result":{}})")->status() == 400);

  const auto exchange = endpoint.ask("tools/call", {{"name", "slow_read"}});
  endpoint.mcp->stop();
  CHECK(exchange->status() == 503);
  CHECK(endpoint.dispatcher.held().back().call.cancel.reason() == CancelReason::Shutdown);
}

TEST_CASE("both eras live on one endpoint, next to each other", "[mcp][B72]") {
  ModernEndpoint endpoint;
  const HeaderMap legacy = {{"mcp-protocol-version", ""}};
  const auto opened = endpoint.send(
      "POST",
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}})",
      legacy);
  REQUIRE(opened->status() == 200);
  const HeaderMap session = {{"mcp-protocol-version", "2025-11-25"},
                             {"mcp-session-id", opened->header("Mcp-Session-Id")}};

  CHECK(endpoint.ask("tools/list")->status() == 200);
  const Json listed =
      body_of(endpoint.send("POST", R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})", session));
  CHECK(listed["result"]["tools"].size() > 0);
  CHECK_FALSE(listed["result"].contains("resultType"));
  CHECK(error_code(endpoint.send(
            "POST", R"({"jsonrpc":"2.0","id":3,"method":"subscriptions/listen"})", session)) ==
        kRpcMethodNotFound);
}

}  // namespace indx
