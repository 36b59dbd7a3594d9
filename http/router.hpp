#pragma once
#include "base/file_bytes.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace indx {

/// One request, whole: the body was read under the rules of the front.
struct HttpRequest {
  std::string method;
  std::string path;  ///< raw, percent-encoded, without the query
  std::vector<std::pair<std::string, std::string>> query;  ///< decoded, in order
  std::map<std::string, std::string>
      headers;  ///< names in lower case; repeated ones joined by ", "
  std::string body;
  std::shared_ptr<FileBytes> body_file;  ///< instead of `body`, where a BodyPlan says so
  std::string remote;                    ///< address of the client
  bool is_http_1_0 = false;              ///< its sender knows no chunks
  bool is_local_socket = false;          ///< came over `.indx/socket`
  bool is_loopback_listener = false;     ///< came to a listener that only this machine reaches
  /// Further names of this server, in lower case; null: it has none.
  std::shared_ptr<const std::vector<std::string>> public_names;
  RequestId id;

  std::string header(const std::string& lower_case_name) const;
  std::optional<std::string> query_value(const std::string& name) const;
};

struct HttpResponse {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  /// After `body`, in order: each its text, then that range of `file`.
  struct Part {
    std::string text;
    std::uint64_t begin = 0, size = 0;
  };
  std::vector<Part> parts = {};
  std::shared_ptr<const FileBytes> file = {};  ///< shared: with whoever answers

  std::uint64_t body_size() const;
};

/// An answer that is written piece by piece (SSE, NDJSON). Thread-safe; writing never blocks.
/// Frames over the buffer limit end the connection.
class ResponseStream {
 public:
  virtual ~ResponseStream() = default;
  /// False: the client is gone.
  virtual bool write(std::string frame) = 0;
  /// The same for a frame that many streams share.
  virtual bool write_shared(std::shared_ptr<const std::string> frame) { return write(*frame); }
  /// Runs once, on the stream thread, when all that was written so far is sent; never when the
  /// client is gone. For who has more to say than fits into a buffer.
  virtual void when_drained(std::function<void()> callback) = 0;
  virtual void close() = 0;
};

/// The one answer of one request; copies share it. Thread-safe. `send` or `begin_stream`, once; the
/// handler may return before: the socket then waits on the stream thread, not on a worker (G9).
class Responder {
 public:
  class Target {
   public:
    virtual ~Target() = default;
    virtual void send(HttpResponse response) = 0;
    virtual std::shared_ptr<ResponseStream> begin_stream(HttpResponse head) = 0;
    virtual void on_disconnect(std::function<void()> callback) = 0;
    virtual void set_route(const std::string& /*pattern*/) {}
  };
  explicit Responder(std::shared_ptr<Target> target) : target_(std::move(target)) {}

  void send(HttpResponse response) const { target_->send(std::move(response)); }
  /// `head.body` is the first frame. Adds `Connection: close`.
  std::shared_ptr<ResponseStream> begin_stream(HttpResponse head) const {
    return target_->begin_stream(std::move(head));
  }
  /// Runs once, on the stream thread, when the client leaves before the answer is complete.
  void on_disconnect(std::function<void()> callback) const {
    target_->on_disconnect(std::move(callback));
  }
  /// The pattern that the request fits, by which it is counted. Before it is answered.
  void set_route(const std::string& pattern) const { target_->set_route(pattern); }

 private:
  std::shared_ptr<Target> target_;  // shared: the worker and whoever answers later
};

/// How the body of a request is taken in; decided when its head is there.
struct BodyPlan {
  std::uint64_t max_bytes = 0;
  std::shared_ptr<FileBytes> file;      ///< null: in memory
  std::optional<HttpResponse> refusal;  ///< the body is not wanted at all
};
using PlanBody = std::function<BodyPlan(const HttpRequest& head)>;

using HttpHandler = std::function<void(const HttpRequest&, Responder)>;

/// A segment of a pattern: text that must stand there, or the name of what takes one or more.
struct RoutePart {
  enum class Takes { Literal, One, Segments };
  std::string text;
  Takes takes = Takes::Literal;
};

/// Method and pattern → handler. A capture matches one segment; `{path}`, `{from}`, `{to}` and
/// `{tag}` match one or more. The most specific pattern wins: a literal beats a capture, one
/// segment beats many. Captures are decoded once, segment by segment; a `%2F` that does not begin a
/// path stays inside its segment, which no file has: 404.
class Router {
 public:
  using RouteHandler = std::function<void(
      const HttpRequest&, const std::map<std::string, std::string>& captures, Responder)>;
  void add(const std::string& method, const std::string& pattern, RouteHandler handler);
  /// Whether the request leads to one of these routes, each as `PUT /v1/files/{path}`.
  bool leads_to(const HttpRequest& request, const std::set<std::string>& patterns) const;
  /// 404 for an unknown path, 405 with Allow for a known path and another method; HEAD falls back
  /// to GET.
  void handle(const HttpRequest& request, Responder responder) const;

 private:
  struct Entry {
    std::string method;
    std::string text;  ///< the pattern as it was added
    std::vector<RoutePart> pattern;
    RouteHandler handler;
  };
  const Entry* find(const std::string& method, const std::vector<std::string>& path) const;
  std::vector<std::string> methods_for(const std::vector<std::string>& path) const;

  std::vector<Entry> entries_;  ///< the most specific first
};

}  // namespace indx
