#pragma once
#include "mcp/server.hpp"
#include "tests/support/fake_mcp_dispatcher.hpp"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace indx {

/// Messages that came, in order. Safe from any thread.
class McpInbox {
 public:
  void put(Json message) {
    const std::scoped_lock lock(mutex_);
    messages_.push_back(std::move(message));
    changed_.notify_all();
  }
  std::vector<Json> all() const {
    const std::scoped_lock lock(mutex_);
    return messages_;
  }
  /// Waits for this many; false after half a minute (busy machines).
  bool wait_for(std::size_t count) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30),
                             [&] { return messages_.size() >= count; });
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<Json> messages_;
};

/// A reply that keeps what is said; the answer apart from the notifications.
class InboxReply : public McpReply {
 public:
  void notify(const Json& message) override { notifications.put(message); }
  void answer(McpAnswer answer) override { answers.put(std::move(answer.message)); }
  void drop(CancelReason) override {}

  McpInbox notifications, answers;
};

class InboxChannel : public McpChannel {
 public:
  void send(const Json& notification) override { inbox.put(notification); }
  McpInbox inbox;
};

/// One client in front of a server, without a transport.
class McpTestPeer {
 public:
  explicit McpTestPeer(McpServer& server, Principal principal = reader(),
                       std::string_view version = "2025-11-25")
      : server_(server), channel_(std::make_shared<InboxChannel>()) {
    peer_.protocol = find_protocol(version);
    peer_.principal = std::move(principal);
    peer_.session = std::make_shared<McpSession>();
    peer_.session->protocol = peer_.protocol;
    peer_.session->channel = channel_;
    peer_.calls = peer_.session->calls;
  }

  static Principal reader() { return FakeMcpDispatcher::principal("reader", {Scope::VaultRead}); }
  static Principal reader_of(std::vector<std::string> globs) {
    Principal made = reader();
    made.path_globs = std::move(globs);
    return made;
  }

  McpPeer& peer() { return peer_; }
  std::shared_ptr<InboxReply> send(const std::string& method, Json params, const Json& id = 1) {
    auto reply = std::make_shared<InboxReply>();
    RpcMessage message;
    message.id = id;
    message.method = method;
    message.params = std::move(params);
    server_.request(peer_, message, reply);
    return reply;
  }
  /// The answer, which must come.
  Json request(const std::string& method, Json params = Json::object()) {
    const auto reply = send(method, std::move(params));
    return reply->answers.wait_for(1) ? reply->answers.all()[0] : Json();
  }
  void notify(const std::string& method, Json params = Json::object()) {
    RpcMessage message;
    message.kind = RpcMessage::Kind::Notification;
    message.method = method;
    message.params = std::move(params);
    server_.notification(peer_, message);
  }
  /// What came on the channel of the session.
  const McpInbox& inbox() const { return channel_->inbox; }

 private:
  McpServer& server_;
  const std::shared_ptr<InboxChannel> channel_;  // shared with the session
  McpPeer peer_;
};

}  // namespace indx
