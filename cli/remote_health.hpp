#pragma once
#include "base/json.hpp"
#include "cli/remote_wire.hpp"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace indx {

/// What a server says of itself. Who asks may be the thread that reads for a client, so a server
/// that is silent keeps nobody waiting for long. Thread-safe.
class RemoteHealth {
 public:
  explicit RemoteHealth(std::shared_ptr<RemoteWire> wire) : wire_(std::move(wire)) {}
  /// After the wire was told that it closes.
  ~RemoteHealth();
  RemoteHealth(const RemoteHealth&) = delete;
  RemoteHealth& operator=(const RemoteHealth&) = delete;

  /// The data of GET /v1/health: fresh where the server answers at once, else what it said last;
  /// before its first answer `state: unreachable`.
  Json now();

 private:
  using SteadyClock = std::chrono::steady_clock;
  void ask();

  const std::shared_ptr<RemoteWire> wire_;  // shared with the dispatcher
  std::mutex mutex_;
  std::condition_variable answered_;
  std::optional<Json> told_;
  SteadyClock::time_point told_at_, asked_at_;
  bool is_asking_ = false;
  std::thread asking_;
};

}  // namespace indx
