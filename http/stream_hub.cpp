#include "http/stream_hub.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>

namespace indx {
namespace {

using HubClock = std::chrono::steady_clock;

std::int64_t nanos(HubClock::time_point at) {
  return at.time_since_epoch() / std::chrono::nanoseconds(1);
}

void ring(const UniqueFd& bell) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written =
      ::write(bell.get(), &one, sizeof one);  // full counter: it rings already
}

/// A close with unread input would reset the connection and take unsent bytes with it.
void discard_input(int fd) {
  std::array<char, 4096> sink;
  while (::recv(fd, sink.data(), sink.size(), MSG_DONTWAIT) > 0) {
  }
}

}  // namespace

bool HubInbox::post(std::shared_ptr<HubStream> stream) {
  const std::scoped_lock lock(mutex);
  if (is_stopped) return false;
  const bool was_empty = changed.empty() && tasks.empty();
  changed.push_back(std::move(stream));
  if (was_empty) ring(wake);
  return true;
}

void HubInbox::post(std::function<void()> task) {
  const std::scoped_lock lock(mutex);
  if (is_stopped) return;
  const bool was_empty = changed.empty() && tasks.empty();
  tasks.push_back(std::move(task));
  if (was_empty) ring(wake);
}

HubStream::HubStream(UniqueFd fd, Options options, std::shared_ptr<HubInbox> inbox)
    : is_closing_(options.only_flushes),
      on_gone_(std::move(options.on_gone)),
      on_overflow_(std::move(options.on_overflow)),
      max_buffer_(options.max_buffer),
      only_flushes_(options.only_flushes),
      has_heartbeat_(options.has_heartbeat),
      inbox_(std::move(inbox)),
      fd_(std::move(fd)),
      give_back_(std::move(options.give_back)),
      last_sent_(HubClock::now()),
      last_progress_(last_sent_) {
  queued_ = options.first.size();
  if (queued_ > 0) queue(std::move(options.first));
  tail_ = std::move(options.tail);
  is_announced_ = true;  // the hub posts it once itself
}

/// Under the mutex.
void HubStream::announce() {
  if (std::exchange(is_announced_, true)) return;
  inbox_->post(shared_from_this());
}

bool HubStream::write(std::string frame) {
  return write_shared(std::make_shared<const std::string>(std::move(frame)));
}

bool HubStream::write_shared(std::shared_ptr<const std::string> frame) {
  const std::scoped_lock lock(mutex_);
  if (is_closing_ || is_over_) return false;
  if (frame->empty()) return true;
  if (queued_ > max_buffer_) {  // too slow: it gets what is queued, then the end, and may come back
    is_closing_ = true;
    announce();
    if (on_overflow_) on_overflow_();
    return false;
  }
  queued_ += frame->size();
  frames_.push_back(std::move(frame));
  announce();
  return true;
}

void HubStream::when_drained(std::function<void()> callback) {
  const std::scoped_lock lock(mutex_);
  if (is_closing_ || is_over_) return;
  on_drained_ = std::move(callback);
  announce();
}

void HubStream::close() { finish({}); }

void HubStream::finish(std::string bytes, FileTail tail) {
  const std::scoped_lock lock(mutex_);
  if (is_closing_ || is_over_) return;
  is_closing_ = true;
  queued_ += bytes.size();
  if (!bytes.empty()) queue(std::move(bytes));
  tail_ = std::move(tail);
  announce();
}

void HubStream::set_on_gone(std::function<void()> callback) {
  const std::scoped_lock lock(mutex_);
  if (has_left_) return inbox_->post(std::move(callback));
  if (!is_over_) on_gone_ = std::move(callback);
}

Result<std::unique_ptr<StreamHub>> StreamHub::start(Settings settings) {
  UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  auto inbox = std::make_shared<HubInbox>();
  inbox->wake = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  epoll_event event{EPOLLIN, {}};
  event.data.fd = inbox->wake.get();
  if (!epoll || !inbox->wake ||
      ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, inbox->wake.get(), &event) != 0)
    return internal_error("The stream thread could not be set up: no file descriptors left.");
  std::unique_ptr<StreamHub> hub(new StreamHub(settings, std::move(epoll), std::move(inbox)));
  hub->thread_ = std::thread([raw = hub.get()] { raw->run(); });
  return hub;
}

StreamHub::StreamHub(Settings settings, UniqueFd epoll, std::shared_ptr<HubInbox> inbox)
    : settings_(settings), epoll_(std::move(epoll)), inbox_(std::move(inbox)) {}

