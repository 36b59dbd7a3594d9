// Event streams over HTTP: 2,000 open clients, how fast events reach them all, and how long an
// event is on its way at 50 a second, alone and beside a client that does not read. The clients
// share the machine with the server.
#include "bench/engine.hpp"
#include "bench/http_client.hpp"

#include <charconv>
#include <sys/epoll.h>
#include <thread>

namespace {

using namespace indx;
using namespace indx::bench;

constexpr int kStreams = 2000, kBurst = 100, kPerSecond = 50, kSeconds = 6;
constexpr std::string_view kSent = "\"sent_us\":";

/// Seconds in which that many clients connect to a plain socket that accepts and does nothing more.
double seconds_to_accept(int clients) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener, 1024) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    std::exit(1);
  std::vector<int> sockets;
  const double begin = now_s();
  for (int i = 0; i < clients; ++i) {
    sockets.push_back(connect_to(ntohs(address.sin_port)));
    sockets.push_back(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  }
  const double took = now_s() - begin;
  for (const int fd : sockets) ::close(fd);
  ::close(listener);
  return took;
}

/// Milliseconds in which one frame after another goes to every stream from socket to socket,
/// without any server between.
std::vector<double> times_to_deliver(int streams, int events) {
  const std::string frame(200, 'x');
  std::string seen(frame.size(), ' ');
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i < streams; ++i) {
    int ends[2] = {};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::exit(1);
    pairs.emplace_back(ends[0], ends[1]);
  }
  auto times = times_ms(events, [&](std::size_t) {
    for (const auto& [from, to] : pairs) send_all(from, frame);
    for (const auto& [from, to] : pairs)
      if (::recv(to, seen.data(), seen.size(), 0) <= 0) std::exit(1);
  });
  for (const auto& [from, to] : pairs) ::close(from), ::close(to);
  return times;
}

std::int64_t now_us() { return static_cast<std::int64_t>(now_s() * 1e6); }

/// The clients: sockets that are read as soon as something is there.
class Streams {
 public:
  Streams() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  ~Streams() {
    for (const int fd : sockets_) ::close(fd);
    ::close(epoll_);
  }

  void open(int port, const std::string& request) {
    const int fd = connect_to(port);
    send_all(fd, request);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = sockets_.size();
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
    sockets_.push_back(fd);
    rests_.emplace_back();
  }
  /// Reads until that many events came, all streams together; at most so long. Gives how long each
  /// was on its way, in ms.
  std::vector<double> read(std::size_t wanted, double seconds) {
    std::vector<double> times;
    times.reserve(wanted);
    epoll_event events[256];
    std::string chunk(65536, ' ');
    const double end = now_s() + seconds;
    while (times.size() < wanted && now_s() < end) {
      const int ready = ::epoll_wait(epoll_, events, 256, 100);
      for (int i = 0; i < ready; ++i) {
        const auto stream = events[i].data.u64;
        const auto n = ::recv(sockets_[stream], chunk.data(), chunk.size(), MSG_DONTWAIT);
        if (n == 0) fail("a stream was closed");
        if (n > 0)
          take(rests_[stream], std::string_view(chunk).substr(0, static_cast<std::size_t>(n)),
               times);
      }
    }
    return times;
  }
  [[noreturn]] static void fail(const char* why) {
    std::fprintf(stderr, "sse: %s\n", why);
    std::exit(1);
  }

 private:
  /// Whole lines hold a time each; what is left of the last one waits for its end.
  static void take(std::string& rest, std::string_view text, std::vector<double>& times) {
    const auto now = now_us();
    for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
      rest += text.substr(0, end);
      text.remove_prefix(end + 1);
      if (const auto at = rest.find(kSent); at != rest.npos) {
        std::int64_t sent = 0;
        std::from_chars(rest.data() + at + kSent.size(), rest.data() + rest.size(), sent);
        times.push_back(static_cast<double>(now - sent) / 1000);
      }
      rest.clear();
    }
    rest += text;
  }

  int epoll_;
  std::vector<int> sockets_;
  std::vector<std::string> rests_;
};

