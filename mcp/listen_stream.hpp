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
  /// The server ends it: the final result.
  void finish() const;

 private:
  Json marked(std::string_view method, Json params) const;

  const McpPeer peer_;
  const std::shared_ptr<OpenCall> call_;  // shared with the transport
  std::mutex mutex_;
  bool is_acknowledged_ = false;
  std::vector<Json> early_;
};

/// What else a stream may tell of, such as tasks. Looks at the wishes of the client (an object),
/// adds to `honoured` those that it takes over, and gives what has to live as long as the stream;
/// null: nothing.
using ListenPart = std::function<std::shared_ptr<void>(const std::shared_ptr<ListenStream>& stream,
                                                       const Json& wishes, Json& honoured)>;

}  // namespace indx
