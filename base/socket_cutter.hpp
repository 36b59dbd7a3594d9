#pragma once
#include "base/cancel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <sys/socket.h>
#include <thread>

namespace indx {

/// Ends blocking socket calls on cancel or when a limit is reached, by shutting the socket down.
/// The socket must outlive it.
class SocketCutter {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  /// `is_timed`: whether limits are set at all; without them no thread is needed.
  SocketCutter(int socket, const CancelToken& cancel, std::optional<SteadyTime> deadline,
               bool is_timed)
      : socket_(socket),
        deadline_(deadline.value_or(SteadyTime::max())),
        registration_(cancel.on_cancel([socket] { ::shutdown(socket, SHUT_RDWR); })) {
    if (is_timed) timer_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
  }
  /// From now on the peer has this long (0: the whole rest) for its next move.
  void expect_within(std::chrono::milliseconds time, const char* name) {
    if (!timer_.joinable()) return;
    const std::scoped_lock lock(mutex_);
    next_ = time.count() > 0 ? std::chrono::steady_clock::now() + time : SteadyTime::max();
    next_name_ = name;
    if (due() < waits_for_) wake_.notify_all();
  }
  bool timed_out() const { return expired() != nullptr; }
  /// The name of the limit that was reached; nullptr: none.
  const char* expired() const { return expired_; }

 private:
  SteadyTime due() const { return std::min(deadline_, next_); }

  void watch(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      waits_for_ = due();
      const auto moved = [this] { return due() < waits_for_; };
      if (waits_for_ == SteadyTime::max()) {
        wake_.wait(lock, stop, moved);
        continue;
      }
      if (wake_.wait_until(lock, stop, waits_for_, moved) || stop.stop_requested()) continue;
      if (std::chrono::steady_clock::now() < due()) continue;  // the peer has moved meanwhile
      expired_ = next_ < deadline_ ? next_name_ : "whole";
      ::shutdown(socket_, SHUT_RDWR);
      return;
    }
  }

  const int socket_;
  const SteadyTime deadline_;
  std::atomic<const char*> expired_ = nullptr;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  SteadyTime next_ = SteadyTime::max(), waits_for_ = SteadyTime::max();
  const char* next_name_ = "";
  CancelToken::Registration registration_;
  std::jthread timer_;  // last: ends before what it uses
};

}  // namespace indx
