#include "http/rest.hpp"

#include "http/server.hpp"
#include "tests/support/fake_dispatcher.hpp"
#include "tests/support/raw_http.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <filesystem>
#include <thread>
#include <unistd.h>

using namespace indx;
using test::answered;
using test::FakeDispatcher;
using test::RawClient;
using test::RawResponse;

namespace {

using Millis = std::chrono::milliseconds;

const std::string kOwner = "Authorization: Bearer indx_owner\r\n";
const std::string kReader = "Authorization: Bearer indx_reader\r\n";
const std::string kEvents = "Accept: text/event-stream\r\n";

struct RestServer {
  explicit RestServer(ServerConfig config = {}) {
    add_rest_routes(router, dispatcher);
    auto started =
        HttpServer::start(config, [this](const HttpRequest& request, const Responder& responder) {
          router.handle(request, responder);
        });
    REQUIRE(started.has_value());
    server = std::move(*started);
  }
  ~RestServer() { server->stop(); }

  static std::string bytes(const std::string& method, const std::string& target,
                           const std::string& headers, const std::string& body) {
    const auto host = headers.find("Host:") == headers.npos ? "Host: localhost\r\n" : "";
    const auto length =
        body.empty() && method == "GET" ? "" : cat("Content-Length: ", body.size(), "\r\n");
    return cat(method, " ", target, " HTTP/1.1\r\n", host, length, headers, "\r\n", body);
  }
  RawResponse ask(const std::string& method, const std::string& target,
                  const std::string& headers = kOwner, const std::string& body = {}) const {
    RawClient client(server->port());
    client.send(bytes(method, target, headers, body));
    return client.response(Millis(5000), method == "HEAD");
  }
  std::unique_ptr<RawClient> open(const std::string& method, const std::string& target,
                                  const std::string& headers, const std::string& body = {}) const {
    auto client = std::make_unique<RawClient>(server->port());
    client->send(bytes(method, target, headers, body));
    return client;
  }

