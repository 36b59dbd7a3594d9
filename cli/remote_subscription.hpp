#pragma once
#include "cli/remote_wire.hpp"
#include "ops/dispatch.hpp"

#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace indx {

/// One stream of /v1/events on a thread of its own; comes back after a lost connection.
class RemoteSubscription : public Subscription {
 public:
  RemoteSubscription(std::shared_ptr<RemoteWire> wire, std::string target,
                     std::optional<std::string> last_id, std::function<bool(const Event&)> sink)
      : wire_(std::move(wire)),
        target_(std::move(target)),
        last_id_(std::move(last_id)),
        sink_(std::move(sink)) {}
  ~RemoteSubscription() override;

  /// Returns when the stream is open, so that nothing that happens later is missed.
  Status open();

 private:
  void run(std::promise<Status> opened);
  bool take(const SseFrame& frame);
  void pause();

  const std::shared_ptr<RemoteWire> wire_;  // shared with the dispatcher
  const std::string target_;
  std::optional<std::string> last_id_;
  const std::function<bool(const Event&)> sink_;
  CancelToken cancel_;
  std::mutex mutex_;
  std::condition_variable woken_;
  bool is_ended_ = false;
  std::thread thread_;
};

}  // namespace indx
