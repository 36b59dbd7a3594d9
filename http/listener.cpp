#include "http/listener.hpp"

#include "base/log.hpp"
#include "base/text.hpp"
#include "http/error_body.hpp"

#include <Poco/Exception.h>
#include <Poco/Net/SocketAddress.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace indx {
namespace {

using FrontClock = std::chrono::steady_clock;
using ReaderState = RequestReader::State;

constexpr std::size_t kMaxHeldBytes = 256U << 20U;  // of all requests that are still coming in
constexpr std::size_t kBodyRate = 64U << 10U;       // bytes a second that a body must keep up
constexpr std::chrono::seconds kLingerTime{2};

/// Thousands of idle clients need more descriptors than the usual soft limit of 1,024.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::max(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, 65536));
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

bool watch_fd(int epoll, int fd, unsigned events) {
  epoll_event event{events, {}};
  event.data.fd = fd;
  return ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

Error listen_error(const std::string& where) {
  return make_error(Reason::Unavailable,
                    cat("Cannot listen on ", where, ": ", std::generic_category().message(errno),
                        ". Choose another address or stop the program that uses it."));
}

/// Bytes for a peer that is being refused; what does not fit is lost.
void send_once(int fd, const std::string& bytes) {
  [[maybe_unused]] const auto n =
      ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

Result<std::unique_ptr<Listener>> Listener::open(const ServerConfig& config, OnRequest on_request) {
  std::unique_ptr<Listener> listener(new Listener(config));
  listener->on_request_ = std::move(on_request);
  raise_descriptor_limit();
  if (!config.host.empty()) INDX_TRY(listener->open_tcp());
  if (!config.unix_socket.empty()) INDX_TRY(listener->open_local());
  if (listener->doors_.empty())
    return invalid("A server needs a host or a local socket to listen on.");
  INDX_TRY(listener->start());
  return listener;
}

Listener::~Listener() { stop(); }

Status Listener::open_tcp() {
  const auto where = cat(config_.host, ":", config_.port);
  try {
    const Poco::Net::SocketAddress address(config_.host, static_cast<Poco::UInt16>(config_.port));
    Door door;
    door.is_loopback = address.host().isLoopback();
    door.fd = UniqueFd(::socket(address.af(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int on = 1;
    ::setsockopt(door.fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(door.fd.get(), address.addr(), address.length()) != 0 ||
        ::listen(door.fd.get(), 4096) != 0)
      return listen_error(where);
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    ::getsockname(door.fd.get(), reinterpret_cast<sockaddr*>(&bound), &size);
    port_ = Poco::Net::SocketAddress(reinterpret_cast<sockaddr*>(&bound), size).port();
    doors_.push_back(std::move(door));
  } catch (const Poco::Exception& e) {
    return make_error(Reason::ValidationFailed,
                      cat("Cannot listen on ", where, ": ", e.displayText(),
                          ". Give an address of this machine."));
  }
  return {};
}

Status Listener::open_local() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (config_.unix_socket.size() >= sizeof address.sun_path)
    return invalid(
        "The path of the local socket is longer than 107 bytes. Set INDX_INDEX_DIR to a shorter "
        "folder.");
  std::memcpy(address.sun_path, config_.unix_socket.c_str(), config_.unix_socket.size() + 1);
  ::unlink(config_.unix_socket
               .c_str());  // left over: whoever starts a server holds the lock of the vault
  Door door;
  door.is_local_socket = true;
  door.fd = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  // The mode is set before listen, so nobody else can connect in between.
  if (::bind(door.fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(config_.unix_socket.c_str(), 0600) != 0 || ::listen(door.fd.get(), 1024) != 0)
    return listen_error("the local socket");
  doors_.push_back(std::move(door));
  return {};
}

Status Listener::start() {
  epoll_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  bell_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  bool is_set_up = epoll_ && bell_ && watch_fd(epoll_.get(), bell_.get(), EPOLLIN);
  for (const auto& door : doors_)
    is_set_up = is_set_up && watch_fd(epoll_.get(), door.fd.get(), EPOLLIN);
  if (!is_set_up)
    return internal_error("The listener could not be set up: no file descriptors left.");
  thread_ = std::thread([this] { run(); });
  return {};
}

void Listener::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(bell_.get(), &one, sizeof one);
}

void Listener::park(std::unique_ptr<Connection> connection) {
  const std::scoped_lock lock(mutex_);
  if (is_stopping_) return;
  inbox_.push_back(std::move(connection));
  if (inbox_.size() == 1) wake();
}

void Listener::linger(std::unique_ptr<Connection> connection) {
  ::shutdown(connection->fd.get(), SHUT_WR);
  connection->is_lingering = true;
  park(std::move(connection));
}

void Listener::drain() {
  is_draining_ = true;
  wake();
}

void Listener::stop() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    is_draining_ = true;
    is_stopping_ = true;
  }
  wake();
  thread_.join();
  inbox_.clear();
  connections_.clear();
}

int Listener::wait_millis() const {
  if (connections_.empty() && !doors_paused_) return -1;
  return static_cast<int>(std::clamp<std::int64_t>(
      std::min(config_.head_timeout, config_.idle_timeout).count() / 8, 10, 500));
}

void Listener::run() {
  std::array<epoll_event, 256> events;
  auto next_check = FrontClock::now();
  while (!is_stopping_) {
    const int n =
        ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), wait_millis());
    for (int i = 0; i < n; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      const auto door = std::find_if(doors_.begin(), doors_.end(),
                                     [fd](const Door& d) { return d.fd.get() == fd; });
      if (door != doors_.end()) {
        accept_from(*door);
      } else if (fd == bell_.get()) {
        std::uint64_t rings = 0;
        [[maybe_unused]] const auto got = ::read(fd, &rings, sizeof rings);
      } else {
        receive(fd);
      }
    }
    if (is_draining_) close_doors();  // before anybody is told of the end
    take_inbox();
    if (FrontClock::now() < next_check) continue;
    check_deadlines();
    next_check = FrontClock::now() + std::chrono::milliseconds(std::max(wait_millis(), 10));
  }
  close_doors();
}

void Listener::close_doors() {
  if (doors_.empty()) return;
  if (!config_.unix_socket.empty()) ::unlink(config_.unix_socket.c_str());
  doors_.clear();
  std::vector<int> idle;
  for (const auto& [fd, connection] : connections_)
    if (connection->reader.state() == ReaderState::Idle && !connection->is_lingering)
      idle.push_back(fd);
  for (const int fd : idle) drop(fd);
}

void Listener::accept_from(const Door& door) {
  while (true) {
    sockaddr_storage from{};
    socklen_t size = sizeof from;
    UniqueFd fd(::accept4(door.fd.get(), reinterpret_cast<sockaddr*>(&from), &size,
                          SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
          errno == ENOMEM) {  // else epoll would spin
        for (const auto& each : doors_)
          ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, each.fd.get(), nullptr);
        doors_paused_ = true;
        log_warn("out of file descriptors: new clients wait");
      }
      if (errno == EINTR || errno == ECONNABORTED) continue;
      return;
    }
    std::string remote = "local";
    if (!door.is_local_socket) {
      const int on = 1;
      ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      remote = Poco::Net::SocketAddress(reinterpret_cast<sockaddr*>(&from), size).toString();
    }
    watch(std::make_unique<Connection>(Connection{std::move(fd),
                                                  new_reader(door),
                                                  std::move(remote),
                                                  door.is_local_socket,
                                                  door.is_loopback,
                                                  false,
                                                  {},
                                                  {},
                                                  ReaderState::Idle,
                                                  0}));
  }
}

