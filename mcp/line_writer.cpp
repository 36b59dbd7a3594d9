#include "mcp/line_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace indx {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kWriteBytes =
    4096;  // a pipe that polls writable takes this much without blocking
constexpr std::chrono::milliseconds kFlushTime{500}, kWritePoll{20};

}  // namespace

WakeFd::WakeFd() : fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

WakeFd::~WakeFd() { ::close(fd_); }

void WakeFd::wake() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(fd_, &one, sizeof(one));
}

LineWriter::LineWriter(int fd, std::shared_ptr<WakeFd> on_broken)
    : fd_(fd), on_broken_(std::move(on_broken)), thread_([this] { run(); }) {}

void LineWriter::write(std::string line) {
  {
    const std::scoped_lock lock(mutex_);
    if (is_closed_ || is_broken_) return;
    queued_bytes_ += line.size() + 1;
    lines_.push_back(std::move(line) + '\n');
  }
  changed_.notify_all();
}

void LineWriter::close() {
  {
    const std::scoped_lock lock(mutex_);
    if (!is_closed_) flush_until_ = steady_clock::now() + kFlushTime;
    is_closed_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void LineWriter::run() {
  // A closed pipe shall give EPIPE here instead of ending the process.
  sigset_t pipe_signal;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr);

  std::unique_lock lock(mutex_);
  while (!is_broken_) {
    changed_.wait(lock, [&] { return is_closed_ || !lines_.empty(); });
    if (lines_.empty()) return;
    const std::string line = std::move(lines_.front());
    lines_.pop_front();
    lock.unlock();
    const bool ok = write_line(line);
    lock.lock();
    queued_bytes_ -= line.size();
    if (ok) continue;
    is_broken_ = true;
    on_broken_->wake();
  }
}

bool LineWriter::is_late() {
  const std::scoped_lock lock(mutex_);
  return is_closed_ && steady_clock::now() > flush_until_;
}

bool LineWriter::write_line(const std::string& line) {
  std::size_t at = 0;
  while (at < line.size()) {
    pollfd target{fd_, POLLOUT, 0};
    const int ready = ::poll(&target, 1, static_cast<int>(kWritePoll.count()));
    if (is_late()) return false;
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    if (ready < 0) return false;
    const auto written = ::write(fd_, line.data() + at, std::min(kWriteBytes, line.size() - at));
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written <= 0) return false;
    at += static_cast<std::size_t>(written);
    written_bytes_ += static_cast<std::uint64_t>(written);
  }
  return true;
}

}  // namespace indx
