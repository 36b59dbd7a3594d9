// A library to be loaded before a program (LD_PRELOAD): it writes down to where the program wants
// to connect or send, and which names it looks up, and lets nothing leave this machine. Its reader
// is socket_record.hpp. It sees calls through the C library, as all our libraries make them; a bare
// system call would pass.
#include <arpa/inet.h>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#define WATCHED extern "C" __attribute__((visibility("default")))

namespace {

/// One line in one write, so that lines of several processes do not mix; errno stays.
__attribute__((format(printf, 1, 2))) void note_line(const char* format, ...) {
  const int before = errno;
  const char* file = std::getenv("SOCKET_WATCH_FILE");
  char line[512];
  const int head = std::snprintf(line, sizeof line, "%d ", static_cast<int>(::getpid()));
  va_list arguments;
  va_start(arguments, format);
  const auto begin = static_cast<std::size_t>(head);
  const int tail = std::vsnprintf(line + begin, sizeof line - begin - 1, format, arguments);
  va_end(arguments);
  auto size = begin + static_cast<std::size_t>(tail < 0 ? 0 : tail);
  if (size > sizeof line - 2) size = sizeof line - 2;
  line[size++] = '\n';
  const int out = file == nullptr
                      ? -1
                      : ::open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  // A watch that cannot write must not look like silence.
  if (out < 0 || ::write(out, line, size) != static_cast<ssize_t>(size)) std::abort();
  ::close(out);
  errno = before;
}

/// Whether the address is on this machine; writes it down unless it names no place at all.
bool may_reach(const char* what, const sockaddr* address, socklen_t size) {
  if (address == nullptr || size < sizeof address->sa_family) return true;
  char text[INET6_ADDRSTRLEN] = "";
  switch (address->sa_family) {
    case AF_UNSPEC:  // undoes a connect
    case AF_NETLINK:
      return true;
    case AF_UNIX:
      note_line("%s unix local", what);
      return true;
    case AF_INET: {
      sockaddr_in ip{};
      if (size < sizeof ip) break;
      std::memcpy(&ip, address, sizeof ip);
      const bool is_local = (ntohl(ip.sin_addr.s_addr) >> 24U) == 127;
      ::inet_ntop(AF_INET, &ip.sin_addr, text, sizeof text);
      note_line("%s %s:%d %s", what, text, ntohs(ip.sin_port), is_local ? "local" : "refused");
      return is_local;
    }
    case AF_INET6: {
      sockaddr_in6 ip{};
      if (size < sizeof ip) break;
      std::memcpy(&ip, address, sizeof ip);
      const bool is_local = IN6_IS_ADDR_LOOPBACK(&ip.sin6_addr);
      ::inet_ntop(AF_INET6, &ip.sin6_addr, text, sizeof text);
      note_line("%s [%s]:%d %s", what, text, ntohs(ip.sin6_port), is_local ? "local" : "refused");
      return is_local;
    }
    default:
      break;
  }
  note_line("%s family-%d refused", what, address->sa_family);
  return false;
}

int refused() {
  errno = ENETUNREACH;
  return -1;
}

bool is_numeric(const char* name) {
  unsigned char bytes[sizeof(in6_addr)];
  return name == nullptr || ::inet_pton(AF_INET, name, bytes) == 1 ||
         ::inet_pton(AF_INET6, name, bytes) == 1;
}

/// The function of that name that would have been called without us.
template <typename Function>
Function* next(const char* name, Function*) {
  void* const found = ::dlsym(RTLD_NEXT, name);
  if (found == nullptr) std::abort();
  Function* function = nullptr;
  std::memcpy(&function, &found, sizeof function);
  return function;
}

__attribute__((constructor)) void begin_watch() { note_line("watched"); }

}  // namespace

WATCHED int connect(int socket, const sockaddr* address, socklen_t size) {
  if (!may_reach("connect", address, size)) return refused();
  static auto* const original = next("connect", &::connect);
  return original(socket, address, size);
}

WATCHED ssize_t sendto(int socket, const void* bytes, std::size_t count, int flags,
                       const sockaddr* address, socklen_t size) {
  if (!may_reach("send", address, size)) return refused();
  static auto* const original = next("sendto", &::sendto);
  return original(socket, bytes, count, flags, address, size);
}

WATCHED ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  if (!may_reach("send", static_cast<const sockaddr*>(message->msg_name), message->msg_namelen))
    return refused();
  static auto* const original = next("sendmsg", &::sendmsg);
  return original(socket, message, flags);
}

WATCHED int sendmmsg(int socket, mmsghdr* messages, unsigned count, int flags) {
  for (unsigned i = 0; i < count; ++i) {
    const auto& head = messages[i].msg_hdr;
    if (!may_reach("send", static_cast<const sockaddr*>(head.msg_name), head.msg_namelen))
      return refused();
  }
  static auto* const original = next("sendmmsg", &::sendmmsg);
  return original(socket, messages, count, flags);
}

// The C library looks names up by calls of its own, which nobody can stand in for; so the question
// is refused before.

WATCHED int getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                        addrinfo** found) {
  if (!is_numeric(node)) {
    note_line("resolve %.200s refused", node);
    return EAI_FAIL;
  }
  static auto* const original = next("getaddrinfo", &::getaddrinfo);
  return original(node, service, hints, found);
}

WATCHED hostent* gethostbyname(const char* name) {
  note_line("resolve %.200s refused", name);
  h_errno = NO_RECOVERY;
  return nullptr;
}

WATCHED hostent* gethostbyname2(const char* name, int /*family*/) { return gethostbyname(name); }

WATCHED int gethostbyname_r(const char* name, hostent* /*entry*/, char* /*buffer*/,
                            std::size_t /*size*/, hostent** found, int* error) {
  note_line("resolve %.200s refused", name);
  *found = nullptr;
  *error = NO_RECOVERY;
  return ENOENT;
}

WATCHED int getnameinfo(const sockaddr* address, socklen_t size, char* host, socklen_t host_size,
                        char* service, socklen_t service_size, int flags) {
  if (host != nullptr && host_size > 0 && (flags & NI_NUMERICHOST) == 0) {
    note_line("resolve address refused");
    return EAI_FAIL;
  }
  static auto* const original = next("getnameinfo", &::getnameinfo);
  return original(address, size, host, host_size, service, service_size, flags);
}
