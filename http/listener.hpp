#pragma once
#include "http/request_reader.hpp"
#include "http/server.hpp"
#include "http/unique_fd.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace indx {

/// One accepted client. Owned by the front, a worker, or the stream thread, never by two.
struct Connection {
  UniqueFd fd;
  RequestReader reader;
  std::string remote;
  bool is_local_socket = false, is_loopback = false;

  bool is_lingering = false;                    // its end was sent; what still comes is thrown away
  std::chrono::steady_clock::time_point since;  // of being idle, of the first byte, or of lingering
  std::chrono::steady_clock::time_point body_since;
  RequestReader::State timed_state = RequestReader::State::Idle;
  std::size_t counted_bytes = 0;
};

/// The front: one epoll thread that accepts, holds idle clients, and reads requests whole, heads
/// and bodies alike, so that no slow sender ever holds a worker.
class Listener {
 public:
  /// Takes the connection, whose reader is Complete, and gives true; or leaves it: the queue is
  /// full.
  using OnRequest = std::function<bool(std::unique_ptr<Connection>&)>;

  static Result<std::unique_ptr<Listener>> open(const ServerConfig& config, OnRequest on_request);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int port() const { return port_; }
  /// Gives a connection back for its next request. Any thread.
  void park(std::unique_ptr<Connection> connection);
  /// Closes gently: says that nothing more comes, and waits a moment for the peer to see it. Any
  /// thread.
  void linger(std::unique_ptr<Connection> connection);
  void drain();
  void stop();
  bool is_draining() const { return is_draining_; }

 private:
  struct Door {
    UniqueFd fd;
    bool is_local_socket = false, is_loopback = false;
  };
  explicit Listener(const ServerConfig& config) : config_(config) {}
  Status open_tcp();
  Status open_local();
  Status start();
  void run();
  int wait_millis() const;
  void close_doors();
  void accept_from(const Door& door);
  void take_inbox();
  void watch(std::unique_ptr<Connection> connection);
  void receive(int fd);
  void throw_away(int fd);
  /// Looks at what the reader made of the bytes. The connection may be gone afterwards.
  void proceed(int fd);
  void hand_over(int fd);
  void refuse(int fd, int status, const std::string& message);
  void refuse(int fd, const HttpResponse& response);
  RequestReader new_reader(const Door& door) const;
  void drop(int fd);
  std::unique_ptr<Connection> release(int fd);
  void note_bytes(Connection& connection);
  void check_deadlines();
  void wake();

  const ServerConfig config_;
  OnRequest on_request_;
  int port_ = 0;
  UniqueFd epoll_, bell_;
  std::vector<Door> doors_;
  bool doors_paused_ = false;  // out of descriptors: until the next tick
  std::unordered_map<int, std::unique_ptr<Connection>>
      connections_;  // only for the thread, as is what follows
  std::size_t held_bytes_ = 0;

  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> inbox_;
  std::atomic<bool> is_draining_ = false, is_stopping_ = false;
  std::thread thread_;
};

}  // namespace indx
