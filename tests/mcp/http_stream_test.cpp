#include "http/server.hpp"
#include "mcp/sse_stream.hpp"
#include "tests/support/mcp_endpoint.hpp"
#include "tests/support/raw_http.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

namespace indx {
namespace {

Json resources_changed(int number) {
  return {{"jsonrpc", "2.0"},
          {"method", "notifications/resources/list_changed"},
          {"params", {{"number", number}}}};
}

McpExchange listen_on(SseStreams& streams) {
  auto exchange = std::make_shared<FakeMcpExchange>();
  streams.listen(Responder(exchange));
  return exchange;
}

McpExchange resume_on(const SseStreams& streams, const std::string& event_id) {
  auto exchange = std::make_shared<FakeMcpExchange>();
  const auto position = streams.find(event_id);
  if (position) position->stream->connect(Responder(exchange), position->after);
  return exchange;
}

std::vector<int> numbers_of(const McpExchange& exchange) {
  std::vector<int> numbers;
  for (const Json& message : mcp_messages(exchange))
    numbers.push_back(message["params"]["number"].get<int>());
  return numbers;
}

std::string last_id_of(const McpExchange& exchange) {
  std::string id;
  for (const std::string& line : split(exchange->body(), '\n'))
    if (line.starts_with("id: ")) id = line.substr(4);
  return id;
}

const Protocol& protocol_named(std::string_view version) { return *find_protocol(version); }

}  // namespace

TEST_CASE("what belongs to no request goes to the standing stream and to no other", "[mcp]") {
  SseStreams streams(protocol_named("2025-11-25"));
  const auto standing = listen_on(streams);
  const auto request = std::make_shared<FakeMcpExchange>();
  streams.open()->connect(Responder(request));

  streams.send(resources_changed(1));

  CHECK(standing->header("Content-Type") == "text/event-stream");
  CHECK(standing->header("X-Accel-Buffering") == "no");
  CHECK(numbers_of(standing) == std::vector<int>{1});
  CHECK(mcp_messages(request).empty());
}

TEST_CASE("what is said before the client listens waits for it", "[mcp]") {
  SseStreams streams(protocol_named("2025-11-25"));
  streams.send(resources_changed(1));
  CHECK_FALSE(streams.is_open());

  CHECK(numbers_of(listen_on(streams)) == std::vector<int>{1});
  CHECK(streams.is_open());
}

TEST_CASE("the newest listener takes the standing stream over, whatever the old one does",
          "[mcp]") {
  for (const bool has_left : {true, false}) {
    SseStreams streams(protocol_named("2025-11-25"));
    const auto first = listen_on(streams);
    streams.send(resources_changed(1));
    if (has_left) first->disconnect();
    CHECK(streams.is_open() == !has_left);
    if (has_left) streams.send(resources_changed(2));

    const auto second = listen_on(streams);
    streams.send(resources_changed(3));

    CHECK(numbers_of(first) == std::vector<int>{1});
    CHECK(numbers_of(second) == (has_left ? std::vector<int>{2, 3} : std::vector<int>{3}));
    CHECK((first->is_closed() || has_left));
    CHECK(streams.is_open());
  }
}

TEST_CASE("the standing stream goes on after the last event that was seen", "[mcp]") {
  SseStreams streams(protocol_named("2025-11-25"));
  const auto first = listen_on(streams);
  const std::string primed = last_id_of(first);
  streams.send(resources_changed(1));
  const std::string seen = last_id_of(first);
  streams.send(resources_changed(2));  // lost on the way
  first->disconnect();
  streams.send(resources_changed(3));

  const auto second = resume_on(streams, seen);
  CHECK(numbers_of(second) == std::vector<int>{2, 3});
  streams.send(resources_changed(4));
  CHECK(numbers_of(second) == std::vector<int>{2, 3, 4});
  CHECK(primed != seen);
}

TEST_CASE("an event id is given once, names its stream, and leads nowhere when it was never given",
          "[mcp]") {
  SseStreams streams(protocol_named("2025-11-25"));
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) {
    const auto exchange = listen_on(streams);
    ids.push_back(last_id_of(exchange));
    streams.send(resources_changed(i));
    ids.push_back(last_id_of(exchange));
  }
  const auto own = std::make_shared<FakeMcpExchange>();
  streams.open()->connect(Responder(own));
  ids.push_back(last_id_of(own));

  auto unique = ids;
  std::sort(unique.begin(), unique.end());
  CHECK(std::unique(unique.begin(), unique.end()) == unique.end());
  CHECK(ids.front().substr(0, 2) == ids[5].substr(0, 2));
  CHECK(ids.back().substr(0, 2) != ids.front().substr(0, 2));
  for (const char* id : {"0-999", "0-18446744073709551615", "9-0", "0", "0-", "-1", "0-1x", "0--1"})
    CHECK_FALSE(streams.find(id));
}

