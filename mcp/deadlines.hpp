#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace indx {

/// Runs functions on a thread of its own when their time has come. They must not block.
class Deadlines {
 public:
  Deadlines();
  ~Deadlines();  ///< drops what is not due
  Deadlines(const Deadlines&) = delete;
  Deadlines& operator=(const Deadlines&) = delete;

  void after(std::chrono::milliseconds delay, std::function<void()> function);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::multimap<std::chrono::steady_clock::time_point, std::function<void()>> due_;
  bool is_stopping_ = false;
  std::thread thread_;  // last: it uses the members above
};

}  // namespace indx
