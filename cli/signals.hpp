#pragma once
#include <csignal>
#include <functional>
#include <thread>

namespace indx {

/// Before any thread starts: SIGPIPE ignored; SIGTERM, SIGINT and SIGHUP blocked, so that one
/// thread can wait for them.
void prepare_signals();

/// Blocks until one of the three comes; gives its number.
int wait_for_signal();

/// Runs `on_first` on a thread of its own when the first of the three comes; the second ends the
/// process at once.
class SignalWatch {
 public:
  explicit SignalWatch(std::function<void()> on_first);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  std::jthread thread_;
};

}  // namespace indx