TEST_CASE("only 2025-11-25 streams begin with an empty event and a time to retry after", "[mcp]") {
  for (const Protocol& protocol : protocols()) {
    if (protocol.era != Era::Legacy) continue;
    SseStreams streams(protocol);
    const auto request = std::make_shared<FakeMcpExchange>();
    streams.open()->connect(Responder(request));
    for (const auto& exchange : {listen_on(streams), request}) {
      const bool is_newest = protocol.version == "2025-11-25";
      CHECK((exchange->body().find("data: \n\n") != std::string::npos) == is_newest);
      CHECK((exchange->body().find("retry: ") != std::string::npos) == is_newest);
      CHECK((exchange->body().find("id: ") != std::string::npos) == is_newest);
      CHECK_FALSE(exchange->body().empty());  // the headers leave at once
    }
  }
}

TEST_CASE("a stream keeps a bounded part of what nobody reads, the newest", "[mcp]") {
  SseStreams streams(protocol_named("2025-06-18"));
  for (int i = 0; i < 5000; ++i) streams.send(resources_changed(i));
  const auto many = numbers_of(listen_on(streams));
  CHECK(many.size() <= 256);
  CHECK(many.back() == 4999);

  SseStreams large(protocol_named("2025-06-18"));
  Json message = resources_changed(1);
  message["params"]["text"] = std::string(1U << 20U, 'x');
  large.send(resources_changed(0));
  large.send(message);
  CHECK(numbers_of(listen_on(large)) == std::vector<int>{1});
}

TEST_CASE("a closed session ends its streams and opens none", "[mcp]") {
  SseStreams streams(protocol_named("2025-11-25"));
  const auto standing = listen_on(streams);
  streams.send(resources_changed(1));

  streams.close();
  streams.send(resources_changed(2));

  CHECK(standing->is_closed());
  CHECK(numbers_of(standing) == std::vector<int>{1});
  CHECK_FALSE(streams.is_open());
  CHECK(listen_on(streams)->is_closed());
}

TEST_CASE("a client that lost its stream gets the rest, once, on a new connection", "[mcp]") {
  McpEndpoint endpoint;
  const McpHeaders session = endpoint.open();
  const auto first = endpoint.post(
      mcp_request("r", "tools/call", with_progress_token({{"name", "vault_reindex"}}, 1)), session);
  const auto held = endpoint.dispatcher.held().back();
  held.progress(progress_event(1, 3));
  first->disconnect();
  endpoint.clock.advance(std::chrono::seconds(1));
  held.progress(progress_event(2, 3));
  CHECK_FALSE(held.call.cancel.is_cancelled());  // leaving is not cancelling

  const auto second = endpoint.get(with_header(session, "last-event-id", "1-1"));
  CHECK(second->status() == 200);
  held.answer(mcp_answer(Json{{"indexed", 3}}));

  const auto messages = mcp_messages(second);
  REQUIRE(messages.size() == 2);
  CHECK(messages[0]["params"]["progress"] == 2);
  CHECK(messages[1]["id"] == "r");
  CHECK(second->is_closed());
  CHECK(mcp_messages(endpoint.get(with_header(session, "last-event-id", "1-2"))).size() == 1);
  CHECK(endpoint.get(with_header(session, "last-event-id", "1-3"))->status() == 405);
  CHECK(endpoint.get(with_header(endpoint.open(), "last-event-id", "1-1"))->status() == 405);
}

TEST_CASE("GET is an event stream or 405 in every state of a session, at both addresses",
          "[mcp][mcp-12]") {
  McpEndpoint endpoint;
  const McpHeaders session = endpoint.open();
  for (const char* path : {"/mcp", "/mcp/"}) {
    const auto get = [&](const McpHeaders& headers) {
      return endpoint.send("GET", "", headers, path);
    };
    for (const char* accept : {"text/event-stream", "*/*", ""}) {
      const auto stream = get(with_header(session, "accept", accept));
      CHECK(stream->status() == 200);
      CHECK(stream->header("Content-Type") == "text/event-stream");
      CHECK_FALSE(stream->is_closed());
    }
    for (const McpHeaders& headers : {McpHeaders{}, with_header(session, "last-event-id", "bogus"),
                                      with_header(session, "last-event-id", "7-1"),
                                      with_header(session, "accept", "application/json")}) {
      const auto refused = get(headers);
      CHECK(refused->status() == 405);
      CHECK(refused->header("Allow") == "POST, DELETE");
      CHECK(refused->header("Content-Type") == "application/json");
    }
    CHECK(get({{"mcp-session-id", "no-such-session"}})->status() == 404);
    CHECK(endpoint.send("PUT", "", session, path)->status() == 405);
    CHECK(endpoint.send("PATCH", "", session, path)->status() == 405);
    for (const char* method : {"GET", "POST", "DELETE", "PUT", "PATCH", "OPTIONS"})
      CHECK(endpoint.send(method, "", with_header(session, "origin", "https://evil.example"), path)
                ->status() == 403);
  }
}

