#include "mcp/subscription_methods.hpp"

#include "base/text.hpp"
#include "mcp/operation_call.hpp"
#include "mcp/resource_methods.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace indx {
namespace {

constexpr std::size_t kMaxListeners = 1000, kMaxListenersOfOne = 200;
constexpr const char *kResources = "resourceSubscriptions", *kLists = "resourcesListChanged";

Error no_channel() {
  return make_error(Reason::Unavailable,
                    "Updates need a stream to come on: open GET /mcp in this session first.");
}

}  // namespace

SubscriptionMethods::SubscriptionMethods(const McpServices& services)
    : services_(services),
      alarm_(std::make_shared<Alarm>(services.deadlines)),
      feeds_(std::make_shared<SubscriptionFeeds>(services.dispatcher, alarm_)) {}

std::vector<McpMethod> SubscriptionMethods::methods() {
  return {{.name = "resources/subscribe",
           .is_modern = false,
           .run = [this](const McpRequest& request) { subscribe(request); }},
          {.name = "resources/unsubscribe",
           .is_modern = false,
           .run = [this](const McpRequest& request) { unsubscribe(request); }},
          {.name = "subscriptions/listen",
           .is_legacy = false,
           .run = [this](const McpRequest& request) { listen(request); }}};
}

Result<ResourceWatch> SubscriptionMethods::watch_of(const McpPeer& peer,
                                                    const std::string& uri) const {
  return make_watch(uri, services_.dispatcher.registry(), peer.principal,
                    services_.dispatcher.ai_roles());
}

Result<std::shared_ptr<ResourceSubscriber>> SubscriptionMethods::subscriber_of(
    const McpPeer& peer) {
  if (!peer.session || !peer.session->channel) return no_channel();
  const std::scoped_lock lock(session_mutex_);
  auto& kept = peer.session->subscriptions;
  if (kept) return kept;
  ResourceSubscriber::Role role;
  role.principal = peer.principal;
  role.hears_of_lists = true;
  role.tell = [weak = std::weak_ptr(peer.session)](std::string_view method, Json params) {
    const auto session = weak.lock();
    if (session && session->channel)
      session->channel->send(rpc_notification(method, std::move(params)));
  };
  role.on_revoked = [weak = std::weak_ptr(peer.session)] {
    const auto session = weak.lock();
    if (session && session->channel) session->channel->close();
  };
  auto made = std::make_shared<ResourceSubscriber>(std::move(role), services_.dispatcher, alarm_,
                                                   services_.options.subscriptions);
  INDX_TRY(feeds_->join(made));
  return kept = std::move(made);
}

void SubscriptionMethods::welcome(const McpPeer& peer) {
  if (!peer.protocol || !peer.principal.has(Scope::VaultRead)) return;
  (void)subscriber_of(peer);  // who cannot be told of lists can do without
}

void SubscriptionMethods::subscribe(const McpRequest& request) {
  const auto uri = string_member(request.message.params, "uri");
  if (!uri)
    return request.call->answer_fault(kRpcInvalidParams,
                                      "params.uri must be the URI of a resource.");
  if (!operation_behind(services_, request, "note_list")) return;
  auto watch = watch_of(request.peer, *uri);
  if (!watch) return answer_resource_error(request, watch.error(), *uri);
  const auto subscriber = subscriber_of(request.peer);
  if (!subscriber) return answer_resource_error(request, subscriber.error(), *uri);
  if (const Status added = (*subscriber)->add(std::move(*watch)); !added)
    return answer_resource_error(request, added.error(), *uri);
  request.call->answer_result(Json::object());
}

void SubscriptionMethods::unsubscribe(const McpRequest& request) {
  const auto uri = string_member(request.message.params, "uri");
  if (!uri)
    return request.call->answer_fault(kRpcInvalidParams,
                                      "params.uri must be the URI of a resource.");
  if (const auto& session = request.peer.session) {
    const std::scoped_lock lock(session_mutex_);
    if (session->subscriptions) session->subscriptions->remove(*uri);
  }
  request.call->answer_result(Json::object());
}

