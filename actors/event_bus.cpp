#include "actors/event_bus.hpp"

#include "base/log.hpp"
#include "base/text.hpp"
#include "store/event_store.hpp"
#include "store/state_schema.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <charconv>
#include <map>

namespace indx {
namespace {

constexpr int kBacklogPage = 500;

/// Whether every path that the event names is inside the scope.
bool is_inside(const PathScope& scope, const Json& data) {
  const auto allows = [&](const Json& path) {
    return !path.is_string() || scope.allows(path.get_ref<const std::string&>());
  };
  if (const auto path = data.find("path"); path != data.end() && !allows(*path)) return false;
  for (const auto* name : {"scope_paths", "applied_paths"})
    if (const auto paths = data.find(name);
        paths != data.end() && !std::all_of(paths->begin(), paths->end(), allows))
      return false;
  return true;
}

bool is_bounded(const PathScope& scope) { return !scope.any_of.empty() || !scope.none_of.empty(); }

/// A move over the border of the scope, told as what it is on the inside; nullopt: no such move.
std::optional<Event> border_crossing(const PathScope& scope, const Event& event) {
  constexpr std::string_view kMoved = "moved";
  if (!is_bounded(scope) || !event.kind.ends_with(kMoved)) return std::nullopt;
  const std::string path = event.data.value("path", ""), from = event.data.value("from", "");
  const bool is_coming = scope.allows(path);
  if (from.empty() || is_coming == scope.allows(from)) return std::nullopt;
  Event shown = event;
  shown.kind.replace(shown.kind.size() - kMoved.size(), kMoved.size(),
                     is_coming ? "created" : "deleted");
  shown.data.erase("from");
  if (!is_coming) {
    shown.data["path"] = from;
    shown.data["old_etag"] = event.data.value("etag", "");
    shown.data["etag"] = "";
  }
  return shown;
}

/// Kinds of the stored events that may give one the subscriber wants.
std::vector<std::string> kinds_to_read(const EventFilter& filter) {
  auto kinds = filter.kinds;
  if (!kinds.empty() && is_bounded(filter.scope)) kinds.emplace_back("note.moved");
  return kinds;
}

bool wants(const EventFilter& filter, const Event& event) {
  if (!filter.job_id.empty() && event.job_id != filter.job_id) return false;
  if (!kind_matches(event.kind, filter.kinds)) return false;
  return is_inside(filter.scope, event.data);
}

/// The number in `<epoch>-<n>`; nullopt for another epoch or no such form.
std::optional<std::int64_t> parse_wire_id(const std::string& text, const std::string& epoch) {
  if (!text.starts_with(epoch + "-")) return std::nullopt;
  std::int64_t id = -1;
  const char* begin = text.data() + epoch.size() + 1;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(begin, end, id);
  if (error != std::errc() || stop != end || id < 0) return std::nullopt;
  return id;
}

struct EventBusState {
  struct Subscriber {
    EventFilter filter;
    std::function<bool(const Event&)> sink;
    std::int64_t last_id = 0;

    /// False: it left.
    bool give(const Event& event) const {
      const auto crossing = border_crossing(filter.scope, event);
      const Event& shown = crossing ? *crossing : event;
      return !wants(filter, shown) || sink(shown);
    }
  };

  Result<std::int64_t> join(SubscribeRequest request);
  /// Gives everything after `subscriber.last_id` that is committed. False: the subscriber left.
  Result<bool> replay(Subscriber& subscriber);
  void publish(const EventBatch& batch);

  Parts* parts = nullptr;
  std::optional<Database> reader;
  std::map<std::int64_t, Subscriber> subscribers;
  std::int64_t next_number = 1;
  inline static const char* name = "event_bus";
};

Result<std::int64_t> EventBusState::join(SubscribeRequest request) {
  Subscriber subscriber{std::move(request.filter), std::move(request.sink)};
  EventStore store(*reader);
  const auto newest = INDX_TRY(store.newest_id());
  subscriber.last_id = newest;
  bool goes_on = true;
  if (request.last_event_id) {
    const auto asked = parse_wire_id(*request.last_event_id, parts->event_epoch);
    const auto oldest = INDX_TRY(store.oldest_id());
    if (!asked || *asked > newest || (oldest > 0 && *asked + 1 < oldest)) {
      goes_on = subscriber.sink({.kind = "reset",
                                 .at = parts->clock.now(),
                                 .actor = "system",
                                 .data = {{"newest", cat(parts->event_epoch, "-", newest)}}});
    } else {
      subscriber.last_id = *asked;
      goes_on = INDX_TRY(replay(subscriber));
    }
  }
  const auto number = next_number++;
  if (goes_on) subscribers.emplace(number, std::move(subscriber));
  return number;
}

Result<bool> EventBusState::replay(Subscriber& subscriber) {
  EventStore store(*reader);
  for (;;) {
    const auto page = INDX_TRY(store.after(subscriber.last_id, kinds_to_read(subscriber.filter),
                                           subscriber.filter.job_id, kBacklogPage));
    for (const Event& event : page) {
      subscriber.last_id = event.id;
      if (!subscriber.give(event)) return false;
    }
    if (page.size() < kBacklogPage) return true;
  }
}

void EventBusState::publish(const EventBatch& batch) {
  for (auto it = subscribers.begin(); it != subscribers.end();) {
    bool goes_on = true;
    for (const Event& event : batch.events) {
      if (event.kind == kTokenRevoked) {
        if (goes_on && it->second.filter.subject == event.subject) {
          it->second.sink(event);
          goes_on = false;
        }
        continue;
      }
      // What a replay already gave is not given again.
      if (event.id > 0 && event.id <= it->second.last_id) continue;
      if (event.id > 0) it->second.last_id = event.id;
      if (goes_on) goes_on = it->second.give(event);
    }
    it = goes_on ? std::next(it) : subscribers.erase(it);
  }
}

EventBusActor::behavior_type event_bus(EventBusActor::stateful_pointer<EventBusState> self,
                                       Parts* parts) {
  self->state.parts = parts;
  auto reader = open_state_db_reader(parts->config.index_dir);
  if (reader.has_value()) {
    self->state.reader.emplace(std::move(reader).value());
  } else {
    log_error("event bus cannot read state.db", {{"error", reader.error().message}});
    self->quit(caf::exit_reason::unhandled_exception);
  }
  return {
      [self](atom::publish_atom, const EventBatch& batch) { self->state.publish(batch); },
      [self](atom::join_atom, SubscribeRequest& request) -> Reply {
        auto number = self->state.join(std::move(request));
        if (!number.has_value()) return {number.error()};
        return {Json(number.value())};
      },
      [self](atom::leave_atom, std::int64_t number) { self->state.subscribers.erase(number); },
  };
}

}  // namespace

EventBusActor spawn_event_bus(caf::actor_system& system, Parts* parts) {
  return system.spawn<caf::detached>(event_bus, parts);
}

}  // namespace indx
