#pragma once
#include "http/router.hpp"
#include "mcp/protocol.hpp"

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace indx {

/// The messages about one request as server-sent events. They are kept for a while, so that a
/// client that lost its connection can go on where it stopped. Thread-safe.
class SseStream {
 public:
  SseStream(std::string id, const Protocol& protocol) : id_(std::move(id)), protocol_(protocol) {}

  /// Opens the stream on the request's own connection.
  void begin(const Responder& responder);
  /// Goes on on another connection after event `after`; the newest connection takes over.
  void resume(const Responder& responder, std::size_t after);
  void send(const Json& message);
  /// No more events. Those not yet read stay available.
  void finish();

  const std::string& id() const { return id_; }
  bool is_finished() const;
  /// Whether a client that saw event `after` has seen everything.
  bool is_exhausted(std::size_t after) const;

 private:
  struct Event {
    std::size_t number;
    std::string frame;
  };
  const std::string id_;
  const Protocol& protocol_;
  mutable std::mutex mutex_;
  std::shared_ptr<ResponseStream> connection_;  // shared with the HTTP front
  std::deque<Event> events_;
  std::size_t last_number_ = 0;
  bool is_finished_ = false;
};

/// The streams of one session. Thread-safe.
class SseStreams {
 public:
  std::shared_ptr<SseStream> open(const Protocol& protocol);
  struct Position {
    std::shared_ptr<SseStream> stream;
    std::size_t after = 0;
  };
  /// Where `Last-Event-ID` points; nullopt: nowhere, or to the end.
  std::optional<Position> find(const std::string& event_id) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<SseStream>> streams_;  // shared with replies in work
  std::size_t opened_ = 0;
};

/// Status, type and headers of an event stream.
HttpResponse sse_head(std::string first_frame);
/// One event without an id.
std::string sse_frame(const Json& message);

}  // namespace indx
