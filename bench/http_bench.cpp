// note_read over HTTP against a bare handler on the same front that returns the same bytes; then
// event streams: 2,000 open SSE clients and how fast events reach them all. The load generator
// shares the machine with the server.
// rows: A103
#include "actors/engine.hpp"
#include "bench/support.hpp"
#include "http/rest.hpp"
#include "http/server.hpp"

#include <arpa/inet.h>
#include <atomic>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace indx;
using namespace indx::bench;

constexpr int kNotes = 1000, kConnections = 16, kSeconds = 3, kStreams = 2000, kEvents = 100;

int connect_to(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) std::exit(1);
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

void send_all(int fd, const std::string& text) {
  if (::send(fd, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size()))
    std::exit(1);
}

/// Reads one answer with Content-Length; its whole size.
std::size_t read_answer(int fd, std::string& buffer) {
  char chunk[16384];
  for (;;) {
    const auto head = buffer.find("\r\n\r\n");
    if (head != std::string::npos) {
      const auto at = buffer.find("Content-Length: ");
      const auto whole = head + 4 + (at < head ? std::stoul(buffer.substr(at + 16)) : 0);
      if (buffer.size() >= whole) {
        buffer.erase(0, whole);
        return whole;
      }
    }
    const auto n = ::recv(fd, chunk, sizeof chunk, 0);
    if (n <= 0) std::exit(1);
    buffer.append(chunk, static_cast<std::size_t>(n));
  }
}

double requests_per_s(int port, const std::vector<std::string>& requests) {
  std::atomic<long> done = 0;
  std::vector<std::thread> clients;
  const double end = now_s() + kSeconds;
  for (int c = 0; c < kConnections; ++c)
    clients.emplace_back([&, c] {
      const int fd = connect_to(port);
      std::string buffer;
      for (std::size_t i = static_cast<std::size_t>(c); now_s() < end; ++i, ++done) {
        send_all(fd, requests[i % requests.size()]);
        read_answer(fd, buffer);
      }
      ::close(fd);
    });
  for (auto& client : clients) client.join();
  return static_cast<double>(done) / kSeconds;
}

/// A list as lines: how soon the first bytes of the body came, and the whole answer.
struct LineList {
  double first_ms = 0, seconds = 0;
  std::string answer;
};
LineList read_lines(int port, const std::string& request) {
  LineList list;
  const int fd = connect_to(port);
  char chunk[65536];
  const double begin = now_s();
  send_all(fd, request);
  while (!list.answer.ends_with("\r\n0\r\n\r\n")) {
    const auto n = ::recv(fd, chunk, sizeof chunk, 0);
    if (n <= 0) std::exit(1);
    list.answer.append(chunk, static_cast<std::size_t>(n));
    if (list.first_ms == 0 && list.answer.find('{') != std::string::npos)
      list.first_ms = (now_s() - begin) * 1000;
  }
  list.seconds = now_s() - begin;
  ::close(fd);
  return list;
}

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

/// Seconds in which one frame a stream and event goes from socket to socket without any server
/// between.
double seconds_to_deliver(int streams, int events) {
  const std::string frame(200, 'x');
  std::string seen(frame.size(), ' ');
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i < streams; ++i) {
    int ends[2] = {};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::exit(1);
    pairs.emplace_back(ends[0], ends[1]);
  }
  const double begin = now_s();
  for (int i = 0; i < events; ++i) {
    for (const auto& [from, to] : pairs) send_all(from, frame);
    for (const auto& [from, to] : pairs)
      if (::recv(to, seen.data(), seen.size(), 0) <= 0) std::exit(1);
  }
  const double took = now_s() - begin;
  for (const auto& [from, to] : pairs) ::close(from), ::close(to);
  return took;
}

/// Counts `data:` lines that arrive on all streams until there are `wanted`; gives seconds, or 0
/// after 60 s.
double seconds_until(int epoll, long wanted) {
  const double begin = now_s();
  long seen = 0;
  epoll_event events[256];
  char chunk[65536];
  while (seen < wanted && now_s() - begin < 60) {
    const int ready = ::epoll_wait(epoll, events, 256, 100);
    for (int i = 0; i < ready; ++i) {
      const auto n = ::recv(events[i].data.fd, chunk, sizeof chunk, MSG_DONTWAIT);
      for (std::string_view text(chunk, n > 0 ? static_cast<std::size_t>(n) : 0); !text.empty();) {
        const auto at = text.find("\ndata:");
        if (at == text.npos) break;
        ++seen;
        text.remove_prefix(at + 6);
      }
    }
  }
  return seen >= wanted ? now_s() - begin : 0;
}

}  // namespace

