#include "base/http_client.hpp"

#include "base/http_target.hpp"
#include "base/socket_cutter.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <Poco/Exception.h>
#include <Poco/Net/Context.h>
#include <Poco/Net/DNS.h>
#include <Poco/Net/HTTPClientSession.h>
#include <Poco/Net/HTTPRequest.h>
#include <Poco/Net/HTTPResponse.h>
#include <Poco/Net/SecureStreamSocket.h>
#include <Poco/Net/SocketAddress.h>
#include <Poco/Net/StreamSocket.h>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>

namespace indx {
namespace {

/// The status of a head that Poco has read. Its own is an enum that ends before those that vendors
/// made up, such as 529.
int status_in(std::string_view head) {
  const auto at = std::min(head.find_first_not_of(' ', head.find(' ')), head.size());
  int status = 0;
  std::from_chars(head.data() + at, head.data() + head.size(), status);
  return status;
}

namespace pn = Poco::Net;
using SteadyTime = SocketCutter::SteadyTime;
using OnData = std::function<bool(std::string_view)>;
using OnHead = std::function<void(const HttpClientResponse&)>;

constexpr auto kConnectSlice = std::chrono::milliseconds(20);  // how soon a cancel ends a connect
constexpr std::size_t kMaxChunkLine = 1024;
constexpr std::size_t kMaxHeadBytes = 64U << 10U;

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c < 0x7F &&
           std::string_view("()<>@,;:\\\"/[]?={}").find(c) == std::string_view::npos;
  });
}

Status check_request(const HttpClientRequest& request) {
  if (!is_token(request.method))
    return invalid("The HTTP method holds characters that are not allowed.");
  for (const auto& [name, value] : request.headers) {
    if (!is_token(name))
      return invalid("The name of a header holds characters that are not allowed.");
    if (value.find_first_of(std::string_view("\r\n\0", 3)) != value.npos)
      return invalid(cat("The value of the header ", name, " holds a line break."));
    const auto lower = to_lower(name);
    if (lower == "content-length" || lower == "transfer-encoding" || lower == "connection")
      return invalid(cat("The header ", name, " is set by the client itself."));
  }
  return {};
}

/// Gives access to the bytes behind the response head: Poco's own body streams cannot tell a cut
/// body from a whole one.
class RawSession : public pn::HTTPClientSession {
 public:
  explicit RawSession(const pn::StreamSocket& socket) : HTTPClientSession(socket) {}
  /// At least one byte, or 0 at the end.
  std::size_t read_some(char* buffer, std::size_t length) {
    const int got = HTTPClientSession::read(buffer, static_cast<std::streamsize>(length));
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  }
};

/// Trusts the certificates of the system, or those of the file that SSL_CERT_FILE names. Kept by
/// that name: to read them takes milliseconds.
pn::Context::Ptr tls_context() {
  const char* file = std::getenv("SSL_CERT_FILE");  // NOLINT(concurrency-mt-unsafe): never set here
  static std::mutex mutex;
  static std::map<std::string, pn::Context::Ptr> contexts;
  const std::scoped_lock lock(mutex);
  auto& context = contexts[file == nullptr ? "" : file];
  if (!context) {
    context = new pn::Context(pn::Context::TLS_CLIENT_USE, "", "", "", pn::Context::VERIFY_STRICT,
                              9, true);
    context->requireMinimumProtocol(pn::Context::PROTO_TLSV1_2);
    context->enableExtendedCertificateVerification(true);
  }
  return context;
}

/// How the reading of a body ended.
enum class BodyEnd : std::uint8_t { Whole, Stopped, Cut, Malformed, TooLarge };

class BodyReader {
 public:
  BodyReader(RawSession& session, std::size_t max_bytes, const OnData& on_data)
      : session_(session), left_(max_bytes), on_data_(on_data) {}

  BodyEnd read_length(std::uint64_t length) {
    if (length > left_) return BodyEnd::TooLarge;
    while (length > 0) {
      const auto got = session_.read_some(buffer_, std::min<std::uint64_t>(length, sizeof buffer_));
      if (got == 0) return BodyEnd::Cut;
      length -= got;
      if (const auto end = deliver(got); end != BodyEnd::Whole) return end;
    }
    return BodyEnd::Whole;
  }

