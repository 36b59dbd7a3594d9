#pragma once
#include "http/router.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace indx {

class Metrics;

struct ServerConfig {
  std::string host = "127.0.0.1";
  int port = 0;             ///< 0: the system picks
  std::string unix_socket;  ///< path of a local socket (mode 0600) to listen on as well, or instead
                            ///< when host is empty
  int workers = 8;
  std::size_t max_body_bytes = 10U << 20U;
  std::chrono::milliseconds head_timeout{10000}, idle_timeout{60000}, heartbeat{15000};
  std::size_t max_waiting = 1024;  ///< requests that wait for an answer without a worker
  std::size_t max_stream_buffer = 256U << 10U;
  PlanBody plan_body;  ///< empty: bodies of up to `max_body_bytes`, in memory
  std::shared_ptr<const std::vector<std::string>> public_names;  ///< see HttpRequest
  Metrics* metrics = nullptr;  ///< counts requests; outlives the server
};

/// The parking front: one epoll thread accepts, holds idle connections and reads heads; workers run
/// Poco's parser and the handler; one stream thread serves detached sockets (platform.md 2.2, 2.3).
class HttpServer {
 public:
  static Result<std::unique_ptr<HttpServer>> start(const ServerConfig& config, HttpHandler handler);
  virtual ~HttpServer() = default;
  virtual int port() const = 0;
  /// Stops accepting; open requests go on.
  virtual void drain() = 0;
  /// Ends everything: waiting streams are closed, workers joined. Returns within about a second.
  virtual void stop() = 0;
};

}  // namespace indx
