#include "base/text.hpp"
#include "base/unicode.hpp"
#include "http/server.hpp"
#include "mcp/http_transport.hpp"
#include "tests/support/fake_mcp_exchange.hpp"
#include "tests/support/mcp_traffic.hpp"
#include "tests/support/raw_http.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace indx {
namespace {

using Headers = std::map<std::string, std::string>;

/// What the client has sent, and its end of the connection.
struct Sent {
  std::string method, body;
  Headers headers;
  std::shared_ptr<FakeMcpExchange> exchange = std::make_shared<FakeMcpExchange>();
  bool is_unsure = false;  ///< the client or another connection took the answer away
  bool has_left = false;   ///< the client closed the connection
};

/// The JSON-RPC messages of a response, whatever its form; null for what is none.
std::vector<Json> messages_in(const FakeMcpExchange& exchange) {
  std::vector<Json> messages;
  const auto add = [&](const Json& json) {
    if (!json.is_array()) return messages.push_back(json);
    for (const Json& each : json) messages.push_back(each);
  };
  const std::string body = exchange.body();
  if (exchange.header("Content-Type") == "text/event-stream") {
    for (const std::string& line : split(body, '\n'))
      if (line.starts_with("data: ") && line.size() > 6)
        add(Json::parse(line.substr(6), nullptr, false));
  } else if (!body.empty()) {
    add(Json::parse(body, nullptr, false));
  }
  return messages;
}

bool is_answer(const Json& message) {
  return message.is_object() && (message.contains("result") || message.contains("error")) &&
         !message.contains("method");
}

/// The ids that a body may be answered under; `wants` more than none.
struct Expected {
  std::multiset<std::string> ids;
  std::size_t wants = 0;
  bool is_silent = false;  ///< a notification or a response of the client
  bool is_cancel = false;
};
Expected expected_of(const std::string& body) {
  Expected expected;
  const auto add = [&](const RpcParsed& parsed) {
    if (const auto* fault = std::get_if<RpcFault>(&parsed)) {
      expected.ids.insert(fault->id.dump());
      ++expected.wants;
      return;
    }
    const auto& message = std::get<RpcMessage>(parsed);
    expected.is_cancel |= message.method == "notifications/cancelled";
    if (message.kind != RpcMessage::Kind::Request) return;
    expected.ids.insert(message.id.dump());
    ++expected.wants;
  };
  if (is_rpc_batch(body)) {
    const auto parsed = parse_rpc_batch(body);
    if (const auto* messages = std::get_if<std::vector<RpcParsed>>(&parsed))
      for (const RpcParsed& each : *messages) add(each);
  } else {
    add(parse_rpc(body));
  }
  expected.is_silent = expected.wants == 0 && !is_rpc_batch(body);
  return expected;
}

/// A client that does anything that HTTP lets it do.
class HttpTraffic {
 public:
  explicit HttpTraffic(std::uint64_t seed) : maker_(seed) {
    McpOptions options;
    options.job_wait = std::chrono::milliseconds(60);
    options.task_wait = std::chrono::milliseconds(20);
    options.stream_start = std::chrono::milliseconds(10);
    mcp_ = make_mcp_http(dispatcher_, options);
    mcp_->add_routes(router_);
    open_session();
  }

  /// What the server did wrong; empty: nothing.
  std::string step() {
    switch (maker_.pick(16)) {
      case 0:
        open_session();
        break;
      case 1:
      case 2:
        listen();
        break;
      case 3:
        leave(maker_.pick(sent_.size()));
        break;
      case 4:
      case 5:
        dispatcher_.answer_one(maker_.pick(64));
        if (maker_.pick(3) == 0) dispatcher_.change_note();
        break;
      case 6:
        if (maker_.pick(4) == 0) end_session();
        break;
      case 7:
        send("PUT", maker_.line(), headers());
        break;
      default:
        post();
    }
    return sent_.empty() ? "" : fault_of(sent_.back());
  }

  /// Everything that is held is answered, and the server stops.
  std::string finish() {
    while (dispatcher_.held() > 0) dispatcher_.answer_one(0);
    mcp_->stop();
    for (const Sent& sent : sent_) {
      if (!sent.has_left && !sent.exchange->wait([](const auto& each) { return each.is_closed(); }))
        return "left open: " + shown(sent);
      if (auto fault = fault_of(sent); !fault.empty()) return fault;
      const std::size_t answers = answers_of(sent);
      if (sent.method != "POST" || sent.is_unsure || sent.exchange->status() == 202) continue;
      const std::size_t wants = expected_of(sent.body).wants;
      if (sent.exchange->status() == 200 && answers < std::min<std::size_t>(wants, 1))
        return "never answered: " + shown(sent);
    }
    return "";
  }

