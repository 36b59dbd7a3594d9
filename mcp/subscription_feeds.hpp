#pragma once
#include "mcp/resource_subscriber.hpp"
#include "ops/dispatch.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace indx {

/// The subscribers of a server on the event bus: one subscription for all of a subject, so that the
/// bus can end it with the token. It is open while somebody listens. Thread-safe.
class SubscriptionFeeds : public std::enable_shared_from_this<SubscriptionFeeds> {
 public:
  SubscriptionFeeds(Dispatcher& dispatcher, std::shared_ptr<Alarm> alarm)
      : dispatcher_(dispatcher), alarm_(std::move(alarm)) {}

  /// From now on the subscriber hears of events, as long as somebody else holds it.
  Status join(const std::shared_ptr<ResourceSubscriber>& subscriber);
  void stop();

 private:
  class Feed;
  struct OpenFeed {
    std::shared_ptr<Feed> feed;                  // shared: with the sink on the bus
    std::unique_ptr<Subscription> subscription;  // apart, so that it never ends in its own sink
  };
  Result<OpenFeed> open(const std::shared_ptr<ResourceSubscriber>& first);
  /// Closes the feeds that nobody listens to.
  void prune();

  Dispatcher& dispatcher_;
  const std::shared_ptr<Alarm> alarm_;  // shared: with the subscribers
  // Held while the bus is asked, so never taken on its threads.
  std::mutex mutex_;
  std::map<std::string, OpenFeed> feeds_;  // by subject
};

}  // namespace indx
