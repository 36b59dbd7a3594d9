#include "http/server.hpp"

#include "base/log.hpp"
#include "base/metrics.hpp"
#include "base/text.hpp"
#include "http/error_body.hpp"
#include "http/listener.hpp"
#include "http/rest.hpp"
#include "http/stream_hub.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <sys/socket.h>
#include <thread>

namespace indx {
namespace {

constexpr std::size_t kMaxQueued = 4096;
constexpr std::chrono::milliseconds kStopGrace{500};

bool is_sane_id(const std::string& id) {
  return !id.empty() && id.size() <= 64 && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

bool is_event_stream(const HttpResponse& head) {
  return std::any_of(head.headers.begin(), head.headers.end(), [](const auto& header) {
    return header.second.starts_with("text/event-stream");
  });
}

/// A label value: a client may send any word as its method.
std::string method_label(const std::string& method) {
  constexpr std::array<std::string_view, 7> kMethods{"GET",   "HEAD",   "POST",   "PUT",
                                                     "PATCH", "DELETE", "OPTIONS"};
  return std::find(kMethods.begin(), kMethods.end(), method) != kMethods.end() ? method : "other";
}

/// A stream to nobody: the client left, or asked with HEAD.
class ClosedStream : public ResponseStream {
 public:
  bool write(std::string) override { return false; }
  void when_drained(std::function<void()>) override {}
  void close() override {}
};

/// What a request needs of the server until its worker has let it go; the server outlives its
/// workers.
struct ServerParts {
  ServerConfig config;
  std::unique_ptr<Listener> listener;
  std::unique_ptr<StreamHub> hub;
  std::shared_ptr<std::atomic<std::size_t>> waiting =
      std::make_shared<std::atomic<std::size_t>>(0);  // shared: late answers count down

  /// Sends whole bytes and gives the connection on, without ever blocking.
  void deliver(std::unique_ptr<Connection> connection, std::string bytes, FileTail tail,
               bool keep_alive);
  void go_on(std::unique_ptr<Connection> connection, bool keep_alive) {
    if (keep_alive) return listener->park(std::move(connection));
    listener->linger(std::move(connection));
  }
};

void ServerParts::deliver(std::unique_ptr<Connection> connection, std::string bytes, FileTail tail,
                          bool keep_alive) {
  std::size_t sent = 0;
  while (true) {
    if (sent == bytes.size()) {
      bytes = tail.next_block();
      sent = 0;
      if (tail.is_broken()) return;  // cut: the length that was promised cannot be kept
      if (bytes.empty()) return go_on(std::move(connection), keep_alive);
    }
    const auto n = ::send(connection->fd.get(), bytes.data() + sent, bytes.size() - sent,
                          MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK) return;  // gone
    if (n < 0) break;
    sent += static_cast<std::size_t>(n);
  }

  HubStream::Options options;  // a slow reader: the stream thread sends the rest
  options.first = bytes.substr(sent);
  options.tail = std::move(tail);
  options.only_flushes = true;
  auto fd = std::move(connection->fd);
  const std::shared_ptr<Connection> rest =
      std::move(connection);  // shared: std::function must be copyable
  options.give_back = [this, rest, keep_alive](UniqueFd back) {
    auto next = std::make_unique<Connection>(std::move(*rest));
    next->fd = std::move(back);
    go_on(std::move(next), keep_alive);
  };
  hub->adopt(std::move(fd), std::move(options));
}

/// One request's answer. Until the handler returns the connection is here; then it is back with the
/// front, or on the stream thread.
class Exchange : public Responder::Target, public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(ServerParts& parts, std::unique_ptr<Connection> connection, const HttpRequest& request,
           bool keep_alive)
      : parts_(parts),
        id_(request.id),
        is_head_(request.method == "HEAD"),
        keep_alive_(keep_alive),
        metrics_(parts.config.metrics),
        method_(metrics_ != nullptr ? method_label(request.method) : ""),
        waiting_(parts.waiting),
        connection_(std::move(connection)) {}
  ~Exchange() override {
    if (!is_answered_)
      send(error_response(internal_error("The request was left without an answer."), id_));
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void send(HttpResponse response) override {
    const std::scoped_lock lock(mutex_);
    if (!mark_answered(response.status)) return;
    if (is_with_worker_) {
      early_ = std::move(response);
    } else if (stream_) {
      response = with_id(std::move(response));
      auto bytes = to_wire(response, {is_head_, false, true});
      stream_->finish(std::move(bytes), tail_of(std::move(response)));
    }
  }

  std::shared_ptr<ResponseStream> begin_stream(HttpResponse head) override {
    const std::scoped_lock lock(mutex_);
    if (!mark_answered(head.status)) return std::make_shared<ClosedStream>();
    const bool has_heartbeat = is_event_stream(head);
    auto bytes = to_wire(with_id(std::move(head)), {is_head_, false, false});
    if (is_with_worker_ && connection_) {
      const int send_buffer = 64 << 10;  // so that a reader who does not read shows soon
      ::setsockopt(connection_->fd.get(), SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof send_buffer);
      detach(std::move(bytes), has_heartbeat);
    } else if (stream_) {
      stream_->set_heartbeat(has_heartbeat);
      stream_->write(std::move(bytes));
    }
    if (is_head_ && stream_) stream_->close();
    if (!stream_ || is_head_) return std::make_shared<ClosedStream>();
    return stream_;
  }

  void on_disconnect(std::function<void()> callback) override {
    const std::scoped_lock lock(mutex_);
    if (stream_) return stream_->set_on_gone(std::move(callback));
    if (is_with_worker_ && !early_) on_gone_ = std::move(callback);
  }

  void set_route(const std::string& pattern) override {
    if (metrics_ == nullptr) return;
    const std::scoped_lock lock(mutex_);
    route_ = pattern;
  }

  /// The handler returned: writes what it answered, or lets the connection wait on the stream
  /// thread.
  void leave_worker() {
    std::unique_lock lock(mutex_);
    is_with_worker_ = false;
    std::function<void()> too_many;
    if (!is_answered_) {
      if (parts_.waiting->load() < parts_.config.max_waiting) {
        ++*parts_.waiting;
        is_counted_ = true;
        return detach({}, false);
      }
      mark_answered(503);
      early_ = refusal_response(503, "Too many requests wait for their answers; try again.", id_);
      too_many.swap(on_gone_);
    }
    if (!early_) return;
    const bool keep_alive = keep_alive_ && !parts_.listener->is_draining();
    auto response = with_id(std::move(*early_));
    auto bytes = to_wire(response, {is_head_, keep_alive, true});
    auto tail = tail_of(std::move(response));
    auto connection = std::move(connection_);
    const auto forgotten = std::move(on_gone_);
    lock.unlock();
    parts_.deliver(std::move(connection), std::move(bytes), std::move(tail), keep_alive);
    if (too_many) too_many();  // the call ends as if its client had left
  }

 private:
  /// Under the mutex. False: it was answered before.
  bool mark_answered(int status) {
    if (std::exchange(is_answered_, true)) return false;
    if (std::exchange(is_counted_, false)) --*waiting_;
    if (metrics_ != nullptr) count(status);
    return true;
  }

  void count(int status) const {
    const std::string family{static_cast<char>('0' + status / 100), 'x', 'x'};
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began_;
    metrics_->http_requests.of({method_, route_, family}).add();
    metrics_->http_request_seconds.of({method_, route_}).observe(took.count());
    if (status == 429) metrics_->http_rate_limited.add();
  }

  void detach(std::string first, bool has_heartbeat) {
    HubStream::Options options;
    options.first = std::move(first);
    options.max_buffer = parts_.config.max_stream_buffer;
    options.on_gone = std::move(on_gone_);
    options.has_heartbeat = has_heartbeat;
    if (metrics_ != nullptr)
      options.on_overflow = [metrics = metrics_] { metrics->event_streams_dropped.add(); };
    stream_ = parts_.hub->adopt(std::move(connection_->fd), std::move(options));
    connection_.reset();
  }

  FileTail tail_of(HttpResponse response) const {
    return is_head_ ? FileTail() : FileTail(std::move(response));
  }

  HttpResponse with_id(HttpResponse response) const {
    const bool has_id =
        std::any_of(response.headers.begin(), response.headers.end(),
                    [](const auto& header) { return header.first == "X-Request-Id"; });
    if (!has_id) response.headers.emplace_back("X-Request-Id", id_.value);
    return response;
  }

  ServerParts& parts_;  // only while a worker is here
  const RequestId id_;
  const bool is_head_, keep_alive_;
  Metrics* const metrics_;  // outlives the engine, whose calls answer late
  const std::string method_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  const std::shared_ptr<std::atomic<std::size_t>>
      waiting_;  // shared with the server, which may be gone

  std::mutex mutex_;
  std::string route_ = "unmatched";
  std::unique_ptr<Connection> connection_;
  std::shared_ptr<HubStream> stream_;  // shared with the stream thread
  std::optional<HttpResponse> early_;
  std::function<void()> on_gone_;
  bool is_with_worker_ = true, is_answered_ = false, is_counted_ = false;
};

class ParkingServer : public HttpServer {
 public:
  explicit ParkingServer(HttpHandler handler) : handler_(std::move(handler)) {}
  ~ParkingServer() override { stop(); }

  Status open(const ServerConfig& config) {
    parts_.config = config;
    parts_.hub = INDX_TRY(StreamHub::start({config.heartbeat, std::chrono::milliseconds(10000)}));
    parts_.listener = INDX_TRY(Listener::open(
        config, [this](std::unique_ptr<Connection>& connection) { return enqueue(connection); }));
    for (int i = 0; i < std::max(1, config.workers); ++i) workers_.emplace_back([this] { work(); });
    return {};
  }

  int port() const override { return parts_.listener->port(); }
  void drain() override { parts_.listener->drain(); }

  void stop() override {
    if (!parts_.listener || std::exchange(is_stopped_, true)) return;
    parts_.listener->stop();
    {
      const std::scoped_lock lock(mutex_);
      is_open_ = false;
      queue_.clear();
    }
    is_ready_.notify_all();
    for (auto& worker : workers_) worker.join();
    parts_.hub->stop(kStopGrace);
  }

 private:
  bool enqueue(std::unique_ptr<Connection>& connection) {
    const std::scoped_lock lock(mutex_);
    if (queue_.size() >= kMaxQueued) return false;
    queue_.push_back(std::move(connection));
    is_ready_.notify_one();
    return true;
  }

  void work() {
    while (true) {
      std::unique_lock lock(mutex_);
      is_ready_.wait(lock, [this] { return !queue_.empty() || !is_open_; });
      if (!is_open_) return;
      auto connection = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      serve(std::move(connection));
    }
  }

  void serve(std::unique_ptr<Connection> connection) {
    auto parsed = connection->reader.take();
    auto& request = parsed.request;
    request.remote = connection->remote;
    request.is_local_socket = connection->is_local_socket;
    request.is_loopback_listener = connection->is_loopback;
    request.public_names = parts_.config.public_names;
    request.id.value = request.header("x-request-id");
    if (!is_sane_id(request.id.value)) request.id.value = new_ulid(clock_.now(), random_);
    const LogContext context(request.id.value, {});
    const auto exchange =
        std::make_shared<Exchange>(parts_, std::move(connection), request, parsed.keep_alive);
    try {
      handler_(request, Responder(exchange));
    } catch (const std::exception& e) {
      log_error("a request handler threw", {{"path", request.path}, {"what", e.what()}});
      exchange->send(
          error_response(internal_error("The server failed to handle this request."), request.id));
    }
    exchange->leave_worker();
  }

  const HttpHandler handler_;
  const SystemClock clock_;
  SystemRandom random_;
  ServerParts parts_;
  std::mutex mutex_;
  std::condition_variable is_ready_;
  std::deque<std::unique_ptr<Connection>> queue_;
  bool is_open_ = true;
  bool is_stopped_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(const ServerConfig& config,
                                                      HttpHandler handler) {
  auto server = std::make_unique<ParkingServer>(std::move(handler));
  INDX_TRY(server->open(config));
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace indx
