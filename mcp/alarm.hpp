#pragma once
#include "mcp/deadlines.hpp"

#include <chrono>
#include <functional>
#include <mutex>
#include <utility>

namespace indx {

/// Deadlines for those who may outlive them: after `stop` nothing is set any more. Thread-safe.
class Alarm {
 public:
  explicit Alarm(Deadlines& deadlines) : deadlines_(&deadlines) {}
  void after(std::chrono::milliseconds delay, std::function<void()> function) {
    const std::scoped_lock lock(mutex_);
    if (deadlines_) deadlines_->after(delay, std::move(function));
  }
  void stop() {
    const std::scoped_lock lock(mutex_);
    deadlines_ = nullptr;
  }

 private:
  std::mutex mutex_;
  Deadlines* deadlines_;
};

}  // namespace indx