void SubscriptionMethods::listen(const McpRequest& request) {
  const Json* wishes = member(request.message.params, "notifications");
  if (!wishes || !wishes->is_object())
    return request.call->answer_fault(
        kRpcInvalidParams, "params.notifications must be an object that says what to hear of.");
  if (!request.call->can_notify())
    return request.call->answer_fault(
        kRpcInvalidParams, "Notifications come as events: Accept must allow text/event-stream.");
  Listener listener;
  listener.stream = std::make_shared<ListenStream>(request.peer, request.call);
  // Shared with the parts that first have to look. A call that has ended acknowledges nothing.
  const auto honoured = std::make_shared<Honoured>(listener.stream);
  if (const Status followed = follow_resources(listener, *wishes, *honoured); !followed)
    return answer_resource_error(request, followed.error(), "");
  for (const ListenPart& part : parts_) part(listener.stream, *wishes, honoured);
  if (!keep(std::move(listener)))
    return request.call->answer_fault(
        kRpcInternalError, "Too many streams of notifications are open. Try again later.");
}

Status SubscriptionMethods::follow_resources(Listener& listener, const Json& wishes,
                                             Honoured& honoured) {
  const McpPeer& peer = listener.stream->peer();
  const Json* lists = member(wishes, kLists);
  const Json* resources = member(wishes, kResources);
  const bool may_read = peer.principal.has(Scope::VaultRead);
  const bool hears_of_lists = may_read && lists && *lists == true;
  if (resources && !resources->is_array())
    return invalid(cat(kResources, " must be a list of URIs."), {{"path", kResources}});
  ResourceSubscriber::Role role;
  role.principal = peer.principal;
  role.hears_of_lists = hears_of_lists;
  role.tell = [stream = listener.stream](std::string_view method, Json params) {
    stream->tell(method, std::move(params));
  };
  role.on_revoked = [stream = listener.stream, this, alarm = alarm_] {
    stream->finish();
    alarm->after({}, [this, call = &stream->call()] { forget(call); });
  };
  listener.subscriber = std::make_shared<ResourceSubscriber>(
      std::move(role), services_.dispatcher, alarm_, services_.options.subscriptions);
  INDX_TRY(feeds_->join(listener.subscriber));  // whatever is wished for: to hear of a revocation
  if (hears_of_lists) honoured.set(kLists, true);
  if (!resources || !may_read) return {};
  honoured.set(kResources, Json::array());
  for (const Json& uri : *resources) {
    if (!uri.is_string()) return invalid("A URI must be a string.", {{"path", kResources}});
    auto watch = watch_of(peer, uri.get<std::string>());
    if (!watch) continue;  // not honoured
    INDX_TRY(listener.subscriber->add(std::move(*watch)));
    honoured.add(kResources, uri);
  }
  return {};
}

bool SubscriptionMethods::keep(Listener listener) {
  const auto stream = listener.stream;
  const OpenCall* call = &stream->call();
  {
    const std::scoped_lock lock(mutex_);
    const auto of_one = std::count_if(listeners_.begin(), listeners_.end(), [&](const auto& each) {
      return each.second.stream->peer().principal.subject == stream->peer().principal.subject;
    });
    if (listeners_.size() >= kMaxListeners || of_one >= std::ptrdiff_t{kMaxListenersOfOne})
      return false;
    listeners_.emplace(call, std::move(listener));
  }
  // Later, for the registration must not end inside its own callback.
  auto on_leave = call->token().on_cancel(
      [this, call, alarm = alarm_] { alarm->after({}, [this, call] { forget(call); }); });
  {
    const std::scoped_lock lock(mutex_);
    if (const auto kept = listeners_.find(call); kept != listeners_.end())
      kept->second.on_leave = std::move(on_leave);
  }
  if (call->is_ended()) forget(call);  // a revocation came before
  return true;
}

void SubscriptionMethods::forget(const OpenCall* call) {
  std::optional<Listener> gone;  // destroyed after the lock
  const std::scoped_lock lock(mutex_);
  const auto found = listeners_.find(call);
  if (found == listeners_.end()) return;
  gone = std::move(found->second);
  listeners_.erase(found);
}

void SubscriptionMethods::end_listening() {
  std::map<const OpenCall*, Listener> listeners;
  {
    const std::scoped_lock lock(mutex_);
    listeners.swap(listeners_);
  }
  for (const auto& [call, listener] : listeners) listener.stream->finish();
}

void SubscriptionMethods::stop() {
  end_listening();
  alarm_->stop();
  feeds_->stop();
}

}  // namespace indx
