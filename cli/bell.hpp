#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace indx {

/// Wakes one who waits when something happened, also before the wait. Thread-safe.
class Bell {
 public:
  void ring() {
    {
      const std::scoped_lock lock(mutex_);
      is_rung_ = true;
    }
    rung_.notify_all();
  }
  void wait(std::chrono::milliseconds longest) {
    std::unique_lock lock(mutex_);
    rung_.wait_for(lock, longest, [this] { return is_rung_; });
    is_rung_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable rung_;
  bool is_rung_ = false;
};

}  // namespace indx
