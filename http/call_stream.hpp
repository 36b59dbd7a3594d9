#pragma once
#include "http/event_stream.hpp"
#include "http/router.hpp"
#include "ops/dispatch.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace indx {

/// The events of one call as server-sent events, ended by `complete` or `error`, with `ai.` in
/// front where the operation says so. A call that fails before anything was sent is answered with
/// its status instead. A client gets the next events when it has taken those before, so a slow one
/// loses nothing and costs the memory of one answer; one that takes nothing is ended by the server.
/// Thread-safe.
class CallStream : public std::enable_shared_from_this<CallStream> {
 public:
  /// `whole` makes the answer that is no stream.
  CallStream(Responder responder, const Operation& operation, RequestId id, Dispatcher& dispatcher,
             std::function<HttpResponse(const Answer&)> whole)
      : responder_(std::move(responder)),
        prefix_(operation.stream_prefix()),
        id_(std::move(id)),
        epoch_(dispatcher.event_epoch()),
        count_(dispatcher.metrics()),
        whole_(std::move(whole)) {}

  void take(const Event& event);
  void finish(const Answer& answer);
  /// The call goes on elsewhere: the client gets the head and heartbeats.
  void settle();

 private:
  void open();
  void put(std::string frame);
  void send();

  const Responder responder_;
  const std::string prefix_;
  const RequestId id_;
  const std::string epoch_;
  const OpenStream count_;
  const std::function<HttpResponse(const Answer&)> whole_;

  std::mutex mutex_;  ///< guards what follows
  std::shared_ptr<ResponseStream> stream_;
  std::deque<std::string> frames_;  ///< for when the client has taken what was sent
  bool is_sending_ = false, is_over_ = false;
};

}  // namespace indx
