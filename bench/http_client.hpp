#pragma once
#include "base/text.hpp"
#include "bench/support.hpp"

#include <atomic>
#include <cstdlib>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

// A client of the server under test that costs next to nothing. It ends the program when the
// server fails it.
namespace indx::bench {

inline int connect_to(int port) {
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

inline void send_all(int fd, const std::string& text) {
  if (::send(fd, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size()))
    std::exit(1);
}

/// Reads one answer with Content-Length; its whole size.
inline std::size_t read_answer(int fd, std::string& buffer) {
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

/// What a server answers per second, asked over 16 kept connections for three seconds; each asks
/// for `requests` in turn.
inline double requests_per_s(int port, const std::vector<std::string>& requests) {
  constexpr int kConnections = 16, kSeconds = 3;
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

/// As many open sockets as the system lets this process have.
inline void raise_file_limit() {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace indx::bench