  FakeDispatcher dispatcher;
  Router router;
  std::unique_ptr<HttpServer> server;
};

std::string code_of(const RawResponse& response) {
  return response.json()["error"].value("code", "");
}

template <typename Check>
bool soon(Check check) {
  const auto until = std::chrono::steady_clock::now() + Millis(10000);
  while (!check() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(Millis(1));
  return check();
}

/// The values of one field of an SSE stream, in order.
std::vector<std::string> sse_field(const std::string& stream, const std::string& field) {
  std::vector<std::string> values;
  const auto body = stream.substr(std::min(stream.find("\r\n\r\n"), stream.size() - 0));
  for (const auto& line : split(body, '\n'))
    if (line.starts_with(field + ": ")) values.push_back(line.substr(field.size() + 2));
  return values;
}

Json job_record(const std::string& state, int done) {
  Json record = {{"id", "j1"},
                 {"state", state},
                 {"status", state == "running" ? "running" : "succeeded"},
                 {"processed", done},
                 {"finished_at", nullptr}};
  if (state == "succeeded") record["finished_at"] = "2026-01-01T00:00:00.000Z";
  return {{"job", record}};
}

}  // namespace

TEST_CASE("a call without a good token is 401 with a challenge, one with too few rights 403",
          "[http][A80]") {
  RestServer rest;
  rest.dispatcher.on("note_read", [](const Call&) { return answered(Json{{"path", "a.md"}}); });

  const auto missing = rest.ask("GET", "/v1/notes/a.md", "");
  const auto wrong = rest.ask("GET", "/v1/notes/a.md", "Authorization: Bearer indx_other\r\n");
  const auto basic = rest.ask("GET", "/v1/notes/a.md", "Authorization: Basic eDp5\r\n");
  const auto in_query =
      rest.ask("GET", "/v1/notes/a.md?access_token=indx_owner&token=indx_owner", "");

  for (const auto& refused : {missing, wrong, basic, in_query}) {
    CHECK(refused.status == 401);
    CHECK(code_of(refused) == "unauthorized");
    CHECK(refused.headers.at("www-authenticate") == "Bearer realm=\"indx\"");
  }
  CHECK(rest.ask("GET", "/v1/notes/a.md", kReader).status == 200);
  const auto forbidden = rest.ask("PUT", "/v1/notes/a.md", kReader, R"({"body":"x"})");
  CHECK(forbidden.status == 403);
  CHECK(code_of(forbidden) == "forbidden");
}

TEST_CASE("answers and errors come in one envelope, with the request id", "[http][A79]") {
  RestServer rest;
  rest.dispatcher.on("note_read", [](const Call& call) {
    if (call.input["path"] == "no.md")
      return answered(not_found("No note no.md.", {{"path", "no.md"}}));
    return answered(Json{{"path", call.input["path"]}});
  });

  const auto good = rest.ask("GET", "/v1/notes/sub/%C3%A9%20%231.md");
  const auto bad = rest.ask("GET", "/v1/notes/no.md", kOwner + "X-Request-Id: r-1\r\n");

  CHECK(good.status == 200);
  CHECK(good.headers.at("content-type") == "application/json");
  CHECK(good.json() == Json{{"ok", true}, {"data", {{"path", "sub/é #1.md"}}}});
  CHECK(bad.status == 404);
  CHECK(bad.json() == Json{{"ok", false},
                           {"error",
                            {{"code", "not_found"},
                             {"message", "No note no.md."},
                             {"details", {{"path", "no.md"}}},
                             {"request_id", "r-1"}}}});
  CHECK(bad.headers.at("x-request-id") == "r-1");
  CHECK(rest.dispatcher.last_call().principal.request_id == "r-1");
}

TEST_CASE("the query is read by the schema; repeated keys are lists", "[http][A87]") {
  RestServer rest;
  rest.dispatcher.on("note_list", [](const Call&) {
    return answered(Json{{"notes", Json::array()}});
  });

  CHECK(rest.ask("GET", "/v1/notes?limit=3&tag=a%2Fb&tag=c+d").status == 200);
  CHECK(rest.dispatcher.last_call().input == Json{{"limit", 3}, {"tag", {"a/b", "c d"}}});
  for (const auto* query : {"?limit=x", "?limit=1&limit=2", "?unknown=1", "?tag=%FF"}) {
    const auto refused = rest.ask("GET", cat("/v1/notes", query));
    CHECK(refused.status == 400);
    CHECK(code_of(refused) == "validation_failed");
  }
  CHECK(code_of(rest.ask("GET", "/v1/notes", kOwner, R"({"limit":3})")) == "validation_failed");
}

TEST_CASE("the body is one JSON object that agrees with the address", "[http][A84]") {
  RestServer rest;
  rest.dispatcher.on("note_write", [](const Call&) { return answered(Json::object(), 201); });

  CHECK(rest.ask("PUT", "/v1/notes/a.md", kOwner, R"({"body":"x","path":"a.md"})").status == 201);
  CHECK(rest.dispatcher.last_call().input == Json{{"body", "x"}, {"path", "a.md"}});
  CHECK(rest.ask("PUT", "/v1/notes/a.md", kOwner, "").status == 201);
  CHECK(rest.ask("PUT", "/v1/notes/a.md",
                 kOwner + "Content-Type: application/json; charset=utf-8\r\n", "{}")
            .status == 201);
  const auto calls = rest.dispatcher.call_count();
  for (const auto* body :
       {"[]", "1", "{", R"({"path":"b.md"})", R"({"body":"a","body":"b"})", R"({"other":1})"})
    CHECK(code_of(rest.ask("PUT", "/v1/notes/a.md", kOwner, body)) == "validation_failed");
  CHECK(rest.ask("PUT", "/v1/notes/a.md", kOwner, std::string(200, '[')).status == 400);
  CHECK(rest.ask("PUT", "/v1/notes/a.md?dry_run=true", kOwner, "{}").status == 400);
  CHECK(rest.ask("PUT", "/v1/notes/a.md", kOwner + "Content-Type: text/plain\r\n", "{}").status ==
        415);
  CHECK(rest.dispatcher.call_count() == calls);
}

TEST_CASE("If-Match and Idempotency-Key reach the call; weak etags are refused",
          "[http][A11][A85]") {
  RestServer rest;
  rest.dispatcher.on("note_write", [](const Call& call) {
    Answer answer = answered(Json{{"etag", "abc"}});
    answer.is_replay = call.idempotency_key == "again";
    return answer;
  });

  const auto written = rest.ask("PUT", "/v1/notes/a.md",
                                kOwner + "If-Match: \"0123\"\r\nIdempotency-Key: k1\r\n", "{}");
  CHECK(written.headers.at("etag") == "\"abc\"");
  CHECK(written.headers.count("x-indx-idempotent-replay") == 0);
  CHECK(rest.dispatcher.last_call().input["if_match"] == "0123");
  CHECK(rest.dispatcher.last_call().idempotency_key == "k1");
  CHECK(rest.dispatcher.last_call().keep);
  rest.ask("PUT", "/v1/notes/a.md", kOwner + "If-Match: *\r\n", "{}");
  CHECK(rest.dispatcher.last_call().input["if_match"] == "*");
  rest.ask("PUT", "/v1/notes/a.md", kOwner, R"({"idempotency_key":"k2"})");
  CHECK(rest.dispatcher.last_call().input == Json{{"path", "a.md"}});
  CHECK(rest.dispatcher.last_call().idempotency_key == "k2");
  CHECK(rest.ask("PUT", "/v1/notes/a.md", kOwner + "Idempotency-Key: again\r\n", "{}")
            .headers.at("x-indx-idempotent-replay") == "true");
  for (const auto* refused :
       {"If-Match: W/\"0123\"\r\n", "If-Match: \"a\", \"b\"\r\n", "If-Match: \"*\"\r\n",
        "If-Match: \"\"\r\n", "If-None-Match: \"a\"\r\n"})
    CHECK(rest.ask("PUT", "/v1/notes/a.md", kOwner + refused, "{}").status == 400);
  CHECK(rest.ask("PUT", "/v1/notes/a.md", kOwner + "If-Match: \"a\"\r\n", R"({"if_match":"b"})")
            .status == 400);
}

TEST_CASE("a read with the etag that the client has is 304 without a body", "[http][A12]") {
  RestServer rest;
  rest.dispatcher.on("note_read", [](const Call&) { return answered(Json{{"etag", "abc"}}); });

  const auto same =
      rest.ask("GET", "/v1/notes/a.md", kOwner + "If-None-Match: \"x\", W/\"abc\"\r\n");
  const auto other = rest.ask("GET", "/v1/notes/a.md", kOwner + "If-None-Match: \"x\"\r\n");

  CHECK(same.status == 304);
  CHECK(same.body.empty());
  CHECK(same.headers.at("etag") == "\"abc\"");
  CHECK(other.status == 200);
}

TEST_CASE("HEAD on a note says whether it exists", "[http]") {
  RestServer rest;
  rest.dispatcher.on("note_exists", [](const Call& call) {
    return call.input["path"] == "a.md" ? answered(Json{{"exists", true}, {"etag", "abc"}})
                                        : answered(Json{{"exists", false}});
  });

  CHECK(rest.ask("HEAD", "/v1/notes/a.md").status == 200);
  CHECK(rest.ask("HEAD", "/v1/notes/a.md").headers.at("etag") == "\"abc\"");
  CHECK(rest.ask("HEAD", "/v1/notes/b.md").status == 404);
}

TEST_CASE("a list as NDJSON has one item a line", "[http][A24]") {
  RestServer rest;
  rest.dispatcher.on("note_list", [](const Call&) {
    return answered(
        Json{{"notes", {{{"path", "a\nb.md"}}, {{"path", "c.md"}}}}, {"next_cursor", "n1"}});
  });

  const auto lines = rest.ask("GET", "/v1/notes", kOwner + "Accept: application/x-ndjson\r\n");

  CHECK(lines.headers.at("content-type") == "application/x-ndjson");
  CHECK(lines.headers.at("x-indx-next-cursor") == "n1");
  const auto rows = split(std::string(trim(lines.body)), '\n');
  REQUIRE(rows.size() == 2);
  CHECK(Json::parse(rows[0])["path"] == "a\nb.md");
  CHECK(Json::parse(rows[1])["path"] == "c.md");
}

TEST_CASE("a request that prefers an asynchronous answer gets 202 and the job", "[http][E14]") {
  RestServer rest;
  rest.dispatcher.on("ai_tag", [](const Call& call) {
    Answer answer = answered(Json{{"job", {{"id", "j1"}}}});
    answer.is_accepted = call.is_async;
    answer.job_id = "j1";
    return answer;
  });

  for (const auto& response :
       {rest.ask("POST", "/v1/ai/tag", kOwner + "Prefer: wait=5, respond-async\r\n", "{}"),
        rest.ask("POST", "/v1/ai/tag?async=true", kOwner, "{}")}) {
    CHECK(response.status == 202);
    CHECK(response.headers.at("location") == "/v1/jobs/j1");
    CHECK(response.json()["data"]["job"]["id"] == "j1");
    CHECK(rest.dispatcher.last_call().keep);
  }
  CHECK(rest.ask("POST", "/v1/ai/tag", kOwner, "{}").status == 200);
  CHECK_FALSE(rest.dispatcher.last_call().keep);
  CHECK(rest.ask("POST", "/v1/ai/tag?async=maybe", kOwner, "{}").status == 400);
}

TEST_CASE("errors that a later try may mend carry Retry-After", "[http][A83]") {
  RestServer rest;
  rest.dispatcher.on("note_read", [](const Call& call) {
    if (call.input["path"] == "limit")
      return answered(make_error(Reason::RateLimited, "Too many calls.", {{"retry_after_s", 7}}));
    return answered(make_error(Reason::Unavailable, "Full."));
  });

  const auto limited = rest.ask("GET", "/v1/notes/limit");
  const auto full = rest.ask("GET", "/v1/notes/full");

  CHECK(limited.status == 429);
  CHECK(limited.headers.at("retry-after") == "7");
  CHECK(full.status == 503);
  CHECK(full.headers.at("retry-after") == "1");
}

TEST_CASE("a long call holds no worker and is cancelled when its client leaves", "[http]") {
  ServerConfig config;
  config.workers = 1;
  RestServer rest(config);
  rest.dispatcher.on("note_read", [](const Call&) { return answered(Json::object()); });
  auto leaving = rest.open("POST", "/v1/ai/tag", kOwner, "{}");
  auto staying = rest.open("POST", "/v1/ai/tag", kOwner, "{}");
  REQUIRE(soon([&] { return rest.dispatcher.open_calls().size() == 2; }));
  CHECK(rest.ask("GET", "/v1/notes/a.md").status == 200);

  const auto calls = rest.dispatcher.open_calls();
  leaving->leave();
  CHECK(soon([&] {
    return (calls[0].call.cancel.is_cancelled() || calls[1].call.cancel.is_cancelled());
  }));
  for (const auto& open : calls) open.answer(answered(Json{{"done", true}}));

  CHECK(staying->response().json()["data"]["done"] == true);
}

TEST_CASE("a streamed call sends its events and ends with exactly one result", "[http][D42]") {
  RestServer rest;
  auto client = rest.open("POST", "/v1/ai/tag", kOwner + kEvents, "{}");
  auto failing = rest.open("POST", "/v1/ai/tag", kOwner + kEvents + "X-Request-Id: r2\r\n", "{}");
  REQUIRE(client->read_until("\r\n\r\n").find("text/event-stream") != std::string::npos);
  REQUIRE(failing->read_until("\r\n\r\n").find("text/event-stream") != std::string::npos);
  for (const auto& open : rest.dispatcher.open_calls()) {
    open.progress({0, "job.progress", {}, "api", "owner", "j1", {{"done", 1}}});
    if (open.call.principal.request_id == "r2") {
      open.answer(answered(make_error(Reason::AiQuotaExceeded, "Used up.")));
    } else {
      open.answer(answered(Json{{"tags", {"a"}}}));
    }
    open.answer(answered(Json{{"again", true}}));
  }

  REQUIRE(client->read_to_end());
  REQUIRE(failing->read_to_end());
  CHECK(sse_field(client->received(), "event") ==
        std::vector<std::string>{"job.progress", "ai.complete"});
  CHECK(Json::parse(sse_field(client->received(), "data")[1]) == Json{{"tags", {"a"}}});
  CHECK(sse_field(failing->received(), "event") ==
        std::vector<std::string>{"job.progress", "ai.error"});
  const auto error = Json::parse(sse_field(failing->received(), "data")[1]);
  CHECK(error["code"] == "ai_quota_exceeded");
  CHECK(error["request_id"] == "r2");
}

TEST_CASE("the events of an answer are sent as they are, and all of them to a slow client",
          "[http][D42]") {
  ServerConfig config;
  config.max_stream_buffer = 64U << 10U;
  RestServer rest(config);
  auto client = rest.open("POST", "/v1/ai/tag", kOwner + kEvents, R"({"scope": "s"})");
  REQUIRE(soon([&] { return rest.dispatcher.open_calls().size() == 1; }));
  const auto open = rest.dispatcher.open_calls()[0];
  CHECK(open.call.is_streamed);
  const std::string snippet(2000, 'x');
  const int count = 2000;  // far more than the buffers of the connection hold

  open.progress(Event{.kind = "ai.partial", .data = {{"delta", "a\nb"}}});
  for (int i = 0; i < count; ++i)
    open.progress(Event{.kind = "ai.citation", .data = {{"citation", {{"snippet", snippet}}}}});
  open.progress(Event{.kind = "ai.usage", .data = {{"usage", {{"input_tokens", 3}}}}});
  open.answer(answered(Json{{"tags", {"a"}}}));

  REQUIRE(client->read_to_end(Millis(20000)));
  const auto events = sse_field(client->received(), "event");
  REQUIRE(events.size() == count + 3);
  CHECK(events.front() == "ai.partial");
  CHECK(events[count + 1] == "ai.usage");
  CHECK(events.back() == "ai.complete");
  const auto data = sse_field(client->received(), "data");
  CHECK(Json::parse(data.front()) == Json{{"delta", "a\nb"}});
  CHECK(Json::parse(data[1]) == Json{{"citation", {{"snippet", snippet}}}});
  CHECK(Json::parse(data.back()) == Json{{"tags", {"a"}}});
}

TEST_CASE("the field of the body decides whether and how an answer is streamed", "[http][C18]") {
  RestServer rest;
  const auto asked = [&](const std::string& headers, const std::string& body) {
    const auto before = rest.dispatcher.call_count();
    auto client = rest.open("POST", "/v1/ai/tag", headers, body);
    REQUIRE(soon([&] { return rest.dispatcher.call_count() > before; }));
    const auto open = rest.dispatcher.open_calls().back();
    CHECK_FALSE(open.call.input.contains("stream"));
    open.answer(answered(Json{{"done", true}}));
    REQUIRE(client->read_until("done").find("done") != std::string::npos);
    const bool is_stream = client->received().find("text/event-stream") != std::string::npos;
    return std::pair(is_stream, open.call.is_streamed);
  };

  CHECK(asked(kOwner, R"({"stream": true})") == std::pair(true, true));
  CHECK(asked(kOwner, R"({"stream": false})") == std::pair(false, false));
  CHECK(asked(kOwner, "{}") == std::pair(false, false));
  CHECK(asked(kOwner + kEvents, "{}") == std::pair(true, true));
  // Only what the job behind the call does.
  CHECK(asked(kOwner + kEvents, R"({"stream": false})") == std::pair(true, false));
  // A job is the answer.
  CHECK(asked(kOwner + kEvents + "Prefer: respond-async\r\n", "{}") == std::pair(false, false));
  CHECK(rest.ask("POST", "/v1/ai/tag", kOwner, R"({"stream": "yes"})").status == 400);
}

TEST_CASE("a streamed call that fails at once is answered with its status", "[http]") {
  RestServer rest;

  const auto refused = rest.ask("POST", "/v1/ai/tag", kOwner + kEvents, R"({"other":1})");

  CHECK(refused.status == 400);
  CHECK(code_of(refused) == "validation_failed");
}

TEST_CASE("the operational routes need no token", "[http][A86][A88]") {
  RestServer rest;

  CHECK(rest.ask("GET", "/healthz", "").status == 200);
  CHECK(rest.ask("GET", "/readyz", "").status == 200);
  CHECK(rest.ask("GET", "/v1/health", "").json()["ok"] == true);
  CHECK_FALSE(rest.ask("GET", "/v1/health", "").json()["data"].contains("caller"));
  CHECK_FALSE(rest.ask("GET", "/v1/health", "Authorization: Bearer nobody\r\n")
                  .json()["data"]
                  .contains("caller"));
  CHECK(rest.ask("GET", "/v1/health", kOwner).json()["data"]["caller"]["scopes"].is_array());
  CHECK(rest.ask("GET", "/version", "").json()["name"] == "indx");
  CHECK(rest.ask("GET", "/", "").status == 200);
  CHECK(rest.ask("GET", "/.well-known/oauth-protected-resource", "").status == 404);
  rest.dispatcher.set_health({{"ready", false}, {"state", "draining"}});
  const auto draining = rest.ask("GET", "/readyz", "");
  CHECK(draining.status == 503);
  CHECK(draining.json()["status"] == "draining");
  CHECK(draining.headers.count("retry-after") == 1);
  CHECK(rest.ask("GET", "/healthz", "").status == 200);
}

TEST_CASE("pages of other origins and names of other hosts are refused before anything else",
          "[http][P-07]") {
  RestServer rest;
  rest.dispatcher.on("note_read", [](const Call&) { return answered(Json::object()); });

  for (const auto* headers :
       {"Origin: http://evil.example\r\n", "Origin: null\r\n",
        "Origin: http://localhost.evil.example\r\n", "Host: evil.example\r\n",
        "Host: 127.0.0.1.evil.example\r\n", "Host: localhost:80@evil.example\r\n",
        "Origin: http://[::1].evil.example\r\n"})
    for (const auto* target : {"/v1/notes/a.md", "/v1/events", "/healthz", "/openapi.json"})
      CHECK(rest.ask("GET", target, kOwner + headers).status == 403);
  for (const auto* headers : {"Origin: http://localhost:5173\r\n", "Origin: http://[::1]:8080\r\n",
                              "Host: 127.0.0.1:8080\r\n", "Host: LOCALHOST\r\n"})
    CHECK(rest.ask("GET", "/v1/notes/a.md", kOwner + headers).status == 200);
}

TEST_CASE("the local socket forwards for a caller with fewer rights", "[http]") {
  const auto path = std::filesystem::temp_directory_path() / cat("indx-rest-", ::getpid(), ".sock");
  ServerConfig config;
  config.unix_socket = path;
  RestServer rest(config);
  rest.dispatcher.on("note_read", [](const Call&) { return answered(Json::object()); });
  RawClient local(path.string());

  local.send(RestServer::bytes(
      "GET", "/v1/notes/a.md",
      kOwner + "X-Indx-Surface: mcp\r\nX-Indx-Scopes: vault:read path:Public/**\r\n", ""));
  CHECK(local.response().status == 200);
  const auto principal = rest.dispatcher.last_call().principal;
  CHECK(principal.surface == Surface::Mcp);
  CHECK(principal.scopes == std::set<Scope>{Scope::VaultRead});
  CHECK(principal.path_globs == std::vector<std::string>{"Public/**"});
  local.send(
      RestServer::bytes("PUT", "/v1/notes/a.md", kOwner + "X-Indx-Scopes: vault:read\r\n", "{}"));
  CHECK(local.response().status == 403);
  CHECK(rest.ask("GET", "/v1/notes/a.md",
                 kOwner + "X-Indx-Surface: mcp\r\nX-Indx-Scopes: vault:read\r\n")
            .status == 200);
  CHECK(rest.dispatcher.last_call().principal.surface == Surface::Api);
  CHECK(rest.dispatcher.last_call().principal.has(Scope::VaultAdmin));
}

TEST_CASE("the event feed is filtered by kind and job and resumes after an id", "[http][A89]") {
  RestServer rest;
  auto notes = rest.open("GET", "/v1/events?kinds=note.*,canvas.updated", kOwner);
  auto jobs = rest.open("GET", "/v1/events?jobs=j1,j3", kOwner);
  auto reader = rest.open("GET", "/v1/events", kReader);
  for (auto* client : {notes.get(), jobs.get(), reader.get()})
    REQUIRE(client->read_until("retry: 2000\n\n").find("text/event-stream") != std::string::npos);

  rest.dispatcher.publish("note.updated", "", {{"path", "a.md"}});
  rest.dispatcher.publish("job.created", "j1", Json::object());
  rest.dispatcher.publish("job.progress", "j1", {{"done", 1}});
  rest.dispatcher.publish("job.created", "j2", Json::object());
  rest.dispatcher.publish("canvas.updated", "", {{"path", "b.canvas"}});
  rest.dispatcher.publish("job.finished", "j3", Json::object());
  rest.dispatcher.publish("note.deleted", "", {{"path", "a.md"}});

  notes->read_until("note.deleted");
  jobs->read_until("job.finished");
  reader->read_until("note.deleted");
  CHECK(sse_field(notes->read_until("id: e-6\n"), "event") ==
        std::vector<std::string>{"note.updated", "canvas.updated", "note.deleted"});
  CHECK(sse_field(notes->received(), "id") == std::vector<std::string>{"e-1", "e-4", "e-6"});
  CHECK(Json::parse(sse_field(notes->received(), "data")[0])["path"] == "a.md");
  CHECK(sse_field(jobs->received(), "event") ==
        std::vector<std::string>{"job.created", "job.progress", "job.finished"});
  CHECK(sse_field(jobs->received(), "id") == std::vector<std::string>{"e-2", "e-5"});
  CHECK(sse_field(reader->received(), "event") ==
        std::vector<std::string>{"note.updated", "canvas.updated",
                                 "note.deleted"});  // jobs of others are not told

  auto resumed = rest.open("GET", "/v1/events", kOwner + "Last-Event-ID: e-4\r\n");
  resumed->read_until("id: e-6\n");
  CHECK(sse_field(resumed->received(), "id") == std::vector<std::string>{"e-5", "e-6"});
  auto foreign = rest.open("GET", "/v1/events?last_event_id=old-4", kOwner);
  CHECK(foreign->read_until("event: reset").find("event: reset") != std::string::npos);
  CHECK(rest.ask("GET", "/v1/events", "").status == 401);
}

TEST_CASE("a feed whose client left is unsubscribed", "[http]") {
  RestServer rest;
  auto client = rest.open("GET", "/v1/events", kOwner);
  client->read_until("retry");
  REQUIRE(rest.dispatcher.listener_count() == 1);

  client->leave();

  CHECK(soon([&] { return rest.dispatcher.listener_count() == 0; }));
}

TEST_CASE("a job's stream starts with the record, follows each change, and ends with done",
          "[http][E12][E13]") {
  RestServer rest;
  std::atomic<int> done = 0;
  rest.dispatcher.on("job_get", [&done](const Call& call) {
    if (call.input["id"] != "j1") return answered(not_found("No such job."));
    return answered(job_record(done < 3 ? "running" : "succeeded", done));
  });
  auto client = rest.open("GET", "/v1/jobs/j1/events", kOwner);
  client->read_until("event: job\n");

  for (int i = 1; i <= 3; ++i) {
    done = i;
    rest.dispatcher.publish(i == 3   ? "job.finished"
                            : i == 2 ? "job.progress"
                                     : "job.started",
                            "j1", Json::object());
    client->read_until(cat("\"processed\":", i));
  }

  REQUIRE(client->read_to_end());
  CHECK(sse_field(client->received(), "event") ==
        std::vector<std::string>{"job", "job", "job", "job", "done"});
  CHECK(sse_field(client->received(), "id") == std::vector<std::string>{"e-1", "e-2"});
  CHECK(Json::parse(sse_field(client->received(), "data").back())["status"] == "succeeded");
  CHECK(client->received().find("Cache-Control: no-cache") != std::string::npos);

  auto late = rest.open("GET", "/v1/jobs/j1/events", kOwner);
  REQUIRE(late->read_to_end());
  CHECK(sse_field(late->received(), "event") == std::vector<std::string>{"job", "done"});
  CHECK(sse_field(late->received(), "id").empty());
  CHECK(rest.ask("GET", "/v1/jobs/other/events").status == 404);
  CHECK(soon([&] { return rest.dispatcher.listener_count() == 0; }));
}

TEST_CASE("streams of events close when their token is revoked", "[http][A82]") {
  RestServer rest;
  rest.dispatcher.on("job_get", [](const Call&) { return answered(job_record("running", 0)); });
  auto feed = rest.open("GET", "/v1/events", kOwner);
  auto job = rest.open("GET", "/v1/jobs/j1/events", kOwner);
  feed->read_until("retry");
  job->read_until("event: job\n");

  rest.dispatcher.publish(std::string(kTokenRevoked), "j1", Json::object());

  REQUIRE(feed->read_to_end());
  CHECK(sse_field(feed->received(), "event").empty());
  REQUIRE(job->read_to_end());
  CHECK(sse_field(job->received(), "event") == std::vector<std::string>{"job", "error"});
  CHECK(soon([&] { return rest.dispatcher.listener_count() == 0; }));
}

TEST_CASE("many events of a job at once share readings and the last one shows the end", "[http]") {
  RestServer rest;
  std::atomic<int> done = 0;
  rest.dispatcher.on("job_get", [&done](const Call&) {
    return answered(job_record(done < 500 ? "running" : "succeeded", done));
  });
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(rest.open("GET", "/v1/jobs/j1/events", kOwner));
    clients.back()->read_until("event: job\n");
  }

  for (int i = 1; i <= 500; ++i) {
    done = i;
    rest.dispatcher.publish("job.progress", "j1", Json::object());
  }

  for (const auto& client : clients) {
    REQUIRE(client->read_to_end());
    CHECK(sse_field(client->received(), "event").back() == "done");
  }
  CHECK(rest.dispatcher.call_count() <= 20 * 501);
}