  std::size_t answered_by(int status) const {
    return static_cast<std::size_t>(
        std::count_if(sent_.begin(), sent_.end(),
                      [&](const Sent& sent) { return sent.exchange->status() == status; }));
  }

 private:
  static std::string shown(const Sent& sent) {
    std::string text = sent.method;
    for (const auto& [name, value] : sent.headers) text += cat(" ", name, "=", value);
    return cat(text, " ", prefix_at_grapheme(sent.body, 1500), " -> ", sent.exchange->status(), " ",
               prefix_at_grapheme(sent.exchange->body(), 1500));
  }
  static std::size_t answers_of(const Sent& sent) {
    const auto messages = messages_in(*sent.exchange);
    return static_cast<std::size_t>(std::count_if(messages.begin(), messages.end(), is_answer));
  }

  Sent& send(const std::string& method, const std::string& body, const Headers& headers) {
    HttpRequest request;
    request.method = method;
    request.path = maker_.pick(2) == 0 ? "/mcp" : "/mcp/";
    request.is_loopback_listener = true;
    request.body = body;
    for (const auto& [name, value] : headers)
      if (!value.empty()) request.headers[name] = value;
    sent_.push_back({method, body, headers});
    router_.handle(request, Responder(sent_.back().exchange));
    return sent_.back();
  }

  template <std::size_t n>
  std::string one_of(const std::array<const char*, n>& words) {
    return words[maker_.pick(n)];
  }
  std::string session() {
    if (sessions_.empty() || maker_.pick(12) == 0) return one_of<2>({"", "no-such-session"});
    return sessions_[maker_.pick(sessions_.size())];
  }
  Headers headers() {
    Headers made = {{"authorization", "Bearer indx_writer"},
                    {"content-type", "application/json"},
                    {"accept", "application/json, text/event-stream"},
                    {"mcp-session-id", session()}};
    if (maker_.pick(20) == 0)
      made["authorization"] = one_of<3>({"", "Bearer wrong", "Bearer indx_reader"});
    if (maker_.pick(30) == 0) made["content-type"] = one_of<2>({"", "text/plain"});
    if (maker_.pick(3) == 0)
      made["accept"] = one_of<6>({"", "*/*", "application/json", "text/event-stream", "text/html",
                                  "application/json;q=0, */*"});
    if (maker_.pick(3) == 0)
      made["mcp-protocol-version"] =
          one_of<5>({"2025-11-25", "2025-03-26", "2026-07-28", "1999-01-01", "\xff"});
    if (maker_.pick(40) == 0) made["origin"] = "http://evil.example";
    return made;
  }

  void open_session() {
    const Json hello = {
        {"jsonrpc", "2.0"},
        {"id", "hello"},
        {"method", "initialize"},
        {"params",
         {{"protocolVersion", one_of<4>({"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"})},
          {"capabilities", Json::object()}}}};
    const Sent& sent =
        send("POST", hello.dump(),
             {{"authorization", "Bearer indx_writer"}, {"content-type", "application/json"}});
    sessions_.push_back(sent.exchange->header("Mcp-Session-Id"));
  }

  void post() {
    Headers with = headers();
    std::string body = maker_.line();
    if (maker_.pick(3) == 0) {  // sensible, with the headers that a modern client adds
      const Json message = maker_.message();
      body = message.dump(-1, ' ', false, Json::error_handler_t::replace);
      const Json params = message.value("params", Json());
      if (message.value("method", Json()).is_string())
        with["mcp-method"] = message["method"].get<std::string>();
      for (const char* name : {"name", "uri", "taskId"})
        if (params.is_object() && params.value(name, Json()).is_string())
          with["mcp-name"] = params[name].get<std::string>();
      if (body.find("2026-07-28") != std::string::npos && maker_.pick(8) != 0)
        with["mcp-protocol-version"] = "2026-07-28";
    }
    if (expected_of(body).is_cancel)
      for (Sent& before : sent_) before.is_unsure = true;
    send("POST", body, with);
  }

  /// Opens the standing stream, or goes on with another one.
  void listen() {
    Headers with = headers();
    if (maker_.pick(2) == 0) with["last-event-id"] = cat(maker_.pick(12), '-', maker_.pick(4));
    for (Sent& before : sent_)
      if (before.headers["mcp-session-id"] == with["mcp-session-id"]) before.is_unsure = true;
    send("GET", "", with);
  }

