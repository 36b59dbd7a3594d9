#include "http/server.hpp"

#include "tests/support/raw_http.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <filesystem>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace indx;
using test::RawClient;

namespace {

using Millis = std::chrono::milliseconds;

std::string get_of(const std::string& target, const std::string& headers = {}) {
  return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n";
}
std::string post_of(const std::string& target, const std::string& body,
                    const std::string& headers = {}) {
  return "POST " + target +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         headers + "\r\n" + body;
}

/// Answers with method, path and body; `/throw`, `/huge` and `/wait` do what they say.
struct EchoServer {
  explicit EchoServer(ServerConfig config = {}) {
    auto started =
        HttpServer::start(config, [this](const HttpRequest& request, const Responder& responder) {
          handle(request, responder);
        });
    REQUIRE(started.has_value());
    server = std::move(*started);
  }
  void handle(const HttpRequest& request, const Responder& responder) {
    ++handled;
    if (request.path == "/throw") throw std::runtime_error("broken");
    if (request.path == "/forget") return;
    HttpResponse response;
    response.body = request.method + " " + request.path + " " + request.body;
    if (request.path == "/huge") response.body.assign(8U << 20U, 'x');
    if (request.path == "/socket") response.body = request.is_local_socket ? "local" : "tcp";
    responder.send(response);
  }
  std::atomic<int> handled = 0;
  std::unique_ptr<HttpServer> server;
};

ServerConfig quick_config() {
  ServerConfig config;
  config.head_timeout = Millis(200);
  config.idle_timeout = Millis(400);
  config.workers = 2;
  return config;
}

std::size_t thread_count() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    ++count;
  return count;
}

}  // namespace

TEST_CASE("a connection carries one request after another, pipelined ones in order", "[http]") {
  EchoServer echo;
  RawClient client(echo.server->port());

  client.send(get_of("/1"));
  const auto first = client.response();
  client.send(get_of("/2") + post_of("/3", "abc") + get_of("/4"));

  CHECK(first.status == 200);
  CHECK(first.body == "GET /1 ");
  CHECK(first.headers.at("connection") == "keep-alive");
  CHECK(client.response().body == "GET /2 ");
  CHECK(client.response().body == "POST /3 abc");
  CHECK(client.response().body == "GET /4 ");
}

TEST_CASE("HEAD is answered with the length and without the body", "[http]") {
  EchoServer echo;
  RawClient client(echo.server->port());

  client.send("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n" + get_of("/b"));
  const auto head = client.response(Millis(5000), true);

  CHECK(head.status == 200);
  CHECK(head.headers.at("content-length") == "8");
  CHECK(client.response().body == "GET /b ");
}

TEST_CASE("every response has a request id, and a sane one of the client is kept", "[http]") {
  EchoServer echo;
  RawClient client(echo.server->port());

  client.send(get_of("/", "X-Request-Id: mine-1.2\r\n") +
              get_of("/", "X-Request-Id: not sane\r\n"));

  CHECK(client.response().headers.at("x-request-id") == "mine-1.2");
  CHECK(client.response().headers.at("x-request-id").size() == 26);
}

TEST_CASE("a handler that throws or forgets to answer gives 500, and the server goes on",
          "[http]") {
  EchoServer echo;
  RawClient client(echo.server->port());
  RawClient forgotten(echo.server->port());

  client.send(get_of("/throw") + get_of("/next"));
  forgotten.send(get_of("/forget"));

  const auto thrown = client.response();
  CHECK(thrown.status == 500);
  CHECK(thrown.json()["error"]["code"] == "internal");
  CHECK(client.response().body == "GET /next ");
  CHECK(forgotten.response().status == 500);
}

TEST_CASE("a refused request closes, so that its body is never read as a request", "[http]") {
  EchoServer echo;
  const std::string hidden = get_of("/hidden");
  for (const auto& [bytes, status] : std::vector<std::pair<std::string, int>>{
           {"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: "
            "chunked\r\n\r\n0\r\n\r\n" +
                hidden,
            400},
           {"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 3\r\n\r\n" +
                hidden,
            400},
           {"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n" + hidden, 400},
           {"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n" + hidden, 501},
           {"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n" + hidden, 413}}) {
    RawClient client(echo.server->port());

    client.send(bytes);
    const auto response = client.response();

    CHECK(response.status == status);
    CHECK(response.headers.at("connection") == "close");
    CHECK(response.headers.count("x-request-id") == 1);
    client.finish_sending();
    CHECK(client.read_to_end());
    CHECK(client.received().empty());
  }
  CHECK(echo.handled == 0);
}

TEST_CASE("after a chunked request the connection closes", "[http]") {
  EchoServer echo;
  RawClient client(echo.server->port());

  client.send(
      "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" +
      get_of("/b"));

  CHECK(client.response().body == "POST /a abc");
  client.finish_sending();
  CHECK(client.read_to_end());
  CHECK(client.received().empty());
}