int main() {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  const Folder folder("http");
  generate_vault(folder.path / "vault", kNotes);
  Config config;
  config.vault_dir = (folder.path / "vault").string();
  config.index_dir = (folder.path / "index").string();
  config.rate_limit_per_minute = 0;
  config.durability = Durability::Normal;
  const Registry registry = make_registry();
  auto engine = Engine::start(config, registry, {});
  if (!engine.has_value()) return std::fprintf(stderr, "%s\n", engine.error().message.c_str()), 1;
  auto dispatcher = make_dispatcher(registry, **engine);
  Router router;
  add_rest_routes(router, *dispatcher);
  std::string bare_body;
  router.add(
      "GET", "/bare",
      [&](const HttpRequest&, const std::map<std::string, std::string>&, Responder responder) {
        responder.send({200, {{"Content-Type", "application/json"}}, bare_body});
      });
  auto server = HttpServer::start({}, [&](const HttpRequest& request, Responder responder) {
    router.handle(request, responder);
  });
  if (!server.has_value()) return 1;
  const int port = (*server)->port();
  const auto head = [&](const std::string& target) {
    return cat("GET ", target, " HTTP/1.1\r\nHost: 127.0.0.1:", port, "\r\nAuthorization: Bearer ",
               (*engine)->owner_token(), "\r\n\r\n");
  };
  std::vector<std::string> reads;
  for (int i = 0; i < 1000; ++i)
    reads.push_back(head(cat("/v1/notes/area-", i % 40, "/note-", i, ".md?include=body")));
  {
    const int fd = connect_to(port);
    std::string buffer;
    send_all(fd, reads[0]);
    char chunk[65536];
    const auto n = ::recv(fd, chunk, sizeof chunk, 0);
    const std::string answer(chunk, n > 0 ? static_cast<std::size_t>(n) : 0);
    bare_body = answer.substr(answer.find("\r\n\r\n") + 4);
    ::close(fd);
  }
  const double floor = requests_per_s(port, {head("/bare")});
  const double value = requests_per_s(port, reads);
  print({.name = "note_read_http",
         .value = value,
         .unit = "requests/s",
         .floor = floor,
         .bar = .6 * floor,
         .bar_is_maximum = false});

  auto ask = head("/v1/notes");
  ask.insert(ask.size() - 2, "Accept: application/x-ndjson\r\n");
  std::vector<double> first_ms, seconds, bare_ms;
  for (int i = 0; i < 20; ++i) {
    const auto list = read_lines(port, ask);
    first_ms.push_back(list.first_ms);
    seconds.push_back(list.seconds);
    bare_body = list.answer;
  }
  const int bare = connect_to(port);
  for (int i = 0; i < 20; ++i) {
    std::string buffer;
    const double begin = now_s();
    send_all(bare, head("/bare"));
    read_answer(bare, buffer);
    bare_ms.push_back((now_s() - begin) * 1000);
  }
  ::close(bare);
  print({.name = "ndjson_first_byte",
         .value = percentile(first_ms, .95),
         .unit = "ms",
         .floor = percentile(bare_ms, .5),
         .bar = 50});
  print({.name = "ndjson_rows",
         .value = kNotes / percentile(seconds, .5),
         .unit = "rows/s",
         .floor = kNotes * 1000 / percentile(bare_ms, .5),
         .bar = 5000,
         .bar_is_maximum = false});

  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  const double before = resident_mb(::getpid()), opening = now_s();
  std::vector<int> streams;
  for (int i = 0; i < kStreams; ++i) {
    const int fd = connect_to(port);
    send_all(fd, head("/v1/events?kinds=note.*"));
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    streams.push_back(fd);
  }
  std::this_thread::sleep_for(std::chrono::seconds(2));  // heads and retry frames arrive
  seconds_until(epoll, 0);
  const double opened = now_s() - opening - 2;
  print({.name = "sse_open_2000",
         .value = opened,
         .unit = "s",
         .floor = seconds_to_accept(kStreams)});
  print({.name = "sse_memory_per_stream",
         .value = (resident_mb(::getpid()) - before) * 1000 / kStreams,
         .unit = "kB"});
  Call write;
  write.operation = registry.find("note_patch");
  write.principal = {.subject = "local", .surface = Surface::Cli, .scopes = {Scope::VaultAdmin}};
  std::thread writer([&] {
    for (int i = 0; i < kEvents; ++i) {
      write.input = {
          {"path", cat("area-", i % 40, "/note-", i, ".md")},
          {"ops", Json::array({{{"op", "append_body"}, {"markdown", cat("line ", i)}}})}};
      dispatcher->call_and_wait(write);
    }
  });
  const double took = seconds_until(epoll, long{kStreams} * kEvents);
  writer.join();
  print({.name = "sse_deliveries",
         .value = took > 0 ? kStreams * kEvents / took : 0,
         .unit = "events/s",
         .floor = kStreams * kEvents / seconds_to_deliver(kStreams, kEvents)});
  for (const int fd : streams) ::close(fd);
  (*engine)->stop();
  (*server)->stop();
}
