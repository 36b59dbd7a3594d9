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
  /// Open subscriptions to the bus.
  std::size_t count() const;

 private:
  class Feed;
  Result<std::shared_ptr<Feed>> open(const std::string& subject);
  /// Closes the feeds that nobody listens to.
  void prune();

  Dispatcher& dispatcher_;
  const std::shared_ptr<Alarm> alarm_;  // shared: with the subscribers
  // Held while the bus is asked, so never taken on its threads.
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Feed>> feeds_;  // by subject; shared: with the bus
};

}  // namespace indx