  void leave(std::size_t which) {
    sent_[which].is_unsure = sent_[which].has_left = true;
    sent_[which].exchange->disconnect();
  }

  void end_session() {
    const Headers with = headers();
    for (Sent& before : sent_)
      if (before.headers["mcp-session-id"] == with.at("mcp-session-id")) before.is_unsure = true;
    send("DELETE", "", with);
  }

  /// What is wrong with what came so far.
  static std::string fault_of(const Sent& sent) {
    const int status = sent.exchange->status();
    if (status == 0) return "";
    if (status == 500) return "a fault of the server: " + shown(sent);
    std::size_t answers = 0;
    const Expected expected = sent.method == "POST" ? expected_of(sent.body) : Expected();
    auto open = expected.ids;
    for (const Json& message : messages_in(*sent.exchange)) {
      if (message.is_discarded()) return "what is no JSON: " + shown(sent);
      const bool is_refusal = status >= 400;
      if (!is_answer(message)) continue;
      ++answers;
      const std::string id = message.value("id", Json()).dump();
      if (sent.method != "POST") continue;
      if (const auto found = open.find(id); found != open.end())
        open.erase(found);
      else if (id != "null" || !is_refusal)
        return cat("answered twice, or nothing was asked: ", id, ": ", shown(sent));
    }
    if (sent.method != "POST") {
      const bool is_resumed = sent.headers.contains("last-event-id");
      if (status == 200 && answers > 0 && !is_resumed) return "an answer to a GET: " + shown(sent);
      return "";
    }
    if (expected.is_silent && status < 400 && (status != 202 || !sent.exchange->body().empty()))
      return "a notification was answered: " + shown(sent);
    if (answers > std::max<std::size_t>(expected.wants, 1)) return "too many: " + shown(sent);
    return "";
  }

  TrafficDispatcher dispatcher_;
  TrafficMaker maker_;
  std::unique_ptr<McpHttp> mcp_;
  Router router_;
  std::vector<std::string> sessions_;
  std::deque<Sent> sent_;
};

void run_http_traffic(std::uint64_t seed, int inputs) {
  INFO("seed " << seed);
  HttpTraffic traffic(seed);
  for (int i = 0; i < inputs; ++i) {
    const std::string fault = traffic.step();
    if (!fault.empty()) FAIL(fault);
  }
  CHECK(traffic.finish() == "");
  CHECK(traffic.answered_by(200) > static_cast<std::size_t>(inputs) / 10);
}

/// One request or several in one connection, framed in a way that HTTP allows, or not.
class FramedTraffic {
 public:
  FramedTraffic(std::uint64_t seed, int port, std::string session)
      : random_(seed), port_(port), session_(std::move(session)) {}

  std::size_t pick(std::size_t choices) { return random_.next() % choices; }

  /// What the server did wrong; empty: nothing.
  std::string step() {
    test::RawClient client(port_);
    if (pick(4) == 0) return broken(client);
    const std::size_t requests = 1 + pick(4);
    std::string bytes;
    std::vector<Json> asked;
    for (std::size_t i = 0; i < requests; ++i) {
      const Json message = pick(4) == 0 ? Json{{"jsonrpc", "2.0"}, {"method", "notifications/x"}}
                                        : ping(static_cast<std::int64_t>(++ids_));
      asked.push_back(message.value("id", Json()));
      bytes += framed(message.dump());
    }
    if (!send_in_parts(client, bytes)) return "the connection was lost";
    for (const Json& id : asked) {
      const auto response = client.response(kLongest);
      if (id.is_null() ? response.status != 202 || !response.body.empty()
                       : response.status != 200 || response.json().value("id", Json()) != id)
        return cat("to ", id.dump(), ": ", response.status, " ", response.body);
    }
    return client.received().empty() ? "" : "more than was asked for: " + client.received();
  }

