#include "http/server.hpp"
#include "tests/support/raw_http.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <future>
#include <mutex>
#include <thread>

using namespace indx;
using test::RawClient;

namespace {

using Millis = std::chrono::milliseconds;

const std::string kStreamRequest = "GET /s HTTP/1.1\r\nHost: x\r\n\r\n";

/// Keeps responders; the test answers them.
struct KeepingServer {
  explicit KeepingServer(ServerConfig config = {}) {
    auto started =
        HttpServer::start(config, [this](const HttpRequest& request, const Responder& responder) {
          responder.on_disconnect([this] { ++left; });
          if (request.path == "/s") {
            HttpResponse head;
            head.headers = {{"Content-Type", "text/event-stream"}};
            head.body = "retry: 2000\n\n";
            auto stream = responder.begin_stream(head);
            const std::scoped_lock lock(mutex);
            streams.push_back(std::move(stream));
          } else {
            const std::scoped_lock lock(mutex);
            responders.push_back(responder);
          }
        });
    REQUIRE(started.has_value());
    server = std::move(*started);
  }
  ~KeepingServer() { server->stop(); }

  template <typename Check>
  static bool comes_true(Check check, Millis time = Millis(10000)) {
    const auto until = std::chrono::steady_clock::now() + time;
    while (!check() && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(Millis(1));
    return check();
  }
  std::size_t stream_count() {
    const std::scoped_lock lock(mutex);
    return streams.size();
  }
  std::size_t responder_count() {
    const std::scoped_lock lock(mutex);
    return responders.size();
  }

  std::mutex mutex;
  std::vector<std::shared_ptr<ResponseStream>> streams;
  std::vector<Responder> responders;
  std::atomic<int> left = 0;
  std::unique_ptr<HttpServer> server;
};

HttpResponse text_response(std::string body) {
  HttpResponse response;
  response.body = std::move(body);
  return response;
}

std::size_t threads_now() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    ++count;
  return count;
}

}  // namespace

TEST_CASE("an answer that comes after the handler returned is sent by the stream thread and closes",
          "[http]") {
  ServerConfig config;
  config.workers = 1;
  KeepingServer keeping(config);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<RawClient>(keeping.server->port()));
    clients.back()->send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  REQUIRE(KeepingServer::comes_true(
      [&] { return keeping.responder_count() == 20; }));  // one worker did not block

  for (const auto& responder : keeping.responders) responder.send(text_response("late"));

  for (const auto& client : clients) {
    const auto response = client->response();
    CHECK(response.status == 200);
    CHECK(response.body == "late");
    CHECK(response.headers.at("connection") == "close");
    CHECK(client->read_to_end());
  }
  CHECK(keeping.left == 0);
}

TEST_CASE("an answer may race with the worker's return, and is given exactly once", "[http]") {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Responder> waiting;
  bool is_over = false;
  std::thread answerer([&] {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return is_over || !waiting.empty(); });
      if (waiting.empty()) return;
      const auto taken = std::exchange(waiting, {});
      lock.unlock();
      for (const auto& responder : taken) {
        responder.send(text_response("raced"));
        responder.send(text_response("twice"));
      }
      lock.lock();
    }
  });
  auto server = HttpServer::start({}, [&](const HttpRequest&, const Responder& responder) {
    const std::scoped_lock lock(mutex);
    waiting.push_back(responder);
    changed.notify_one();
  });
  REQUIRE(server.has_value());

  int right = 0;
  for (int round = 0; round < 20; ++round) {
    std::vector<std::unique_ptr<RawClient>> clients;
    for (int i = 0; i < 20; ++i) {
      clients.push_back(std::make_unique<RawClient>((*server)->port()));
      clients.back()->send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    }
    for (const auto& client : clients)
      right +=
          client->response().body == "raced" && client->read_to_end() && client->received().empty()
              ? 1
              : 0;
  }

  CHECK(right == 400);
  (*server)->stop();
  {
    const std::scoped_lock lock(mutex);
    is_over = true;
  }
  changed.notify_one();
  answerer.join();
}

TEST_CASE("too many waiting requests are refused with 503, and their calls told", "[http][E24]") {
  ServerConfig config;
  config.max_waiting = 2;
  KeepingServer keeping(config);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<RawClient>(keeping.server->port()));
    clients.back()->send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
    REQUIRE(KeepingServer::comes_true(
        [&] { return keeping.responder_count() == static_cast<std::size_t>(i) + 1; }));
    std::this_thread::sleep_for(Millis(20));  // until its worker has let it go
  }

  const auto refused = clients[2]->response();
  CHECK(refused.status == 503);
  CHECK(refused.headers.at("retry-after") == "1");
  CHECK(KeepingServer::comes_true([&] { return keeping.left == 1; }));
  keeping.responders[0].send(text_response("a"));
  CHECK(clients[0]->response().body == "a");
  RawClient next(keeping.server->port());
  next.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
  REQUIRE(KeepingServer::comes_true([&] { return keeping.responder_count() == 4; }));
  keeping.responders[3].send(text_response("b"));
  CHECK(next.response().body == "b");
}