  BodyEnd read_to_close() {
    while (const auto got = session_.read_some(buffer_, sizeof buffer_))
      if (const auto end = deliver(got); end != BodyEnd::Whole) return end;
    return BodyEnd::Whole;
  }

  BodyEnd read_chunks() {
    for (;;) {
      std::string line;
      if (!read_line(line)) return BodyEnd::Cut;
      std::uint64_t length = 0;
      const auto [stop, failure] =
          std::from_chars(line.data(), line.data() + line.size(), length, 16);
      if (failure != std::errc() ||
          (stop != line.data() + line.size() && *stop != ';' && *stop != ' '))
        return BodyEnd::Malformed;
      if (length == 0) break;
      if (const auto end = read_length(length); end != BodyEnd::Whole) return end;
      if (!read_line(line)) return BodyEnd::Cut;
      if (!line.empty()) return BodyEnd::Malformed;
    }
    for (std::string trailer = "-"; !trailer.empty();)
      if (!read_line(trailer)) return BodyEnd::Cut;
    return BodyEnd::Whole;
  }

 private:
  BodyEnd deliver(std::size_t bytes) {
    if (bytes > left_) return BodyEnd::TooLarge;
    left_ -= bytes;
    return on_data_({buffer_, bytes}) ? BodyEnd::Whole : BodyEnd::Stopped;
  }
  /// Without its end; false when the input ends or the line is too long.
  bool read_line(std::string& line) {
    line.clear();
    for (char c = 0; session_.read_some(&c, 1) == 1 && line.size() < kMaxChunkLine;) {
      if (c == '\n') {
        if (line.ends_with('\r')) line.pop_back();
        return true;
      }
      line += c;
    }
    return false;
  }

  RawSession& session_;
  std::size_t left_;
  const OnData& on_data_;
  char buffer_[16384];
};

/// One exchange from the name look-up to the last byte.
class Exchange {
 public:
  Exchange(const HttpClientRequest& request, HttpTarget target, ProxyHop proxy,
           const CancelToken& cancel)
      : request_(request), target_(std::move(target)), proxy_(std::move(proxy)), cancel_(cancel) {
    if (!target_.socket_path.empty()) proxy_ = {};
    if (request.timeout.count() > 0) deadline_ = std::chrono::steady_clock::now() + request.timeout;
  }

  Result<HttpClientResponse> run(std::size_t max_bytes, const OnData& on_data,
                                 const OnHead& on_head) {
    try {
      const auto socket = INDX_TRY(connect());
      const bool is_timed =
          deadline_ || request_.first_byte_timeout.count() > 0 || request_.idle_timeout.count() > 0;
      SocketCutter cutter(socket.impl()->sockfd(), cancel_, deadline_, is_timed);
      try {
        return talk(socket, cutter, max_bytes, on_data, on_head);
      } catch (const Poco::Exception& failure) {
        return lost(cutter, failure.name());
      }
    } catch (const Poco::Exception& failure) {
      return no_connection(failure.name());
    }
  }

 private:
  Error cancelled() const {
    return make_error(Reason::Cancelled, cat("The call to ", target_.authority, " was cancelled."));
  }
  Error timed_out(std::string_view limit) const {
    const Json details{{"limit", limit}};
    if (limit == "idle")
      return make_error(Reason::Timeout,
                        cat(target_.authority, " fell silent in the middle of its answer for ",
                            request_.idle_timeout.count(), " ms."),
                        details);
    const auto time = limit == "connect"      ? request_.connect_timeout
                      : limit == "first_byte" ? request_.first_byte_timeout
                                              : request_.timeout;
    return make_error(Reason::Timeout,
                      cat(target_.authority, " did not answer within ", time.count(), " ms."),
                      details);
  }
  Error no_connection(const std::string& why) const {
    return make_error(Reason::Unavailable,
                      cat("No connection to ", target_.authority,
                          proxy_.host.empty() ? "" : " through the proxy", ": ", why, "."),
                      {{"cause", "connect"}});
  }
  Error lost(const SocketCutter& cutter, const std::string& why) const {
    if (cancel_.is_cancelled()) return cancelled();
    if (const char* limit = cutter.expired()) return timed_out(limit);
    return make_error(Reason::Unavailable,
                      cat("The connection to ", target_.authority, " was lost: ", why, "."),
                      {{"cause", "lost"}});
  }

