#include "mcp/subscription_feeds.hpp"

#include <utility>
#include <vector>

namespace indx {

/// One subscription to the bus and who hears of it.
class SubscriptionFeeds::Feed {
 public:
  using Listeners = std::vector<std::shared_ptr<ResourceSubscriber>>;

  /// False: the feed is over; open another.
  bool add(const std::shared_ptr<ResourceSubscriber>& listener) {
    const std::scoped_lock lock(mutex_);
    if (!is_over_) listeners_.push_back(listener);
    return !is_over_;
  }

  /// From the bus; false ends the subscription.
  bool take(const Event& event) {
    const bool is_revoked = event.kind == kTokenRevoked;
    Listeners listeners;  // destroyed after the lock
    {
      const std::scoped_lock lock(mutex_);
      listeners = living();
      if (listeners.empty() || is_revoked) is_over_ = true;
    }
    for (const auto& listener : listeners) is_revoked ? listener->revoke() : listener->take(event);
    return !listeners.empty() && !is_revoked;
  }

  /// Whether nobody listens any more; then nobody can be added.
  bool end_if_idle() {
    Listeners listeners;
    const std::scoped_lock lock(mutex_);
    listeners = living();
    if (listeners.empty()) is_over_ = true;
    return is_over_;
  }

 private:
  /// Forgets the others.
  Listeners living() {
    Listeners found;
    std::erase_if(listeners_, [&](const auto& weak) {
      auto listener = weak.lock();
      if (!listener) return true;
      found.push_back(std::move(listener));
      return false;
    });
    return found;
  }

  std::mutex mutex_;
  std::vector<std::weak_ptr<ResourceSubscriber>> listeners_;  // weak: they end with their sessions
  bool is_over_ = false;
};

Status SubscriptionFeeds::join(const std::shared_ptr<ResourceSubscriber>& subscriber) {
  subscriber->set_on_gone([weak = weak_from_this(), alarm = alarm_] {
    alarm->after({}, [weak] {
      if (const auto self = weak.lock()) self->prune();
    });
  });
  const std::string& subject = subscriber->principal().subject;
  const std::scoped_lock lock(mutex_);
  const auto found = feeds_.find(subject);
  if (found != feeds_.end() && found->second.feed->add(subscriber)) return {};
  feeds_[subject] = INDX_TRY(open(subscriber));
  return {};
}

Result<SubscriptionFeeds::OpenFeed> SubscriptionFeeds::open(
    const std::shared_ptr<ResourceSubscriber>& first) {
  EventFilter filter;  // not bound to paths: each subscriber looks at those itself, moves too
  filter.kinds = file_event_kinds();
  filter.subject = first->principal().subject;
  auto feed = std::make_shared<Feed>();
  feed->add(first);  // before the first event: a feed without listeners ends
  auto subscription = INDX_TRY(
      dispatcher_.subscribe(filter, std::nullopt, [weak = std::weak_ptr(feed)](const Event& event) {
        const auto self = weak.lock();
        return self && self->take(event);
      }));
  return OpenFeed{std::move(feed), std::move(subscription)};
}

void SubscriptionFeeds::prune() {
  std::vector<OpenFeed> over;  // closed after the lock
  const std::scoped_lock lock(mutex_);
  for (auto row = feeds_.begin(); row != feeds_.end();) {
    const auto each = row++;
    if (!each->second.feed->end_if_idle()) continue;
    over.push_back(std::move(each->second));
    feeds_.erase(each);
  }
}

void SubscriptionFeeds::stop() {
  std::map<std::string, OpenFeed> feeds;
  const std::scoped_lock lock(mutex_);
  feeds.swap(feeds_);
}

}  // namespace indx
