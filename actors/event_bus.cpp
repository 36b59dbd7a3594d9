#include "actors/event_bus.hpp"

#include "base/log.hpp"
#include "base/text.hpp"
#include "jobs/job_queue.hpp"
#include "jobs/job_state.hpp"
#include "store/event_store.hpp"
#include "store/state_schema.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <charconv>
#include <map>

namespace indx {
namespace {

constexpr int kBacklogPage = 500;
/// Of all events; who is further behind starts anew, for others wait while one is told.
constexpr std::int64_t kMostReplayed = 20000;
constexpr std::size_t kMostSnapshotJobs = 1000;

/// A move over the border of the scope, told as what it is on the inside; nullopt: no such move.
std::optional<Event> border_crossing(const EventFilter& filter, const Event& event) {
  constexpr std::string_view kMoved = "moved";
  if (!filter.is_bounded() || !event.kind.ends_with(kMoved)) return std::nullopt;
  const PathScope& scope = filter.scope;
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
  if (!kinds.empty() && filter.is_bounded()) kinds.emplace_back("note.moved");
  return kinds;
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
      const auto crossing = border_crossing(filter, event);
      const Event& shown = crossing ? *crossing : event;
      return !filter.wants(shown) || sink(shown);
    }
    /// The same for one that is told live: what a replay already gave is not given again.
    bool take(const Event& event) {
      if (event.id > 0 && event.id <= last_id) return true;
      if (event.id > 0) last_id = event.id;
      return give(event);
    }
  };

  Status join(SubscribeRequest request);
  /// Gives everything after `subscriber.last_id` that is committed. False: the subscriber left.
  Result<bool> replay(Subscriber& subscriber);
  bool is_out_of_reach(const EventFilter& filter, std::int64_t id, std::int64_t oldest,
                       std::int64_t newest) const;
  /// Sets the subscriber to the newest id and tells it what it may see of that moment.
  Result<bool> reset(Subscriber& subscriber);
  Result<std::vector<Job>> snapshot_jobs(const EventFilter& filter);
  void publish(const EventBatch& batch);

  Parts* parts = nullptr;
  std::optional<Database> reader;
  std::map<std::int64_t, Subscriber> subscribers;
  inline static const char* name = "event_bus";
};

Status EventBusState::join(SubscribeRequest request) {
  parts->has_subscribers = true;
  Subscriber subscriber{std::move(request.filter), std::move(request.sink)};
  EventStore store(*reader);
  const auto newest = INDX_TRY(store.newest_id());
  subscriber.last_id = newest;
  bool goes_on = true;
  if (request.last_event_id) {
    const auto asked = parse_wire_id(*request.last_event_id, parts->event_epoch);
    const auto oldest = INDX_TRY(store.oldest_id());
    if (!asked || is_out_of_reach(subscriber.filter, *asked, oldest, newest)) {
      goes_on = INDX_TRY(reset(subscriber));
    } else {
      subscriber.last_id = *asked;
      goes_on = INDX_TRY(replay(subscriber));
    }
  } else if (subscriber.filter.from_first && !subscriber.filter.jobs.empty()) {
    subscriber.last_id = 0;
    goes_on = INDX_TRY(replay(subscriber));
  }
  if (goes_on) subscribers.insert_or_assign(request.number, std::move(subscriber));
  return {};
}

bool EventBusState::is_out_of_reach(const EventFilter& filter, std::int64_t id, std::int64_t oldest,
                                    std::int64_t newest) const {
  if (id > newest || (oldest > 0 && id + 1 < oldest)) return true;
  return filter.jobs.empty() && newest - id > kMostReplayed;
}