  /// The look-up cannot be interrupted, so another thread does it and is left behind on cancel or
  /// timeout.
  Result<std::vector<pn::SocketAddress>> addresses() const {
    if (!target_.socket_path.empty())
      return std::vector{pn::SocketAddress(pn::SocketAddress::UNIX_LOCAL, target_.socket_path)};
    const auto& host = proxy_.host.empty() ? target_.host : proxy_.host;
    const auto port = proxy_.host.empty() ? target_.port : proxy_.port;
    if (pn::IPAddress literal; pn::IPAddress::tryParse(host, literal))
      return std::vector{pn::SocketAddress(literal, port)};
    struct Lookup {
      std::mutex mutex;
      std::condition_variable done;
      std::optional<std::vector<pn::IPAddress>> found;
    };
    const auto lookup = std::make_shared<Lookup>();  // shared: the thread may end after us
    std::thread([lookup, host] {
      std::vector<pn::IPAddress> found;
      try {
        found = pn::DNS::hostByName(host).addresses();
      } catch (const Poco::Exception&) {  // an empty list says it
      }
      const std::scoped_lock lock(lookup->mutex);
      lookup->found = std::move(found);
      lookup->done.notify_one();
    }).detach();
    const auto limit = connect_limit();
    std::unique_lock lock(lookup->mutex);
    while (!lookup->found) {
      if (cancel_.is_cancelled()) return cancelled();
      if (std::chrono::steady_clock::now() >= limit) return timed_out(connect_limit_name());
      lookup->done.wait_for(lock, kConnectSlice);
    }
    std::vector<pn::SocketAddress> all;
    for (const auto& address : *lookup->found) {
      const pn::SocketAddress whole(address, port);
      if (std::find(all.begin(), all.end(), whole) == all.end()) all.push_back(whole);
    }
    if (all.empty()) return no_connection("the name is not known");
    return all;
  }

  SteadyTime connect_limit() const {
    const auto limit = std::chrono::steady_clock::now() + request_.connect_timeout;
    return deadline_ ? std::min(limit, *deadline_) : limit;
  }
  const char* connect_limit_name() const {
    const bool whole_is_shorter =
        request_.timeout.count() > 0 && request_.timeout <= request_.connect_timeout;
    return whole_is_shorter ? "whole" : "connect";
  }

  Result<pn::StreamSocket> connect() const {
    const auto limit = connect_limit();
    const auto all = INDX_TRY(addresses());
    Error last;
    for (const auto& address : all) {
      try {
        auto attempt = connect_to(address, limit);
        if (attempt) return attempt;
        last = attempt.error();
      } catch (const Poco::Exception& failure) {
        last = no_connection(failure.name());
      }
      if (last.reason != Reason::Unavailable) break;
    }
    return last;
  }

  Result<pn::StreamSocket> connect_to(const pn::SocketAddress& address, SteadyTime limit) const {
    pn::StreamSocket socket;
    socket.connectNB(address);
    const Poco::Timespan slice(0, std::chrono::microseconds(kConnectSlice).count());
    while (!socket.poll(slice, pn::Socket::SELECT_WRITE | pn::Socket::SELECT_ERROR)) {
      if (cancel_.is_cancelled()) return cancelled();
      if (std::chrono::steady_clock::now() >= limit) return timed_out(connect_limit_name());
    }
    if (socket.impl()->socketError() != 0) return no_connection("the server refuses it");
    socket.setBlocking(true);
    if (target_.socket_path.empty()) socket.setNoDelay(true);
    return socket;
  }