StreamHub::~StreamHub() { stop(std::chrono::milliseconds(0)); }

std::shared_ptr<HubStream> StreamHub::adopt(UniqueFd fd, HubStream::Options options) {
  auto stream = std::make_shared<HubStream>(std::move(fd), std::move(options), inbox_);
  if (!inbox_->post(stream)) {
    const std::scoped_lock lock(stream->mutex_);
    stream->is_over_ = true;
    stream->fd_ = UniqueFd();
  }
  return stream;
}

void StreamHub::stop(std::chrono::milliseconds grace) {
  if (!thread_.joinable()) return;
  stop_by_ = nanos(HubClock::now() + grace);
  ring(inbox_->wake);
  thread_.join();
}

int StreamHub::wait_millis() const {
  if (stop_by_ != 0) return 10;
  if (count_ == 0) return -1;
  return static_cast<int>(std::clamp<std::int64_t>(
      std::min(settings_.heartbeat, settings_.stall).count() / 8, 10, 1000));
}

void StreamHub::run() {
  std::array<epoll_event, 256> events;
  auto next_beat = HubClock::now();
  while (true) {
    const int n =
        ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), wait_millis());
    for (int i = 0; i < n; ++i) {
      const auto& event = events[static_cast<std::size_t>(i)];
      if (event.data.fd != inbox_->wake.get()) {
        handle(event.data.fd, event.events);
        continue;
      }
      std::uint64_t rings = 0;
      [[maybe_unused]] const auto got = ::read(inbox_->wake.get(), &rings, sizeof rings);
    }
    take_inbox();
    const auto now = HubClock::now();
    if (now >= next_beat) {
      beat();
      next_beat = now + std::chrono::milliseconds(std::max(wait_millis(), 10));
    }
    if (stop_by_ == 0) continue;
    const bool is_late = nanos(now) >= stop_by_;
    for (const auto& stream : std::vector(by_fd_)) {  // a copy: end() changes the list
      if (!stream) continue;
      std::unique_lock lock(stream->mutex_);
      const bool is_sent = stream->frames_.empty() && stream->tail_.is_empty();
      lock.unlock();
      if (is_sent || is_late) end(stream, End::Stopped);
    }
    if (count_ > 0) continue;
    std::vector<std::shared_ptr<HubStream>> rest;
    std::vector<std::function<void()>> tasks;
    {
      const std::scoped_lock lock(inbox_->mutex);
      inbox_->is_stopped = true;
      rest.swap(inbox_->changed);
      tasks.swap(inbox_->tasks);
    }
    for (const auto& stream : rest) end(stream, End::Stopped);
    return;
  }
}

void StreamHub::take_inbox() {
  std::vector<std::shared_ptr<HubStream>> changed;
  std::vector<std::function<void()>> tasks;
  {
    const std::scoped_lock lock(inbox_->mutex);
    changed.swap(inbox_->changed);
    tasks.swap(inbox_->tasks);
  }
  for (const auto& stream : changed) {
    if (!stream->is_registered_) admit(stream);
    if (stream->fd_) flush(stream);
  }
  for (const auto& task : tasks) task();
}

void StreamHub::admit(const std::shared_ptr<HubStream>& stream) {
  if (!stream->fd_) return;  // ended before it was seen
  const auto fd = stream->fd_.get();
  epoll_event event{stream->only_flushes_ ? 0U : EPOLLRDHUP, {}};
  event.data.fd = fd;
  if (by_fd_.size() <= static_cast<std::size_t>(fd))
    by_fd_.resize(static_cast<std::size_t>(fd) + 1);
  by_fd_[static_cast<std::size_t>(fd)] = stream;
  stream->is_registered_ = true;
  ++count_;
  size_ = count_;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) end(stream, End::PeerLeft);
}

void StreamHub::handle(int fd, unsigned events) {
  if (static_cast<std::size_t>(fd) >= by_fd_.size()) return;
  const auto stream = by_fd_[static_cast<std::size_t>(fd)];
  if (!stream) return;  // ended earlier in this round
  const unsigned gone = EPOLLHUP | EPOLLERR | (stream->only_flushes_ ? 0U : EPOLLRDHUP);
  if ((events & gone) != 0) return end(stream, End::PeerLeft);
  flush(stream);
}

