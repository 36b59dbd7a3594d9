#pragma once
#include "mcp/alarm.hpp"
#include "mcp/method.hpp"
#include "mcp/resource_watch.hpp"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// Who is told of changed resources: one legacy session, or one subscriptions/listen. Changes are
/// gathered, so that a burst of them is told once. Thread-safe; `tell` runs on any thread.
class ResourceSubscriber : public std::enable_shared_from_this<ResourceSubscriber> {
 public:
  static constexpr std::size_t kMaxWatches = 200;
  /// Of those the ones with a question, each of which may cost a search a second.
  static constexpr std::size_t kMaxQuestions = 20;
  /// Files that one flush names; of more it tells by watch.
  static constexpr std::size_t kMaxUpdates = 50;

  struct Role {
    Principal principal;
    bool hears_of_lists = false;  ///< notifications/resources/list_changed
    std::function<void(std::string_view method, Json params)> tell;
    std::function<void()> on_revoked = {};  ///< the token is no more; the subscriber is closed
  };
  ResourceSubscriber(Role role, Dispatcher& dispatcher, std::shared_ptr<Alarm> alarm,
                     SubscriptionTiming timing);
  ~ResourceSubscriber();
  ResourceSubscriber(const ResourceSubscriber&) = delete;
  ResourceSubscriber& operator=(const ResourceSubscriber&) = delete;

  const Principal& principal() const { return role_.principal; }
  /// Runs when the subscriber is gone. Set before anybody else knows of it.
  void set_on_gone(std::function<void()> on_gone) { on_gone_ = std::move(on_gone); }

  /// Again for the same URI changes nothing. `validation_failed` above the limits.
  Status add(ResourceWatch watch);
  void remove(const std::string& uri);

  /// From the event bus.
  void take(const Event& event);
  void revoke();

 private:
  struct Watched {
    ResourceWatch watch;
    // Of a watch with a question:
    Json known;                       // what is compared; null: not asked yet
    std::vector<std::string> behind;  // files that the answer was made from
    int looks_left = 0;
    bool is_busy = false;   // asking, or resting after it
    bool was_told = false;  // of the change that is looked at
  };

  void flush();
  void tell_list();
  /// Asks the question of a watch, when it is to be asked and the last time is long enough ago.
  void look(const std::string& uri);
  void learn(const std::string& uri, const Answer& answer);
  void end_rest(const std::string& uri);
  void tell_updated(const std::string& uri) const;
  void later(std::chrono::milliseconds delay, std::function<void(ResourceSubscriber&)> act);

  const Role role_;
  Dispatcher& dispatcher_;
  const std::shared_ptr<Alarm> alarm_;  // shared: by all subscribers of a server
  const SubscriptionTiming timing_;
  std::function<void()> on_gone_;

  std::mutex mutex_;
  std::map<std::string, Watched> watched_;  // by URI
  VaultChanges changes_;                    // since the last flush
  bool is_flush_due_ = false, is_list_due_ = false, is_closed_ = false;
};

}  // namespace indx
