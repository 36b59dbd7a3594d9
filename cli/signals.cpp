#include "cli/signals.hpp"

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

SignalWatch::SignalWatch(std::function<void()> on_first)
    : thread_([on_first = std::move(on_first)](const std::stop_token& stop) {
        const sigset_t set = stop_signals();
        const timespec step{0, 50'000'000};
        bool is_first = true;
        while (!stop.stop_requested()) {
          const int number = sigtimedwait(&set, nullptr, &step);
          if (number <= 0) continue;
          if (!is_first) ::_exit(128 + number);  // what it leaves behind, the next start settles
          is_first = false;
          if (on_first) on_first();
        }
      }) {}

SignalWatch::~SignalWatch() = default;

}  // namespace indx