void StreamHub::flush(const std::shared_ptr<HubStream>& stream) {
  constexpr std::size_t kMaxFrames = 64;
  constexpr int kMaxBlocks = 8;  // of a file in one turn: others want theirs
  std::unique_lock lock(stream->mutex_);
  stream->is_announced_ = false;
  bool is_blocked = false;
  int blocks = 0;
  const auto has_more = [&] {
    if (!stream->frames_.empty()) return true;
    if (stream->tail_.is_empty() || blocks++ == kMaxBlocks) return false;
    auto block = stream->tail_.next_block();
    if (block.empty()) return false;
    stream->queued_ += block.size();
    stream->queue(std::move(block));
    return true;
  };
  while (!is_blocked && has_more()) {
    std::array<iovec, kMaxFrames> parts;
    std::size_t count = 0;
    for (const auto& frame : stream->frames_) {
      if (count == kMaxFrames) break;
      const auto skip = count == 0 ? stream->offset_ : 0;
      // sendmsg only reads what it is given
      parts[count++] = {const_cast<char*>(frame->data()) + skip, frame->size() - skip};
    }
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = count;
    const auto sent = ::sendmsg(stream->fd_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    is_blocked = sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    if (sent < 0 && !is_blocked) {
      lock.unlock();
      return end(stream, End::PeerLeft);
    }
    if (sent <= 0) continue;
    stream->last_sent_ = stream->last_progress_ = HubClock::now();
    stream->queued_ -= static_cast<std::size_t>(sent);
    stream->offset_ += static_cast<std::size_t>(sent);
    while (!stream->frames_.empty() && stream->offset_ >= stream->frames_.front()->size()) {
      stream->offset_ -= stream->frames_.front()->size();
      stream->frames_.pop_front();
    }
  }
  const bool is_cut = stream->tail_.is_broken();
  const bool has_rest = !stream->tail_.is_empty();
  const bool is_complete = stream->is_closing_ && stream->frames_.empty() && !has_rest;
  if (has_rest && !is_cut && !is_blocked) stream->announce();
  std::function<void()> on_drained;
  if (stream->frames_.empty() && !is_blocked) on_drained.swap(stream->on_drained_);
  lock.unlock();
  if (on_drained) on_drained();
  if (is_cut) return end(stream, End::PeerLeft);
  if (is_complete) return end(stream, End::Complete);
  if (is_blocked == stream->wants_out_) return;
  stream->wants_out_ = is_blocked;
  epoll_event event{(stream->only_flushes_ ? 0U : EPOLLRDHUP) | (is_blocked ? EPOLLOUT : 0U), {}};
  event.data.fd = stream->fd_.get();
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, stream->fd_.get(), &event);
}

/// Heartbeats, and the end of streams whose peer takes nothing.
void StreamHub::beat() {
  const auto now = HubClock::now();
  for (const auto& stream : std::vector(by_fd_)) {
    if (!stream) continue;
    std::unique_lock lock(stream->mutex_);
    const bool is_idle = stream->frames_.empty() && stream->tail_.is_empty();
    const bool is_closing = stream->is_closing_;
    if (is_idle && !is_closing && stream->has_heartbeat_ &&
        now - stream->last_sent_ >= settings_.heartbeat) {
      stream->queue(": hb\n\n");
      stream->queued_ += 6;
      lock.unlock();
      stream->last_progress_ = now;
      flush(stream);
      continue;
    }
    lock.unlock();
    if (!is_idle &&
        now - stream->last_progress_ >= (is_closing ? settings_.stall : 6 * settings_.stall))
      end(stream, End::PeerLeft);
    if (is_idle) stream->last_progress_ = now;
  }
}

void StreamHub::end(const std::shared_ptr<HubStream>& stream, End how) {
  const auto keep = stream;  // the list may hold the last reference
  if (keep->is_registered_) {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, keep->fd_.get(), nullptr);
    by_fd_[static_cast<std::size_t>(keep->fd_.get())].reset();
    keep->is_registered_ = false;
    --count_;
    size_ = count_;
  }
  std::function<void()> on_gone, on_drained;
  std::deque<HubStream::Bytes> unsent;
  {
    const std::scoped_lock lock(keep->mutex_);
    keep->is_over_ = true;
    keep->has_left_ = how == End::PeerLeft;
    on_gone.swap(keep->on_gone_);
    on_drained.swap(keep->on_drained_);  // dropped outside of the lock: it may hold the last owner
    unsent.swap(keep->frames_);
  }
  auto fd = std::move(keep->fd_);
  const auto give_back = std::exchange(keep->give_back_, {});
  if (fd && how == End::Complete && give_back) {
    give_back(std::move(fd));
  } else if (fd) {
    ::shutdown(fd.get(), SHUT_WR);
    discard_input(fd.get());
  }
  if (how == End::PeerLeft && on_gone) on_gone();
}

}  // namespace indx
