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

/// Takes back that the three are blocked: each ends the process at once, as one that has nothing to
/// tidy up.
void let_signals_end_us();

/// Ends the process with 1, because a handler ignores that it stops: nothing is lost, for its job
/// was given back, but somebody should know.
[[noreturn]] void end_stuck_process();

/// Runs `on_first` on a thread of its own when the first of the three comes; the second ends the
/// process at once. Its end waits for nothing but a running `on_first`.
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
