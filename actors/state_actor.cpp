#include "actors/state_actor.hpp"

#include "base/log.hpp"

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <algorithm>
#include <utility>

namespace indx {
namespace {

constexpr std::chrono::minutes kPruneEvery{10};
/// Between two chunks of old rows, so that what others send goes in between.
constexpr milliseconds kNextChunk{20};
constexpr milliseconds kShortestWatch{5};
/// A try whose end could not be stored.
constexpr milliseconds kAbandonAgain{200};

Result<Json> run_due_schedules(State& state) {
  const Status done = state.run_schedules();
  if (done) return Json();
  log_warn("schedules did not run; trying again", {{"error", done.error().message}});
  return done.error();
}

struct StateActorState {
  using Nanoseconds = std::chrono::nanoseconds;

  explicit StateActorState(StateActor::pointer self_pointer) : self(self_pointer) {}
  StateActorState(const StateActorState&) = delete;
  StateActorState& operator=(const StateActorState&) = delete;
  /// An owed answer keeps its actor alive, so the end of the actor has to settle them.
  ~StateActorState() {
    for (auto& promise : promises) promise.deliver(actor_is_gone());
  }

  void gather(StateChange change, caf::typed_response_promise<Reply> promise);
  void commit();
  void tick();
  void prune();
  void watch();
  void watch_later();
  void abandon(const Lease& lease);

  StateActor::pointer self;
  Parts* parts = nullptr;
  Directory* directory = nullptr;
  StateWriter* writer = nullptr;
  std::vector<StateChange> changes;
  std::vector<caf::typed_response_promise<Reply>> promises;
  bool is_commit_sent = false;
  bool is_prune_sent = false;
  std::optional<Nanoseconds> watches;  ///< a message is on its way that looks at time limits
  Nanoseconds next_prune{0};
  inline static const char* name = "state";
};

void StateActorState::gather(StateChange change, caf::typed_response_promise<Reply> promise) {
  changes.push_back(std::move(change));
  promises.push_back(std::move(promise));
  if (!std::exchange(is_commit_sent, true)) self->send(self, atom::commit_atom::value);
}

// An empty batch is the message that a job became due.
void StateActorState::commit() {
  is_commit_sent = false;
  if (changes.empty()) return writer->look();
  auto owed = std::exchange(promises, {});
  auto results = writer->change(std::exchange(changes, {}));
  for (std::size_t i = 0; i < owed.size(); ++i) owed[i].deliver(Reply{std::move(results[i])});
}

void StateActorState::tick() {
  const auto beat = parts->config.jobs.heartbeat;
  self->delayed_send(self, beat, atom::tick_atom::value);
  if (const auto wait = writer->next_schedule_in(beat))
    caf::delayed_anon_send(caf::actor_cast<StateActor>(self), *wait + milliseconds(1),
                           atom::change_atom::value, StateChange{run_due_schedules});
  watches.reset();
  writer->heartbeat();
  if (parts->clock.monotonic() >= next_prune && !is_prune_sent) prune();
  writer->bound_wal();
  watch();
  writer->look();
  writer->settle();  // the message that asks for it may have ended with a predecessor
}

void StateActorState::prune() {
  const auto is_more = writer->prune();
  is_prune_sent = is_more.has_value() && *is_more && !parts->is_draining;
  if (is_prune_sent) self->delayed_send(self, kNextChunk, atom::prune_atom::value);
  if (is_more.has_value() && !is_prune_sent) next_prune = parts->clock.monotonic() + kPruneEvery;
}

// Time limits are measured on the monotonic clock, which stands still while a laptop sleeps.
void StateActorState::watch() {
  if (watches && *watches <= parts->clock.monotonic()) watches.reset();
  for (const Lease& lease :
       parts->running.check_limits(parts->clock.monotonic(), parts->config.jobs.stop_grace))
    abandon(lease);
  watch_later();
}

void StateActorState::watch_later() {
  const auto now = parts->clock.monotonic();
  const auto next = parts->running.next_check(now, parts->config.jobs.stop_grace);
  if (!next || (watches && *watches <= *next)) return;
  const auto shortest = *next <= now ? kAbandonAgain : kShortestWatch;
  const auto wait = std::max(std::chrono::ceil<milliseconds>(*next - now), shortest);
  if (wait >= parts->config.jobs.heartbeat) return;  // the tick sees to it
  watches = now + wait;
  self->delayed_send(self, wait, atom::watch_atom::value);
}

/// Ends the try of a handler that ignores its time limit, and has another runner take the place of
/// the one that is stuck in it. From then on its lease is stale, so its late writes are refused.
void StateActorState::abandon(const Lease& lease) {
  const auto job = writer->time_out(lease);
  if (!job) return;  // it comes again, unless its end came in between
  auto& stuck = parts->stuck_handlers;
  ++stuck;
  if (!parts->running.abandon(lease)) {
    --stuck;
    return;
  }
  log_error("a handler ignores its time limit and was given up",
            {{"job_id", lease.job.value}, {"operation", job->kind}, {"lease", lease.generation}});
  if (auto supervisor = directory->get<SupervisorActor>())
    caf::anon_send(supervisor, atom::spare_atom::value);
}

StateActor::behavior_type state_actor(StateActor::stateful_pointer<StateActorState> self,
                                      Parts* parts, Directory* directory, StateWriter* writer) {
  self->state.parts = parts;
  self->state.directory = directory;
  self->state.writer = writer;
  self->send(self, atom::tick_atom::value);
  return {
      [self](atom::change_atom, StateChange& change) -> caf::result<Reply> {
        auto promise = self->make_response_promise<Reply>();
        self->state.gather(std::move(change), promise);
        return promise;
      },
      [self](atom::commit_atom) { self->state.commit(); },
      [self](atom::commit_atom, atom::tick_atom) { self->state.writer->settle(); },
      [self](atom::watch_atom) { self->state.watch(); },
      [self](atom::tick_atom) { self->state.tick(); },
      [self](atom::claim_atom, atom::tick_atom) { self->state.writer->look_again(); },
      [self](atom::prune_atom) {
        self->state.is_prune_sent = false;
        self->state.prune();
      },
  };
}

}  // namespace

StateActor spawn_state_actor(caf::actor_system& system, Parts* parts, Directory* directory,
                             StateWriter* writer) {
  return system.spawn<caf::detached>(state_actor, parts, directory, writer);
}

}  // namespace indx
