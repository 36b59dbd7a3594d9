#pragma once
#include "http/router.hpp"
#include "mcp/protocol.hpp"
#include "mcp/session.hpp"

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace indx {

/// Messages as server-sent events, which outlive the connection that carries them: those that are
/// kept can be fetched on another one. Event ids are `STREAM-NUMBER`. Thread-safe.
class SseStream : public std::enable_shared_from_this<SseStream> {
 public:
  SseStream(std::string id, const Protocol& protocol) : id_(std::move(id)), protocol_(protocol) {}

  /// Sends to this connection from now on, and ends the one before. First come the kept events
  /// after event `after`; nullopt: those that no connection has taken yet.
  void connect(const Responder& responder, std::optional<std::size_t> after = {});
  void send(const Json& message);
  /// No more events. Those not yet read stay available.
  void finish();

  const std::string& id() const { return id_; }
  bool is_finished() const;
  bool is_connected() const;
  /// Whether a client that saw event `after` can get more; false also where it cannot have seen it.
  bool goes_on_after(std::size_t after) const;
  std::size_t kept_bytes() const;

 private:
  struct Event {
    std::size_t number;
    std::shared_ptr<const std::string> frame;  // shared with the connection
  };
  std::string opening();
  void forget(std::size_t count);
  void leave(std::uint64_t connection);

  const std::string id_;
  const Protocol& protocol_;
  mutable std::mutex mutex_;
  std::shared_ptr<ResponseStream> connection_;  // shared with the HTTP front
  std::uint64_t connections_ = 0;               // so far
  std::deque<Event> events_;
  std::size_t kept_bytes_ = 0, next_number_ = 0, first_untaken_ = 0;
  bool is_finished_ = false;
};

/// The streams of one session: one for each request that has one, and a standing one for what
/// belongs to no request. Thread-safe.
class SseStreams : public McpChannel {
 public:
  explicit SseStreams(const Protocol& protocol) : protocol_(protocol) {}

  /// A new stream for the messages about a request.
  std::shared_ptr<SseStream> open();
  /// The newest connection gets the standing stream.
  void listen(const Responder& responder);
  struct Position {
    std::shared_ptr<SseStream> stream;
    std::size_t after = 0;
  };
  /// Where `Last-Event-ID` points; nullopt: nowhere, or to the end.
  std::optional<Position> find(const std::string& event_id) const;
  /// Forgets what was over at the sweep before: its client has had the time between to fetch it.
  void sweep();

  void send(const Json& notification) override;
  bool is_open() const override;
  void close() override;

 private:
  std::shared_ptr<SseStream> standing();
  void drop_finished();

  const Protocol& protocol_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<SseStream>> streams_;  // shared with replies in work
  std::shared_ptr<SseStream> standing_;              // one of them
  std::set<std::string> over_;                       // ids of those that a sweep found finished
  std::size_t opened_ = 0;
  bool is_closed_ = false;
};

/// Status, type and headers of an event stream.
HttpResponse sse_head(std::string first_frame);
/// One event without an id.
std::string sse_frame(const Json& message);

}  // namespace indx
