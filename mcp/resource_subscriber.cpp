#include "mcp/resource_subscriber.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <utility>

namespace indx {
namespace {

/// A look at once, and one when the index has surely taken the change in.
constexpr int kLooksAfterChange = 2;

}  // namespace

ResourceSubscriber::ResourceSubscriber(Role role, Dispatcher& dispatcher,
                                       std::shared_ptr<Alarm> alarm, SubscriptionTiming timing)
    : role_(std::move(role)), dispatcher_(dispatcher), alarm_(std::move(alarm)), timing_(timing) {}

ResourceSubscriber::~ResourceSubscriber() {
  if (on_gone_) on_gone_();
}

Status ResourceSubscriber::add(ResourceWatch watch) {
  const std::string uri = watch.uri;
  const bool is_question = watch.question.has_value();
  {
    const std::scoped_lock lock(mutex_);
    if (is_closed_ || watched_.contains(uri)) return {};
    const auto questions = static_cast<std::size_t>(
        std::count_if(watched_.begin(), watched_.end(),
                      [](const auto& each) { return each.second.watch.question.has_value(); }));
    if (watched_.size() >= kMaxWatches || (is_question && questions >= kMaxQuestions))
      return invalid(cat("There are ", watched_.size(), " subscriptions already, ", questions,
                         " of them to what has to be asked for; at most ", kMaxWatches, " and ",
                         kMaxQuestions,
                         " are kept. End some, or subscribe to a folder: vault://Folder/**."));
    auto& added = watched_[uri];
    added.watch = std::move(watch);
    added.looks_left = is_question ? 1 : 0;
  }
  if (is_question) look(uri);
  return {};
}

void ResourceSubscriber::remove(const std::string& uri) {
  const std::scoped_lock lock(mutex_);
  watched_.erase(uri);
}

void ResourceSubscriber::take(const Event& event) {
  {
    const std::scoped_lock lock(mutex_);
    if (is_closed_) return;
    changes_.add(event, role_.principal.path_scope());
    if (changes_.empty() || is_flush_due_) return;
    is_flush_due_ = true;
  }
  later(timing_.gather, [](ResourceSubscriber& self) { self.flush(); });
}

void ResourceSubscriber::revoke() {
  {
    const std::scoped_lock lock(mutex_);
    is_closed_ = true;
    watched_.clear();
  }
  if (role_.on_revoked) role_.on_revoked();
}

void ResourceSubscriber::flush() {
  std::vector<ResourceWatch> watches;
  std::vector<std::string> updated, questions;
  bool tells_list = false;
  {
    const std::scoped_lock lock(mutex_);
    is_flush_due_ = false;
    if (is_closed_) return;
    const VaultChanges changes = std::exchange(changes_, {});
    for (auto& [uri, each] : watched_) {
      watches.push_back(each.watch);
      if (!each.watch.question) continue;
      each.looks_left = kLooksAfterChange;
      questions.push_back(uri);
      each.was_told = std::any_of(each.behind.begin(), each.behind.end(),
                                  [&](const auto& path) { return changes.touch(path); });
      if (each.was_told) updated.push_back(uri);
    }
    for (auto& uri : updated_uris(watches, changes, kMaxUpdates)) updated.push_back(std::move(uri));
    tells_list = role_.hears_of_lists && changes.is_list_changed() && !is_list_due_;
    if (tells_list) is_list_due_ = true;
  }
  for (const auto& uri : updated) tell_updated(uri);
  for (const auto& uri : questions)  // apart, so that other deadlines are not held up
    later({}, [uri](ResourceSubscriber& self) { self.look(uri); });
  if (tells_list) later(timing_.rest, [](ResourceSubscriber& self) { self.tell_list(); });
}

void ResourceSubscriber::tell_list() {
  {
    const std::scoped_lock lock(mutex_);
    is_list_due_ = false;
    if (is_closed_) return;
  }
  role_.tell("notifications/resources/list_changed", Json::object());
}

void ResourceSubscriber::look(const std::string& uri) {
  Call call;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = watched_.find(uri);
    if (found == watched_.end() || found->second.is_busy || found->second.looks_left == 0) return;
    Watched& each = found->second;
    call.operation = dispatcher_.registry().find(each.watch.question->operation);
    if (!call.operation) return;
    each.is_busy = true;
    --each.looks_left;
    call.input = each.watch.question->input;
    call.principal = role_.principal;
  }
  dispatcher_.call(std::move(call), [weak = weak_from_this(), uri](const Answer& answer) {
    if (const auto self = weak.lock()) self->learn(uri, answer);
  });
}

void ResourceSubscriber::learn(const std::string& uri, const Answer& answer) {
  bool is_changed = false;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = watched_.find(uri);
    if (found == watched_.end()) return;
    Watched& each = found->second;
    const auto& question = *each.watch.question;
    const bool is_later =
        answer.is_accepted || (!answer.result && answer.result.error().is_retryable());
    const bool is_partial = answer.result && answer.result->value("indexing", false);
    if (is_later || is_partial) each.looks_left = std::max(each.looks_left, 1);
    if (!is_later) {
      Json now = answer.result ? compared_part(question, *answer.result)
                               : Json(answer.result.error().name());
      is_changed = !each.known.is_null() && each.known != now && !each.was_told;
      each.known = std::move(now);
      each.behind =
          answer.result ? paths_behind(question, *answer.result) : std::vector<std::string>();
      each.was_told = false;
    }
  }
  if (is_changed) tell_updated(uri);
  later(timing_.rest, [uri](ResourceSubscriber& self) { self.end_rest(uri); });
}

void ResourceSubscriber::end_rest(const std::string& uri) {
  {
    const std::scoped_lock lock(mutex_);
    const auto found = watched_.find(uri);
    if (found == watched_.end()) return;
    found->second.is_busy = false;
  }
  look(uri);
}

void ResourceSubscriber::tell_updated(const std::string& uri) const {
  role_.tell("notifications/resources/updated", {{"uri", uri}});
}

void ResourceSubscriber::later(std::chrono::milliseconds delay,
                               std::function<void(ResourceSubscriber&)> act) {
  alarm_->after(delay, [weak = weak_from_this(), act = std::move(act)] {
    if (const auto self = weak.lock()) act(*self);
  });
}

}  // namespace indx