  Result<HttpClientResponse> talk(pn::StreamSocket socket, SocketCutter& cutter,
                                  std::size_t max_bytes, const OnData& on_data,
                                  const OnHead& on_head) const {
    cutter.expect_within(request_.connect_timeout, "connect");
    if (target_.is_tls) {
      if (!proxy_.host.empty()) INDX_TRY(open_tunnel(socket, cutter));
      try {
        socket = pn::SecureStreamSocket::attach(socket, target_.host, tls_context());
      } catch (const Poco::Exception& failure) {
        return cutter.timed_out() || cancel_.is_cancelled()
                   ? lost(cutter, "")
                   : no_connection(cat("TLS: ", failure.name()));
      }
    }
    RawSession session(socket);
    session.setTimeout(Poco::Timespan(0));  // the cutter alone ends a wait
    socket.setReceiveTimeout(Poco::Timespan(0));
    socket.setSendTimeout(Poco::Timespan(0));
    cutter.expect_within({}, "whole");
    send(session);
    cutter.expect_within(request_.first_byte_timeout, "first_byte");
    pn::HTTPResponse head;
    HttpClientResponse response;
    do {
      const auto text = read_head(session, cutter);
      if (!text) return lost(cutter, "the answer ended early");
      std::istringstream in(*text);
      head.clear();
      head.read(in);
      response.status = status_in(*text);
    } while (response.status / 100 == 1);

    for (const auto& [name, value] : head) {
      auto& slot = response.headers[to_lower(replace_invalid_utf8(name))];
      slot += slot.empty() ? value : ", " + value;
    }
    if (on_head) on_head(response);
    cutter.expect_within(request_.idle_timeout, "idle");
    const OnData on_piece = [&](std::string_view piece) {
      cutter.expect_within({}, "whole");  // the time that our side takes is not the peer's
      const bool goes_on = on_data(piece);
      cutter.expect_within(request_.idle_timeout, "idle");
      return goes_on;
    };
    BodyReader reader(session, max_bytes, request_.idle_timeout.count() > 0 ? on_piece : on_data);
    switch (read_body(head, response.status, reader)) {
      case BodyEnd::Whole:
        if (!cancel_.is_cancelled() && !cutter.timed_out()) return response;
        return lost(cutter, "");
      case BodyEnd::Stopped:
        return response;
      case BodyEnd::Cut:
        return lost(cutter, "the answer ended early");
      case BodyEnd::Malformed:
        return lost(cutter, "the answer is malformed");
      case BodyEnd::TooLarge:
        return make_error(Reason::TooLarge, cat("The answer of ", target_.authority,
                                                " is larger than ", max_bytes, " bytes."));
    }
    return lost(cutter, "");
  }

  /// Asks the proxy for a way to the server, through which TLS goes unseen.
  Status open_tunnel(pn::StreamSocket& socket, const SocketCutter& cutter) const {
    const auto address = cat(
        target_.host.find(':') == std::string::npos ? target_.host : cat('[', target_.host, ']'),
        ':', target_.port);
    auto request = cat("CONNECT ", address, " HTTP/1.1\r\nHost: ", address, "\r\n");
    if (!proxy_.credentials.empty())
      request += cat("Proxy-Authorization: ", proxy_.credentials, "\r\n");
    request += "\r\n";
    socket.setReceiveTimeout(Poco::Timespan(0));
    socket.setSendTimeout(Poco::Timespan(0));
    socket.sendBytes(request.data(), static_cast<int>(request.size()));
    std::string head;  // read byte by byte: what follows belongs to TLS
    for (char c = 0; !head.ends_with("\r\n\r\n"); head += c)
      if (head.size() >= kMaxHeadBytes || socket.receiveBytes(&c, 1) != 1)
        return cancel_.is_cancelled() || cutter.timed_out()
                   ? lost(cutter, "")
                   : no_connection("the proxy closed the connection");
    const auto status = head.substr(0, head.find('\r'));
    if (status.starts_with("HTTP/1.") && status.size() > 11 && status[9] == '2') return {};
    return no_connection(cat("the proxy refuses it with status ",
                             status.size() > 11 ? status.substr(9, 3) : "unknown"));
  }