std::unique_ptr<Context> local_context(Engine& engine) {
  return engine.make_context(
      {.subject = "local", .surface = Surface::Cli, .scopes = {Scope::VaultAdmin}}, {}, "bench",
      {});
}

/// Tells events, evenly spread over time when a rate is given.
std::thread teller(Engine& engine, int events, int per_second) {
  return std::thread([&engine, events, per_second] {
    const auto context = local_context(engine);
    const double begin = now_s();
    for (int i = 0; i < events; ++i) {
      const double wait =
          per_second > 0 ? begin + i / static_cast<double>(per_second) - now_s() : 0;
      if (wait > 0) std::this_thread::sleep_for(std::chrono::duration<double>(wait));
      context->emit("note.bench", {{"sent_us", now_us()}, {"path", "area-1/note-1.md"}});
    }
  });
}

/// p99 of the way of an event at the steady rate.
double delivery_p99_ms(Engine& engine, Streams& streams) {
  constexpr int kEvents = kPerSecond * kSeconds;
  auto telling = teller(engine, kEvents, kPerSecond);
  const auto times = streams.read(std::size_t{kStreams} * kEvents, kSeconds + 30);
  telling.join();
  if (times.size() < std::size_t{kStreams} * kEvents) Streams::fail("events are missing");
  return percentile(times, .99);
}

/// A client that does not read. What nobody else hears of fills the buffers of the kernel, then
/// those of the server.
int stalled_client(Engine& engine, int port, const std::string& request) {
  constexpr int kFills = 100, kFillBytes = 60000;
  const int fd = connect_to(port);
  const int least = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &least, sizeof least);
  send_all(fd, request);
  const auto context = local_context(engine);
  for (int i = 0; i < kFills; ++i)
    context->emit("bench.fill", {{"filler", std::string(kFillBytes, 'x')}});
  return fd;
}

}  // namespace

int main() {
  raise_file_limit();
  const Folder folder("sse");
  std::filesystem::create_directories(folder.path / "vault");
  ServedEngine served(folder.path);
  const int port = served.port();
  const auto events_of = [&](const std::string& kinds) {
    return served.get("/v1/events?kinds=" + kinds);
  };

  const double before = resident_mb(::getpid()), opening = now_s();
  Streams streams;
  for (int i = 0; i < kStreams; ++i) streams.open(port, events_of("note.*"));
  const double opened = now_s() - opening;
  streams.read(1, 2);  // heads and retry frames arrive
  print({.name = "sse_open_2000",
         .value = opened,
         .unit = "s",
         .floor = seconds_to_accept(kStreams)});
  print({.name = "sse_memory_per_stream",
         .value = (resident_mb(::getpid()) - before) * 1000 / kStreams,
         .unit = "kB"});

  const auto floor = times_to_deliver(kStreams, kBurst);
  double floor_s = 0;
  for (const double time : floor) floor_s += time / 1000;
  const double begin = now_s();
  auto telling = teller(served.engine(), kBurst, 0);
  const auto burst = streams.read(std::size_t{kStreams} * kBurst, 60);
  const double took = now_s() - begin;
  telling.join();
  if (burst.size() < std::size_t{kStreams} * kBurst) Streams::fail("events are missing");
  print({.name = "sse_deliveries",
         .value = kStreams * kBurst / took,
         .unit = "events/s",
         .floor = kStreams * kBurst / floor_s});

  const auto tell = [&](const char* name, double value) {
    print(
        {.name = name, .value = value, .unit = "ms", .floor = percentile(floor, .99), .bar = 100});
  };
  tell("sse_delivery_p99", delivery_p99_ms(served.engine(), streams));
  const int stalled = stalled_client(served.engine(), port, events_of("note.*,bench.fill"));
  tell("sse_delivery_p99_beside_stalled", delivery_p99_ms(served.engine(), streams));
  ::close(stalled);
}