TEST_CASE("a body that ends early is 400, one that comes too slowly 408", "[http]") {
  EchoServer echo(quick_config());
  RawClient short_one(echo.server->port()), slow(echo.server->port());
  const std::string head = "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc";

  short_one.send(head);
  short_one.finish_sending();
  slow.send(head);

  CHECK(short_one.response().status == 400);
  CHECK(slow.response().status == 408);
  CHECK(echo.handled == 0);
}

TEST_CASE("a client that waits for 100 Continue gets it", "[http]") {
  EchoServer echo;
  RawClient client(echo.server->port());

  client.send("PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  CHECK(client.read_until("\r\n\r\n").starts_with("HTTP/1.1 100 "));
  client.response();
  client.send("ab");

  CHECK(client.response().body == "PUT /a ab");
}

TEST_CASE("slow heads and bodies hold no worker and are ended with 408", "[http]") {
  EchoServer echo(quick_config());
  std::vector<std::unique_ptr<RawClient>> slow;
  for (int i = 0; i < 50; ++i) {
    slow.push_back(std::make_unique<RawClient>(echo.server->port()));
    slow.back()->send(i % 2 == 0 ? "GET / HT"
                                 : "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nx");
  }
  RawClient quick(echo.server->port());

  const auto began = std::chrono::steady_clock::now();
  quick.send(get_of("/quick"));
  CHECK(quick.response().status == 200);
  CHECK(std::chrono::steady_clock::now() - began < Millis(150));
  for (const auto& client : slow) CHECK(client->response().status == 408);
}

TEST_CASE("an idle connection is closed without a word", "[http]") {
  EchoServer echo(quick_config());
  RawClient client(echo.server->port());

  CHECK(client.read_to_end());
  CHECK(client.received().empty());
}

TEST_CASE("a slow reader of a long response holds no worker, and may ask again", "[http]") {
  ServerConfig config;
  config.workers = 1;
  EchoServer echo(config);
  RawClient slow(echo.server->port(), 4096), quick(echo.server->port());

  slow.send(get_of("/huge") + get_of("/after"));
  quick.send(get_of("/quick"));

  CHECK(quick.response().body == "GET /quick ");
  CHECK(slow.response(Millis(20000)).body.size() == 8U << 20U);
  CHECK(slow.response().body == "GET /after ");
}

TEST_CASE("1,000 idle clients cost no thread", "[http][slow]") {
  EchoServer echo;
  const auto before = thread_count();
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 1000; ++i) idle.push_back(std::make_unique<RawClient>(echo.server->port()));
  for (const auto& client : idle) client->send(get_of("/x"));

  for (const auto& client : idle) REQUIRE(client->response().status == 200);
  CHECK(thread_count() == before);
}

TEST_CASE("a full queue is answered with 503 and Retry-After", "[http][E24]") {
  std::atomic<bool> may_go = false;
  ServerConfig config;
  config.workers = 1;
  auto server =
      HttpServer::start(config, [&may_go](const HttpRequest&, const Responder& responder) {
        while (!may_go) std::this_thread::yield();
        responder.send({});
      });
  REQUIRE(server.has_value());
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 4300; ++i) {
    clients.push_back(std::make_unique<RawClient>((*server)->port()));
    REQUIRE(clients.back()->send(get_of("/x")));
  }
  int busy = 0;
  for (std::size_t i = 4150; i < clients.size(); ++i) {  // those after worker and queue are full
    const auto response = clients[i]->response();
    if (response.status == 503 && response.headers.count("retry-after") == 1) ++busy;
  }
  CHECK(busy == 150);
  may_go = true;
}

TEST_CASE("the local socket is for its owner only, and requests from it are marked", "[http]") {
  const auto path = std::filesystem::temp_directory_path() /
                    ("indx-http-" + std::to_string(::getpid()) + ".sock");
  ServerConfig config;
  config.unix_socket = path;
  {
    EchoServer echo(config);
    RawClient local(path.string()), tcp(echo.server->port());
    struct stat info {};

    local.send(get_of("/socket"));
    tcp.send(get_of("/socket"));

    CHECK(local.response().body == "local");
    CHECK(tcp.response().body == "tcp");
    REQUIRE(::stat(path.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777U) == 0600U);
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("draining refuses new clients, answers open ones and closes them", "[http][E25]") {
  EchoServer echo;
  RawClient open(echo.server->port());
  open.send("GET /o");
  RawClient probe(echo.server->port());
  probe.send(get_of("/probe"));
  REQUIRE(probe.response().status == 200);  // so the front has seen the open one too

  echo.server->drain();
  CHECK(probe.read_to_end());
  RawClient late(echo.server->port());
  open.send("pen HTTP/1.1\r\nHost: x\r\n\r\n");

  const auto response = open.response();
  CHECK(response.body == "GET /open ");
  CHECK(response.headers.at("connection") == "close");
  CHECK_FALSE(late.is_connected());
}

TEST_CASE("a port that is taken is an error with the address in it", "[http]") {
  EchoServer echo;
  ServerConfig config;
  config.port = echo.server->port();

  const auto second = HttpServer::start(config, [](const HttpRequest&, const Responder&) {});

  REQUIRE_FALSE(second.has_value());
  CHECK(second.error().message.find(std::to_string(config.port)) != std::string::npos);
}
