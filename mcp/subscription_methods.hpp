#pragma once
#include "mcp/listen_stream.hpp"
#include "mcp/method.hpp"
#include "mcp/subscription_feeds.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace indx {

/// The methods resources/subscribe and resources/unsubscribe (legacy) and subscriptions/listen
/// (modern). Thread-safe.
class SubscriptionMethods {
 public:
  explicit SubscriptionMethods(const McpServices& services);
  ~SubscriptionMethods() { stop(); }
  std::vector<McpMethod> methods();

  /// A client is ready: a legacy session with a channel hears of changed lists from now on.
  void welcome(const McpPeer& peer);
  /// To be called before the first request.
  void add_part(ListenPart part) { parts_.push_back(std::move(part)); }
  /// Gives every subscriptions/listen its final result.
  void end_listening();
  /// Nobody hears of anything any more. Before the deadlines end.
  void stop();

 private:
  void subscribe(const McpRequest& request);
  void unsubscribe(const McpRequest& request);
  /// The subscriber of a session with a channel; made when there is none yet.
  Result<std::shared_ptr<ResourceSubscriber>> subscriber_of(const McpPeer& peer);
  Result<ResourceWatch> watch_of(const McpPeer& peer, const std::string& uri) const;

  struct Listener {
    std::shared_ptr<ListenStream> stream;
    std::shared_ptr<ResourceSubscriber> subscriber;
    CancelToken::Registration on_leave;
  };
  void listen(const McpRequest& request);
  /// Subscribes to what is wished for and adds it to `honoured`.
  Status follow_resources(Listener& listener, const Json& wishes, Honoured& honoured);
  /// Until the client leaves; false: there are too many.
  bool keep(Listener listener);
  void forget(const OpenCall* call);

  const McpServices services_;
  const std::shared_ptr<Alarm> alarm_;              // shared: with the subscribers
  const std::shared_ptr<SubscriptionFeeds> feeds_;  // shared: with what prunes them
  std::vector<ListenPart> parts_;
  std::mutex session_mutex_;  // for McpSession::subscriptions
  std::mutex mutex_;
  std::map<const OpenCall*, Listener> listeners_;
};

}  // namespace indx