TEST_CASE("a client that leaves is noticed at once, while it waits and while it streams",
          "[http]") {
  KeepingServer keeping;
  RawClient waiting(keeping.server->port()), streaming(keeping.server->port());
  waiting.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
  streaming.send(kStreamRequest);
  REQUIRE(streaming.read_until("retry: 2000").find("text/event-stream") != std::string::npos);
  REQUIRE(KeepingServer::comes_true([&] { return keeping.responder_count() == 1; }));

  waiting.leave();
  streaming.leave();

  CHECK(KeepingServer::comes_true([&] { return keeping.left == 2; }));
  CHECK_FALSE(keeping.streams[0]->write("x"));
  keeping.responders[0].send(text_response("to nobody"));
  CHECK(keeping.left == 2);
}

TEST_CASE("a client that left before its handler answered is found out later", "[http]") {
  KeepingServer keeping;
  for (int i = 0; i < 100; ++i) {
    RawClient client(keeping.server->port());
    client.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
  }

  CHECK(KeepingServer::comes_true([&] {
    return keeping.left == static_cast<int>(keeping.responder_count()) && keeping.left == 100;
  }));
}

TEST_CASE("2,000 event streams cost no thread, and each gets every frame in order",
          "[http][slow]") {
  KeepingServer keeping;
  const auto before = threads_now();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 2000; ++i) {
    clients.push_back(std::make_unique<RawClient>(keeping.server->port()));
    clients.back()->send(kStreamRequest);
  }
  REQUIRE(KeepingServer::comes_true([&] { return keeping.stream_count() == 2000; }, Millis(60000)));
  CHECK(threads_now() == before);

  const auto began = std::chrono::steady_clock::now();
  for (int event = 0; event < 20; ++event)
    for (const auto& stream : keeping.streams) REQUIRE(stream->write(cat("data: ", event, "\n\n")));
  std::string wanted;
  for (int event = 0; event < 20; ++event) wanted += cat("data: ", event, "\n\n");
  for (const auto& client : clients)
    REQUIRE(
        client->read_until("data: 19\n\n", Millis(60000)).ends_with("retry: 2000\n\n" + wanted));
  WARN("40,000 frames to 2,000 streams took "
       << std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now() - began).count()
       << " ms");

  const auto stop_began = std::chrono::steady_clock::now();
  keeping.server->stop();
  CHECK(std::chrono::steady_clock::now() - stop_began < Millis(1000));
  for (const auto& client : clients) CHECK(client->read_to_end());
  CHECK(keeping.left == 0);  // the server left, not they
}

TEST_CASE("a reader who does not read is dropped, and others lose nothing", "[http]") {
  ServerConfig config;
  config.max_stream_buffer = 64U << 10U;
  KeepingServer keeping(config);
  RawClient slow(keeping.server->port(), 4096), quick(keeping.server->port());
  slow.send(kStreamRequest);
  REQUIRE(KeepingServer::comes_true([&] { return keeping.stream_count() == 1; }));
  quick.send(kStreamRequest);
  REQUIRE(KeepingServer::comes_true([&] { return keeping.stream_count() == 2; }));
  bool is_slow_open = true, is_quick_right = true;
  for (int sent = 0; is_slow_open && sent < 5000; ++sent) {
    const auto frame = cat("data: ", sent, " ", std::string(1000, 'x'), "\n\n");
    is_slow_open = keeping.streams[0]->write(frame);
    quick.forget();
    is_quick_right = is_quick_right && keeping.streams[1]->write(frame) &&
                     quick.read_until("x\n\n").ends_with(frame);
  }

  CHECK_FALSE(is_slow_open);
  CHECK(is_quick_right);
}

TEST_CASE("an idle event stream gets heartbeats", "[http]") {
  ServerConfig config;
  config.heartbeat = Millis(50);
  KeepingServer keeping(config);
  RawClient client(keeping.server->port());
  client.send(kStreamRequest);

  CHECK(client.read_until(": hb\n\n: hb\n\n").find(": hb\n\n: hb\n\n") != std::string::npos);
}

TEST_CASE("frames queued before a close or a stop still arrive", "[http][E25]") {
  KeepingServer keeping;
  RawClient closed(keeping.server->port()), stopped(keeping.server->port());
  closed.send(kStreamRequest);
  REQUIRE(KeepingServer::comes_true([&] { return keeping.stream_count() == 1; }));
  stopped.send(kStreamRequest);
  REQUIRE(KeepingServer::comes_true([&] { return keeping.stream_count() == 2; }));

  keeping.streams[0]->write("data: last\n\n");
  keeping.streams[0]->close();
  CHECK(closed.read_to_end());
  keeping.streams[1]->write("data: stop\n\n");
  keeping.server->stop();

  CHECK(closed.received().ends_with("data: last\n\n"));
  CHECK(stopped.read_to_end());
  CHECK(stopped.received().ends_with("data: stop\n\n"));
  CHECK_FALSE(keeping.streams[0]->write("x"));
}

TEST_CASE("an answer or a frame after the stop goes nowhere and harms nothing", "[http]") {
  std::vector<Responder> late;
  std::shared_ptr<ResponseStream> stream;
  {
    KeepingServer keeping;
    RawClient waiting(keeping.server->port()), streaming(keeping.server->port());
    waiting.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
    streaming.send(kStreamRequest);
    REQUIRE(KeepingServer::comes_true(
        [&] { return keeping.responder_count() == 1 && keeping.stream_count() == 1; }));
    keeping.server->stop();
    late = keeping.responders;
    stream = keeping.streams[0];
    CHECK(keeping.left == 0);
  }

  late[0].send(text_response("late"));
  CHECK_FALSE(stream->write("late"));
}