  void send(RawSession& session) const {
    const bool is_by_proxy = !proxy_.host.empty() && !target_.is_tls;
    const auto line = is_by_proxy ? cat("http://", target_.authority, target_.path_and_query)
                                  : target_.path_and_query;
    pn::HTTPRequest head(request_.method, line, pn::HTTPMessage::HTTP_1_1);
    head.setHost(target_.authority);
    if (is_by_proxy && !proxy_.credentials.empty())
      head.set("Proxy-Authorization", proxy_.credentials);
    for (const auto& [name, value] : request_.headers) head.set(name, value);
    session.setKeepAlive(false);
    head.setKeepAlive(false);
    const bool has_body = !request_.body.empty() || request_.method == "POST" ||
                          request_.method == "PUT" || request_.method == "PATCH";
    const auto size = request_.body_file ? request_.body_file->size() : request_.body.size();
    if (has_body) head.setContentLength64(static_cast<Poco::Int64>(size));
    auto& out = session.sendRequest(head);
    out.write(request_.body.data(), static_cast<std::streamsize>(request_.body.size()));
    for (std::uint64_t at = 0; request_.body_file && at < size && out.good();) {
      const auto block = request_.body_file->read(at, 1U << 18U);
      if (!block || block->empty()) break;  // shorter than said: the server will refuse it
      out.write(block->data(), static_cast<std::streamsize>(block->size()));
      at += block->size();
    }
    out.flush();  // a failure shows when the answer is read: the server may have answered before it
                  // closed
  }

  /// Poco takes a head that was cut for a whole one, so the end is looked for here.
  std::optional<std::string> read_head(RawSession& session, SocketCutter& cutter) const {
    std::string text;
    for (char c = 0; text.size() < kMaxHeadBytes && session.read_some(&c, 1) == 1;) {
      if (text.empty()) cutter.expect_within(request_.idle_timeout, "idle");
      text += c;
      if (text.ends_with("\r\n\r\n") || text.ends_with("\n\n")) return text;
    }
    return std::nullopt;
  }

  BodyEnd read_body(const pn::HTTPResponse& head, int status, BodyReader& reader) const {
    if (request_.method == "HEAD" || status == 204 || status == 304) return BodyEnd::Whole;
    if (head.getChunkedTransferEncoding()) return reader.read_chunks();
    if (!head.hasContentLength()) return reader.read_to_close();
    const auto length = head.getContentLength64();
    return length < 0 ? BodyEnd::Malformed : reader.read_length(static_cast<std::uint64_t>(length));
  }

  const HttpClientRequest& request_;
  HttpTarget target_;
  ProxyHop proxy_;
  const CancelToken& cancel_;
  std::optional<SteadyTime> deadline_;
};

Result<HttpClientResponse> exchange(const HttpClientRequest& request, const CancelToken& cancel,
                                    std::size_t max_bytes, const OnData& on_data,
                                    const OnHead& on_head = {}) {
  static const auto previous =
      std::signal(SIGPIPE, SIG_IGN);  // a peer that closes is an error, not the end of the process
  static_cast<void>(previous);
  auto target = INDX_TRY(parse_http_url(request.url));
  auto proxy = INDX_TRY(parse_proxy_url(request.proxy));
  INDX_TRY(check_request(request));
  if (cancel.is_cancelled())
    return make_error(Reason::Cancelled, cat("The call to ", target.authority, " was cancelled."));
  return Exchange(request, std::move(target), std::move(proxy), cancel)
      .run(max_bytes, on_data, on_head);
}

}  // namespace

Result<HttpClientResponse> http_exchange(const HttpClientRequest& request,
                                         const CancelToken& cancel) {
  std::string body;
  auto response =
      INDX_TRY(exchange(request, cancel, request.max_response_bytes, [&](std::string_view piece) {
        body += piece;
        return true;
      }));
  response.body = std::move(body);
  return response;
}

Result<HttpClientResponse> http_stream(const HttpClientRequest& request, const CancelToken& cancel,
                                       const OnData& on_data, const OnHead& on_head) {
  return exchange(request, cancel, std::numeric_limits<std::size_t>::max(), on_data, on_head);
}

}  // namespace indx
