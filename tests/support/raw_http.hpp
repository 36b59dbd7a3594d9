#pragma once
#include "base/json.hpp"
#include "base/text.hpp"
#include "http/unique_fd.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <cstring>
#include <map>
#include <netinet/in.h>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>

namespace indx::test {

struct RawResponse {
  int status = 0;
  std::map<std::string, std::string> headers;  // lower case
  std::string body;
  Json json() const { return Json::parse(body, nullptr, false); }
};

/// A client that sends exactly the bytes it is told to.
class RawClient {
 public:
  using Millis = std::chrono::milliseconds;

  explicit RawClient(int port, int receive_buffer = 0)
      : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_buffer > 0)
      ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_connected_ =
        ::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  explicit RawClient(const std::string& path)
      : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    is_connected_ =
        ::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }

  bool is_connected() const { return is_connected_; }
  int fd() const { return fd_.get(); }
  bool send(const std::string& bytes) {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const auto n = ::send(fd_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return false;
      sent += static_cast<std::size_t>(n);
    }
    return true;
  }
  void finish_sending() { ::shutdown(fd_.get(), SHUT_WR); }
  void leave() { fd_ = UniqueFd(); }

  /// Everything until `mark` was seen, the end, or the time is over.
  const std::string& read_until(const std::string& mark, Millis time = Millis(5000)) {
    const auto until = std::chrono::steady_clock::now() + time;
    while (received_.find(mark) == received_.npos && receive(until)) {
    }
    return received_;
  }
  /// True when the server closed within the time; what came is kept.
  bool read_to_end(Millis time = Millis(5000)) {
    const auto until = std::chrono::steady_clock::now() + time;
    while (receive(until)) {
    }
    return is_ended_;
  }
  const std::string& received() const { return received_; }
  void forget() { received_.clear(); }

  /// One response with a length, taken from what was received.
  RawResponse response(Millis time = Millis(5000), bool is_head = false) {
    const auto until = std::chrono::steady_clock::now() + time;
    std::size_t end = 0;
    while ((end = received_.find("\r\n\r\n")) == received_.npos)
      if (!receive(until)) return {};
    RawResponse result;
    result.status = std::atoi(received_.c_str() + 9);
    for (const auto& line : split(received_.substr(0, end), '\n')) {
      const auto colon = line.find(':');
      if (colon == line.npos) continue;
      auto name = line.substr(0, colon);
      std::transform(name.begin(), name.end(), name.begin(),
                     [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
      result.headers[name] = std::string(trim(line.substr(colon + 1)));
    }
    received_.erase(0, end + 4);
    const auto length =
        result.headers.count("content-length") == 0 || is_head
            ? 0
            : static_cast<std::size_t>(std::stoul(result.headers["content-length"]));
    while (received_.size() < length)
      if (!receive(until)) break;
    result.body = received_.substr(0, length);
    received_.erase(0, length);
    return result;
  }

 private:
  bool receive(std::chrono::steady_clock::time_point until) {
    const auto left =
        std::chrono::duration_cast<Millis>(until - std::chrono::steady_clock::now()).count();
    pollfd waiting{fd_.get(), POLLIN, 0};
    if (left <= 0 || ::poll(&waiting, 1, static_cast<int>(left)) <= 0) return false;
    char bytes[16384];
    const auto n = ::recv(fd_.get(), bytes, sizeof bytes, 0);
    if (n <= 0) {
      is_ended_ = true;
      return false;
    }
    received_.append(bytes, static_cast<std::size_t>(n));
    return true;
  }

  UniqueFd fd_;
  bool is_connected_ = false, is_ended_ = false;
  std::string received_;
};

}  // namespace indx::test
