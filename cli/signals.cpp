#include "cli/signals.hpp"

#include "base/log.hpp"

#include <cerrno>
#include <unistd.h>

namespace indx {
namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGHUP);
  return set;
}

/// Tells the thread of a watch that it is over.
constexpr int kWake = SIGUSR1;

/// The thread has `kWake` blocked from its first moment on, and nobody else has.
std::jthread start_waiting(std::function<void(const std::stop_token&)> wait) {
  sigset_t wake, before;
  sigemptyset(&wake);
  sigaddset(&wake, kWake);
  pthread_sigmask(SIG_BLOCK, &wake, &before);
  std::jthread thread(std::move(wait));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

void prepare_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

int wait_for_signal() {
  const sigset_t set = stop_signals();
  int number = 0;
  while (sigwait(&set, &number) != 0) {
  }
  return number;
}

void let_signals_end_us() {
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void end_stuck_process() {
  log_error("a handler ignores that the engine stops; the process ends without it");
  ::_exit(1);
}

SignalWatch::SignalWatch(std::function<void()> on_first)
    : thread_(start_waiting([on_first = std::move(on_first)](const std::stop_token& stop) {
        sigset_t set = stop_signals();
        sigaddset(&set, kWake);
        bool is_first = true;
        while (!stop.stop_requested()) {
          const int number = sigwaitinfo(&set, nullptr);
          if (number <= 0 || number == kWake) continue;
          if (!is_first) ::_exit(128 + number);  // what it leaves behind, the next start settles
          is_first = false;
          if (on_first) on_first();
        }
      })) {}

SignalWatch::~SignalWatch() {
  thread_.request_stop();
  ::pthread_kill(thread_.native_handle(), kWake);
}

}  // namespace indx
