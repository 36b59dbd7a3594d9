#pragma once
#include <functional>
#include <string>
#include <thread>

namespace indx {

/// Listens on 127.0.0.1:*port, which 0 lets the system pick.
int listen_on_loopback(int* port);

/// One connection of a server that says exactly what a test wants; blocking calls, no HTTP
/// knowledge.
class RawConnection {
 public:
  explicit RawConnection(int socket) : socket_(socket) {}
  /// The head and, by its Content-Length, the body of a request.
  std::string read_request();
  bool send(std::string_view bytes);
  /// Blocks until the client closes.
  void wait_for_close();

 private:
  int socket_;
};

/// Listens on a loopback port (or a socket file) and runs `talk` for each connection, one after the
/// other, closing it after.
class RawServer {
 public:
  explicit RawServer(std::function<void(RawConnection&)> talk, const std::string& socket_path = "");
  ~RawServer();
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;
  int port() const { return port_; }
  std::string url(const std::string& target = "/") const;

 private:
  int port_ = 0;  // before listener_, whose making sets it
  int listener_ = -1;
  std::jthread thread_;
};

/// A loopback port that accepts connections and never answers.
class SilentServer {
 public:
  SilentServer();
  ~SilentServer();
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;
  int port() const { return port_; }

 private:
  int port_ = 0;  // before listener_, whose making sets it
  int listener_ = -1;
};

}  // namespace indx