 private:
  static constexpr auto kLongest = std::chrono::milliseconds(30'000);

  static Json ping(std::int64_t id) { return {{"jsonrpc", "2.0"}, {"id", id}, {"method", "ping"}}; }
  std::string head() const {
    return cat("POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer indx_writer\r\n",
               "Accept: application/json\r\nContent-Type: application/json\r\nMcp-Session-Id: ",
               session_, "\r\n");
  }
  std::string chunked(const std::string& body) {
    std::string bytes = head() + "Transfer-Encoding: chunked\r\n\r\n";
    for (std::size_t at = 0; at < body.size();) {
      const std::size_t size = std::min(1 + pick(12), body.size() - at);
      std::array<char, 24> digits{};
      std::snprintf(digits.data(), digits.size(), pick(2) == 0 ? "%zx" : "0%zX", size);
      bytes +=
          cat(digits.data(), pick(4) == 0 ? ";x=y" : "", "\r\n", body.substr(at, size), "\r\n");
      at += size;
    }
    return bytes + "0\r\n" + (pick(4) == 0 ? "X-Trailer: t\r\n" : "") + "\r\n";
  }
  std::string framed(const std::string& body) {
    // A chunked request ends its connection here, so it comes alone.
    return cat(head(), "Content-Length: ", body.size(), "\r\n\r\n", body);
  }
  bool send_in_parts(test::RawClient& client, const std::string& bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t size = pick(3) == 0 ? 1 + pick(9) : 1 + pick(400);
      if (!client.send(bytes.substr(at, size))) return false;
      at += size;
    }
    return true;
  }

  /// Refused or dropped, and the next client is served.
  std::string broken(test::RawClient& client) {
    const std::string body = ping(1).dump();
    std::string bytes;
    bool is_well = false;
    switch (pick(7)) {
      case 0:
        bytes = chunked(body);
        is_well = true;
        break;
      case 1:  // ends before it is whole
        bytes = cat(head(), "Content-Length: ", body.size() + 1 + pick(50), "\r\n\r\n", body);
        break;
      case 2:
        bytes = cat(head(), "Content-Length: ", body.size(), "\r\nContent-Length: 3\r\n\r\n", body);
        break;
      case 3:
        bytes = cat(head(), "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
        break;
      case 4:
        bytes = cat(head(), "Transfer-Encoding: chunked\r\n\r\nzz\r\n", body);
        break;
      case 5:
        bytes = cat(head(), "Content-Length: -1\r\n\r\n", body);
        break;
      default: {
        bytes = framed(body);
        bytes[pick(bytes.find("\r\n\r\n"))] = static_cast<char>(random_.next());
      }
    }
    send_in_parts(client, bytes);
    client.finish_sending();
    if (!client.read_to_end(kLongest)) return "neither answered nor closed: " + bytes;
    const std::string said = client.received();
    if (is_well && said.find(" 200 ") == said.npos) return cat("refused: ", bytes, " -> ", said);
    const auto answers = split(said, '\n');
    if (std::count_if(answers.begin(), answers.end(),
                      [](const std::string& line) { return line.starts_with("HTTP/1.1 2"); }) > 1)
      return cat("answered twice: ", bytes, " -> ", said);
    return "";
  }

  SeededRandom random_;
  const int port_;
  const std::string session_;
  std::int64_t ids_ = 0;
};

}  // namespace

TEST_CASE("whatever comes over HTTP, each request gets one answer and nothing else gets any",
          "[mcp][B72]") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) run_http_traffic(seed, 1500);
}

TEST_CASE(
    "however a request is cut and framed, it is answered once or refused, and others are served",
    "[mcp][B72]") {
  FakeMcpDispatcher dispatcher;
  const auto mcp = make_mcp_http(dispatcher);
  Router router;
  mcp->add_routes(router);
  const auto server = HttpServer::start(
      {}, [&](const HttpRequest& request, Responder to) { router.handle(request, std::move(to)); });
  REQUIRE(server);
  const std::string hello =
      R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}})";
  test::RawClient first((*server)->port());
  first.send(
      cat("POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer indx_writer\r\n"
          "Content-Type: application/json\r\nContent-Length: ",
          hello.size(), "\r\n\r\n", hello));
  const auto opened = first.response();
  REQUIRE(opened.status == 200);

  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    FramedTraffic traffic(seed, (*server)->port(), opened.headers.at("mcp-session-id"));
    for (int i = 0; i < 150; ++i) {
      INFO("seed " << seed << ", step " << i);
      REQUIRE(traffic.step() == "");
    }
  }
  mcp->stop();
  (*server)->stop();
}

/// `MCP_FUZZ_SECONDS=600 unit_tests '[mcp_fuzz]'`; with `MCP_FUZZ_SEED=` it begins at that seed.
TEST_CASE("the same over HTTP for as long as it is told to", "[.][mcp_fuzz]") {
  const char* told = std::getenv("MCP_FUZZ_SECONDS");
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::seconds(told ? std::atoi(told) : 60);
  const char* first = std::getenv("MCP_FUZZ_SEED");
  for (std::uint64_t seed = first ? std::stoull(first) : SystemRandom().next();
       std::chrono::steady_clock::now() < end; ++seed)
    run_http_traffic(seed, 3000);
}

}  // namespace indx