TEST_CASE("HEAD looks without taking the stream from who listens", "[mcp]") {
  McpEndpoint endpoint;
  const McpHeaders session = endpoint.open();
  const auto standing = endpoint.get(session);

  CHECK(endpoint.send("HEAD", "", session)->status() == 405);
  CHECK_FALSE(standing->is_closed());
}

TEST_CASE("the end of a session ends the stream that stands in it", "[mcp]") {
  McpEndpoint endpoint;
  const McpHeaders session = endpoint.open();
  const auto standing = endpoint.get(session);

  CHECK(endpoint.send("DELETE", "", session)->status() == 204);

  CHECK(standing->is_closed());
  CHECK(endpoint.get(session)->status() == 404);
}

TEST_CASE("a call that takes long shows a stream to who reads streams, asked for progress or not",
          "[mcp]") {
  McpOptions options;
  options.stream_start = std::chrono::milliseconds(20);
  McpEndpoint endpoint(options);
  const McpHeaders session = endpoint.open();
  const Json call = mcp_request(1, "tools/call", {{"name", "slow_read"}});

  const auto streamed = endpoint.post(call, session);
  const auto waiting = endpoint.post(call, with_header(session, "accept", "application/json"));

  REQUIRE(streamed->wait([](const auto& each) { return each.is_answered(); }));
  CHECK(streamed->header("Content-Type") == "text/event-stream");
  for (const auto& held : endpoint.dispatcher.held())
    held.answer(mcp_answer(Json{{"path", "a.md"}}));
  CHECK(mcp_messages(streamed).at(0)["id"] == 1);
  CHECK(streamed->is_closed());
  CHECK(waiting->header("Content-Type") == "application/json");
}

TEST_CASE("every open stream shows life by comments, and the newest connection gets the events",
          "[mcp][slow][mcp-8]") {
  McpOptions options;
  options.stream_start = std::chrono::milliseconds(1);
  McpEndpoint endpoint(options);
  ServerConfig config;
  config.heartbeat = std::chrono::milliseconds(50);
  CHECK(ServerConfig().heartbeat <= std::chrono::seconds(15));
  const auto server = HttpServer::start(config, [&](const HttpRequest& request, Responder to) {
    endpoint.router.handle(request, std::move(to));
  });
  REQUIRE(server);
  const McpHeaders session = endpoint.open();
  endpoint.post({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}}, session);
  const auto ask = [&](const std::string& method, const std::string& body) {
    auto client = std::make_unique<test::RawClient>((*server)->port());
    client->send(cat(method,
                     " /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                     "indx_writer\r\nAccept: text/event-stream\r\nContent-Type: "
                     "application/json\r\nMcp-Session-Id: ",
                     session.at("mcp-session-id"), "\r\nContent-Length: ", body.size(), "\r\n\r\n",
                     body));
    return client;
  };
  const std::string call = mcp_request(1, "tools/call", {{"name", "slow_read"}}).dump();

  auto standing = ask("GET", "");
  const auto posted = ask("POST", call);
  for (test::RawClient* client : {standing.get(), posted.get()}) {
    client->read_until("data: \n\n", std::chrono::seconds(30));
    CHECK(client->received().find(" 200 ") != std::string::npos);
    client->forget();
    client->read_until(": hb\n\n: hb\n\n", std::chrono::seconds(30));
    CHECK(client->received().find(": hb\n\n: hb\n\n") != std::string::npos);
  }

  standing->leave();
  standing = ask("GET", "");
  CHECK(standing->read_until("data: \n\n", std::chrono::seconds(30)).find(" 200 ") !=
        std::string::npos);
  standing->forget();
  Event created;
  created.kind = "note.created";
  created.data = {{"path", "New.md"}, {"etag", "e"}};
  endpoint.dispatcher.emit(created);
  CHECK(standing->read_until("list_changed", std::chrono::seconds(30)).find("list_changed") !=
        std::string::npos);

  endpoint.mcp->stop();
  CHECK(standing->read_to_end(std::chrono::seconds(30)));
  (*server)->stop();
}

}  // namespace indx
