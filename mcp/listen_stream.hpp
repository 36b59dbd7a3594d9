#pragma once
#include "mcp/session.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace indx {

/// One subscriptions/listen in work: the answer that stays open, on which the client hears what it
/// asked for. Thread-safe.
class ListenStream {
 public:
  ListenStream(McpPeer peer, std::shared_ptr<OpenCall> call)
      : peer_(std::move(peer)), call_(std::move(call)) {}

  const McpPeer& peer() const { return peer_; }
  const OpenCall& call() const { return *call_; }

  /// A notification, marked with the id of the subscription. What is told before the
  /// acknowledgement follows it.
  void tell(std::string_view method, Json params);
  /// The first message: the part of the wishes that is honoured.
  void acknowledge(Json honoured);
  /// The server ends it: the final result, on stdio behind notifications/cancelled.
  void finish() const;

 private:
  Json marked(std::string_view method, Json params) const;

  const McpPeer peer_;
  const std::shared_ptr<OpenCall> call_;  // shared with the transport
  std::mutex mutex_;
  bool is_acknowledged_ = false;
  std::vector<Json> early_;
};

/// The part of the wishes that is honoured. What looks into a wish holds on to this; once the last
/// has let it go, the stream acknowledges. Thread-safe.
class Honoured {
 public:
  explicit Honoured(std::shared_ptr<ListenStream> stream) : stream_(std::move(stream)) {}
  ~Honoured() { stream_->acknowledge(std::move(wishes_)); }
  Honoured(const Honoured&) = delete;
  Honoured& operator=(const Honoured&) = delete;

  void set(const char* kind, Json value);
  /// To the list of this kind.
  void add(const char* kind, Json value);

 private:
  const std::shared_ptr<ListenStream> stream_;  // shared with what tells of changes
  std::mutex mutex_;
  Json wishes_ = Json::object();
};

/// What else a stream may tell of, such as tasks. Looks at the wishes of the client (an object) and
/// adds to `honoured`, now or later, those that it takes over.
using ListenPart =
    std::function<void(const std::shared_ptr<ListenStream>& stream, const Json& wishes,
                       const std::shared_ptr<Honoured>& honoured)>;

}  // namespace indx