RequestReader Listener::new_reader(const Door& door) const {
  if (!config_.plan_body) return RequestReader(config_.max_body_bytes);
  return RequestReader(
      config_.max_body_bytes,
      [plan = config_.plan_body, is_local_socket = door.is_local_socket,
       is_loopback = door.is_loopback, names = config_.public_names](const HttpRequest& head) {
        HttpRequest request = head;
        request.is_local_socket = is_local_socket;
        request.is_loopback_listener = is_loopback;
        request.public_names = names;
        return plan(request);
      });
}

void Listener::take_inbox() {
  std::vector<std::unique_ptr<Connection>> taken;
  {
    const std::scoped_lock lock(mutex_);
    taken.swap(inbox_);
  }
  for (auto& connection : taken) {
    if (is_draining_ && !connection->is_lingering &&
        connection->reader.state() == ReaderState::Idle) {
      ::shutdown(connection->fd.get(), SHUT_WR);
      connection->is_lingering = true;
    }
    watch(std::move(connection));
  }
}

void Listener::watch(std::unique_ptr<Connection> connection) {
  const int fd = connection->fd.get();
  connection->since = FrontClock::now();
  connection->timed_state = ReaderState::Idle;
  if (!watch_fd(epoll_.get(), fd, EPOLLIN | EPOLLRDHUP)) return;
  auto& held = connections_[fd] = std::move(connection);
  note_bytes(*held);
  if (!held->is_lingering && held->reader.state() != ReaderState::Idle) proceed(fd);  // pipelined
}