Result<bool> EventBusState::reset(Subscriber& subscriber) {
  std::vector<Job> jobs;
  // In one savepoint, so that position and records are of one moment: nothing that is told later
  // is missing in between.
  subscriber.last_id = INDX_TRY(reader->savepoint([&]() -> Result<std::int64_t> {
    const auto newest = INDX_TRY(EventStore(*reader).newest_id());
    if (subscriber.filter.wants_kinds_of_jobs()) jobs = INDX_TRY(snapshot_jobs(subscriber.filter));
    return newest;
  }));
  const bool is_cut = jobs.size() > kMostSnapshotJobs;
  if (is_cut) jobs.resize(kMostSnapshotJobs);
  Json records = Json::array();
  for (const Job& job : jobs) {
    records.push_back(to_json(job));
    records.back().erase("result");  // large, and not read; job_get gives it
  }
  return subscriber.sink({.kind = std::string(kEventReset),
                          .at = parts->clock.now(),
                          .actor = "system",
                          .data = {{"newest", cat(parts->event_epoch, "-", subscriber.last_id)},
                                   {"jobs", std::move(records)},
                                   {"has_more_jobs", is_cut}}});
}

/// Those that live, newest first, and one more than are told; of a filter with jobs those, final
/// ones too.
Result<std::vector<Job>> EventBusState::snapshot_jobs(const EventFilter& filter) {
  JobQueue queue(*reader, parts->clock, parts->random, {});
  const auto subject = filter.only_own_jobs ? filter.subject : "";
  if (filter.jobs.empty())
    return INDX_TRY(queue.list({.states = live_job_states(), .subject = subject},
                               static_cast<int>(kMostSnapshotJobs) + 1, ""))
        .jobs;
  std::vector<Job> jobs;
  for (const auto& id : filter.jobs) {
    if (jobs.size() > kMostSnapshotJobs) break;
    auto job = INDX_TRY(queue.find({id}));
    if (job && (subject.empty() || job->owner.subject == subject)) jobs.push_back(std::move(*job));
  }
  return jobs;
}

Result<bool> EventBusState::replay(Subscriber& subscriber) {
  EventStore store(*reader);
  const auto& jobs = subscriber.filter.jobs;
  const auto kinds = kinds_to_read(subscriber.filter);
  for (;;) {
    const auto page =
        INDX_TRY(jobs.empty() ? store.after(subscriber.last_id, kinds, "", kBacklogPage)
                              : store.after_of(subscriber.last_id, kinds, jobs, kBacklogPage));
    for (const Event& event : page) {
      subscriber.last_id = event.id;
      if (!subscriber.give(event)) return false;
    }
    if (page.size() < kBacklogPage) return true;
  }
}

// Event by event, so that all subscribers of one share what is made from it.
void EventBusState::publish(const EventBatch& batch) {
  for (const Event& event : batch.events) {
    const bool is_revocation = event.kind == kTokenRevoked;
    for (auto it = subscribers.begin(); it != subscribers.end();) {
      auto& subscriber = it->second;
      const bool is_revoked = is_revocation && subscriber.filter.subject == event.subject;
      if (is_revoked) subscriber.sink(event);
      const bool goes_on = is_revocation ? !is_revoked : subscriber.take(event);
      it = goes_on ? std::next(it) : subscribers.erase(it);
    }
    if (event.id > 0) parts->told_event = event.id;
  }
}

EventBusActor::behavior_type event_bus(EventBusActor::stateful_pointer<EventBusState> self,
                                       Parts* parts) {
  self->state.parts = parts;
  auto reader = open_state_db_reader(parts->config.index_dir);
  if (reader.has_value()) {
    self->state.reader.emplace(std::move(reader).value());
    const auto newest = EventStore(*self->state.reader).newest_id();
    if (newest.has_value()) parts->told_event = newest.value();
  } else {
    log_error("event bus cannot read state.db", {{"error", reader.error().message}});
    self->quit(caf::exit_reason::unhandled_exception);
  }
  return {
      [self](atom::publish_atom, const EventBatch& batch) { self->state.publish(batch); },
      [self](atom::join_atom, SubscribeRequest& request) -> Reply {
        const Status joined = self->state.join(std::move(request));
        if (!joined.has_value()) return {joined.error()};
        return {Json()};
      },
      [self](atom::leave_atom, std::int64_t number) {
        self->state.subscribers.erase(number);
        if (self->state.subscribers.empty()) self->state.parts->has_subscribers = false;
      },
  };
}

}  // namespace

EventBusActor spawn_event_bus(caf::actor_system& system, Parts* parts) {
  return system.spawn<caf::detached>(event_bus, parts);
}

}  // namespace indx
