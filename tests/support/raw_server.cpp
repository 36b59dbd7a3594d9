#include "tests/support/raw_server.hpp"

#include "base/assert.hpp"
#include "base/text.hpp"

#include <arpa/inet.h>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace indx {
namespace {

int listen_on_file(const std::string& path) {
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  INDX_ASSERT(path.size() < sizeof address.sun_path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  INDX_ASSERT(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
              ::listen(listener, 64) == 0);
  return listener;
}

}  // namespace

int listen_on_loopback(int* port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(*port));
  const int yes = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  INDX_ASSERT(::bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
              ::listen(listener, 512) == 0);
  INDX_ASSERT(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  *port = ntohs(address.sin_port);
  return listener;
}

std::string RawConnection::read_request() {
  std::string all;
  char buffer[4096];
  for (;;) {
    if (const auto end = all.find("\r\n\r\n"); end != all.npos) {
      const char* length = ::strcasestr(all.c_str(), "\r\ncontent-length:");
      const auto body = length != nullptr ? std::strtoul(length + 17, nullptr, 10) : 0;
      if (all.size() >= end + 4 + body) return all;
    }
    const auto got = ::recv(socket_, buffer, sizeof buffer, 0);
    if (got <= 0) return all;
    all.append(buffer, static_cast<std::size_t>(got));
  }
}

bool RawConnection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void RawConnection::wait_for_close() {
  char buffer[4096];
  while (::recv(socket_, buffer, sizeof buffer, 0) > 0) {
  }
}

RawServer::RawServer(std::function<void(RawConnection&)> talk, const std::string& socket_path)
    : listener_(socket_path.empty() ? listen_on_loopback(&port_) : listen_on_file(socket_path)) {
  thread_ = std::jthread([listener = listener_, talk = std::move(talk)] {
    for (;;) {
      const int socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) return;
      RawConnection connection(socket);
      talk(connection);
      ::close(socket);
    }
  });
}

RawServer::~RawServer() {
  ::shutdown(listener_, SHUT_RDWR);
  thread_.join();
  ::close(listener_);
}

std::string RawServer::url(const std::string& target) const {
  return cat("http://127.0.0.1:", port_, target);
}

SilentServer::SilentServer() : listener_(listen_on_loopback(&port_)) {}
SilentServer::~SilentServer() { ::close(listener_); }

}  // namespace indx
