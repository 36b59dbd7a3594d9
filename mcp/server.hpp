#pragma once
#include "mcp/completion.hpp"
#include "mcp/method.hpp"
#include "mcp/prompt_methods.hpp"
#include "mcp/resource_methods.hpp"
#include "mcp/subscription_methods.hpp"
#include "mcp/task_methods.hpp"
#include "mcp/tool_methods.hpp"

#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace indx {

/// Turns JSON-RPC messages into calls of the dispatcher. Transports move bytes. Thread-safe; never
/// blocks.
class McpServer {
 public:
  McpServer(Dispatcher& dispatcher, const McpOptions& options);
  ~McpServer() {
    follower_->stop();
    subscriptions_.stop();
  }
  McpServer(const McpServer&) = delete;
  McpServer& operator=(const McpServer&) = delete;

  /// The legacy handshake; `protocol` is null when it failed.
  struct Handshake {
    McpAnswer answer;
    const Protocol* protocol = nullptr;
    Json client_capabilities;
  };
  Handshake initialize(const RpcMessage& message) const;

  /// Answers every request but the legacy initialize, now or later, under the protocol of the peer.
  std::shared_ptr<OpenCall> request(const McpPeer& peer, const RpcMessage& message,
                                    std::shared_ptr<McpReply> reply);
  /// Ends a call that nobody wants any more, and the job behind it.
  void cancel(const McpPeer& peer, const std::shared_ptr<OpenCall>& call);
  void notification(const McpPeer& peer, const RpcMessage& message);
  /// What the peer says to a question of ours.
  void response(const McpPeer& peer, const RpcMessage& message);
  /// Ends the requests that stay open to be told things, with their result.
  void end_listening() { subscriptions_.end_listening(); }

  const Clock& clock() const { return services_.clock; }
  Random& random() const { return services_.random; }
  Deadlines& deadlines() { return deadlines_; }
  const McpOptions& options() const { return options_; }

 private:
  using MethodKey = std::pair<Era, std::string_view>;

  void add(const std::vector<McpMethod>& methods);
  void run(const McpRequest& request) const;

  const McpOptions options_;
  const McpServices services_;
  const std::shared_ptr<JobFollower> follower_;  // shared: with calls that became tasks
  TaskMethods tasks_;
  ToolMethods tools_;
  ResourceMethods resources_;
  SubscriptionMethods subscriptions_;
  PromptMethods prompts_;
  CompletionMethods completions_;
  std::map<MethodKey, McpMethod> methods_;
  Deadlines deadlines_;  // last: what is due uses the members above
};

}  // namespace indx
