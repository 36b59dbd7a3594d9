#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace indx {

/// The bounded threads on which lanes of jobs and inline provider calls run (G6). Threads start
/// when they are needed.
class LanePool {
 public:
  LanePool(std::size_t max_threads, std::size_t max_queued)
      : max_threads_(max_threads), max_queued_(max_queued) {}
  ~LanePool() { stop(); }

  /// False when the queue is full or the pool stopped.
  bool submit(std::function<void()> work);
  /// Runs what is queued, then joins. Idempotent.
  void stop();

 private:
  void run();

  const std::size_t max_threads_, max_queued_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool is_stopped_ = false;
};

}  // namespace indx