void Listener::receive(int fd) {
  const auto found = connections_.find(fd);
  if (found == connections_.end()) return;
  auto& connection = *found->second;
  if (connection.is_lingering) return throw_away(fd);
  std::array<char, 65536> bytes;
  const auto n = ::recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n == 0 && connection.reader.state() == ReaderState::Body)
    return refuse(fd, 400, "The body is shorter than announced.");
  if (n <= 0) return drop(fd);
  connection.reader.feed({bytes.data(), static_cast<std::size_t>(n)});
  note_bytes(connection);
  proceed(fd);
}

void Listener::throw_away(int fd) {
  std::array<char, 65536> bytes;
  const auto n = ::recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) drop(fd);
}

void Listener::proceed(int fd) {
  auto& connection = *connections_.at(fd);
  const auto state = connection.reader.state();
  if (state == ReaderState::Complete) return hand_over(fd);
  if (state == ReaderState::Refused) {
    const auto why = connection.reader.refusal();
    return why.response ? refuse(fd, *why.response) : refuse(fd, why.status, why.message);
  }
  if (held_bytes_ > kMaxHeldBytes && state == ReaderState::Body)
    return refuse(fd, 503, "Too many large requests are coming in; try again.");
  if (connection.reader.take_continue()) send_once(fd, "HTTP/1.1 100 Continue\r\n\r\n");
  if (state == connection.timed_state) return;
  if (connection.timed_state == ReaderState::Idle) connection.since = FrontClock::now();
  if (state == ReaderState::Body) connection.body_since = FrontClock::now();
  connection.timed_state = state;
}

void Listener::hand_over(int fd) {
  auto connection = release(fd);
  if (on_request_(connection)) return;
  connections_[fd] = std::move(connection);
  watch_fd(epoll_.get(), fd, EPOLLIN | EPOLLRDHUP);
  refuse(fd, 503, "The server is busy; try again.");
}

void Listener::refuse(int fd, int status, const std::string& message) {
  SystemRandom random;
  refuse(fd, refusal_response(status, message, {new_ulid(SystemClock().now(), random)}));
}

void Listener::refuse(int fd, const HttpResponse& response) {
  send_once(fd, to_wire(response, {}));
  auto& connection = *connections_.at(fd);
  ::shutdown(fd, SHUT_WR);
  connection.is_lingering = true;
  connection.since = FrontClock::now();
}

std::unique_ptr<Connection> Listener::release(int fd) {
  auto node = connections_.extract(fd);
  auto connection = std::move(node.mapped());
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  held_bytes_ -= std::exchange(connection->counted_bytes, 0);
  return connection;
}

void Listener::drop(int fd) { release(fd); }

void Listener::note_bytes(Connection& connection) {
  held_bytes_ -= connection.counted_bytes;
  connection.counted_bytes = connection.reader.held_bytes();
  held_bytes_ += connection.counted_bytes;
}

void Listener::check_deadlines() {
  if (doors_paused_) {
    doors_paused_ = false;
    for (const auto& door : doors_) watch_fd(epoll_.get(), door.fd.get(), EPOLLIN);
  }
  const auto now = FrontClock::now();
  std::vector<int> late, over;
  for (const auto& [fd, connection] : connections_) {
    const auto age = now - connection->since;
    if (connection->is_lingering) {
      if (age > kLingerTime) over.push_back(fd);
    } else if (connection->timed_state == ReaderState::Idle) {
      if (age > config_.idle_timeout) over.push_back(fd);
    } else if (connection->timed_state == ReaderState::Head) {
      if (age > config_.head_timeout) late.push_back(fd);
    } else {  // the first 64 kB in the head's time, then 64 kB a second
      const auto earned =
          std::chrono::milliseconds(connection->reader.body_received() * 1000 / kBodyRate);
      if (now - connection->body_since > config_.head_timeout + earned) late.push_back(fd);
    }
  }
  for (const int fd : over) drop(fd);
  for (const int fd : late) refuse(fd, 408, "The request came too slowly.");
}

}  // namespace indx
