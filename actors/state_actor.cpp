#include "actors/state_actor.hpp"

#include "actors/engine_metrics.hpp"
#include "base/log.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <deque>

namespace indx {
namespace {

constexpr std::chrono::minutes kPruneEvery{10};
/// Bounds the time that one commit keeps the other senders waiting.
constexpr std::size_t kMaxBatch = 2000;

struct StateActorState {
  explicit StateActorState(StateActor::pointer self_pointer) : self(self_pointer) {}
  StateActorState(const StateActorState&) = delete;
  StateActorState& operator=(const StateActorState&) = delete;
  /// An owed answer keeps its actor alive, so the end of the actor has to settle them.
  ~StateActorState() {
    for (auto& [change, promise] : pending) promise.deliver(actor_is_gone());
    for (auto& claim : claims) claim.deliver(Claimed{});
  }

  void gather(StateChange change, caf::typed_response_promise<Reply> promise);
  void commit();
  void serve_claims();
  void tick();
  void publish();

  StateActor::pointer self;
  StateActorConfig config;
  std::unique_ptr<State> state;
  std::vector<std::pair<StateChange, caf::typed_response_promise<Reply>>> pending;
  std::deque<caf::typed_response_promise<Claimed>> claims;
  bool is_commit_sent = false;
  bool is_draining = false;
  std::chrono::nanoseconds next_prune{0};
  inline static const char* name = "state";
};

void StateActorState::gather(StateChange change, caf::typed_response_promise<Reply> promise) {
  pending.emplace_back(std::move(change), std::move(promise));
  if (pending.size() >= kMaxBatch) return commit();
  if (!is_commit_sent) self->send(self, atom::commit_atom::value);
  is_commit_sent = true;
}

void StateActorState::commit() {
  is_commit_sent = false;
  auto batch = std::exchange(pending, {});
  std::vector<Result<Json>> results;
  const auto run = [&]() -> Status {
    auto transaction = INDX_TRY(Database::Transaction::begin(state->db));
    for (const auto& [change, promise] : batch) {
      const auto events_before = state->fresh_events.size();
      results.push_back(
          state->db.savepoint([&, apply = &change.apply] { return (*apply)(*state); }));
      if (!results.back().has_value()) state->fresh_events.resize(events_before);
    }
    return transaction.commit();
  };
  if (!batch.empty()) {
    const auto began = config.parts->clock.monotonic();
    if (const Status done = run(); !done.has_value()) {
      log_error("commit failed", {{"error", done.error().message}});
      state->fresh_events.clear();
      results.assign(batch.size(), done.error());
    }
    count_commit(config.parts->metrics, results, config.parts->clock.monotonic() - began);
    publish();
    for (std::size_t i = 0; i < batch.size(); ++i)
      batch[i].second.deliver(Reply{std::move(results[i])});
  }
  // An empty batch is the message that a job became due.
  if (std::exchange(state->jobs_changed, false) || batch.empty()) serve_claims();
}

void StateActorState::publish() {
  if (state->fresh_events.empty()) return;
  auto events = std::exchange(state->fresh_events, {});
  count_job_events(*config.parts, events);
  caf::anon_send(config.directory->get<EventBusActor>(), atom::publish_atom::value,
                 EventBatch{std::move(events)});
  caf::anon_send(config.directory->get<AuditActor>(), atom::tick_atom::value);
}

void StateActorState::serve_claims() {
  while (!claims.empty() && !is_draining) {
    std::optional<Job> job;
    const auto claim = [&]() -> Status {
      auto transaction = INDX_TRY(Database::Transaction::begin(state->db));
      job = INDX_TRY(state->claim());
      return transaction.commit();
    };
    if (const Status done = claim(); !done.has_value()) {
      log_warn("claim failed; trying again", {{"error", done.error().message}});
      state->fresh_events.clear();
      return;
    }
    publish();
    if (!job) break;
    claims.front().deliver(Claimed{std::move(job)});
    claims.pop_front();
  }
  if (claims.empty() || is_draining) return;
  // A job that waits for its time: look again then. Several such messages do no harm, they only
  // look.
  const auto due = state->queue.next_due();
  if (!due.has_value() || !due.value()) return;
  const auto wait = std::max(**due - config.parts->clock.now(), milliseconds(1));
  if (wait < config.settings.jobs.heartbeat)
    self->delayed_send(self, wait, atom::commit_atom::value);
}

void StateActorState::tick() {
  self->delayed_send(self, config.settings.jobs.heartbeat, atom::tick_atom::value);
  const auto beat = [&]() -> Status {
    auto transaction = INDX_TRY(Database::Transaction::begin(state->db));
    for (const JobId& id : INDX_TRY(state->queue.heartbeat(config.settings.instance)))
      config.parts->running.cancel(id, CancelReason::Requested);
    if (const auto now = config.parts->clock.monotonic(); now >= next_prune) {
      INDX_TRY(state->prune());
      next_prune = now + kPruneEvery;
    }
    return transaction.commit();
  };
  if (const Status done = beat(); !done.has_value())
    log_warn("heartbeat failed", {{"error", done.error().message}});
  // Files of rows that are gone: after the commit, so that a rollback never leaves a row without
  // its file.
  for (const auto& swept : {state->queue.sweep_spill(), state->versions.sweep_files()})
    if (!swept.has_value())
      log_warn("old files were not removed", {{"error", swept.error().message}});
  serve_claims();
}

StateActor::behavior_type state_actor(StateActor::stateful_pointer<StateActorState> self,
                                      StateActorConfig config) {
  auto& s = self->state;
  s.config = std::move(config);
  auto opened = State::open(s.config.settings, s.config.parts->clock, s.config.parts->random);
  if (!opened.has_value()) {
    log_error("state.db cannot be opened", {{"error", opened.error().message}});
    self->quit(caf::exit_reason::unhandled_exception);
  } else {
    s.state = std::move(opened).value();
    self->send(self, atom::tick_atom::value);
  }
  return {
      [self](atom::change_atom, StateChange& change) -> caf::result<Reply> {
        auto promise = self->make_response_promise<Reply>();
        self->state.gather(std::move(change), promise);
        return promise;
      },
      [self](atom::claim_atom) -> caf::result<Claimed> {
        auto promise = self->make_response_promise<Claimed>();
        if (self->state.is_draining) {
          promise.deliver(Claimed{});
          return promise;
        }
        self->state.claims.push_back(promise);
        self->state.serve_claims();
        return promise;
      },
      [self](atom::commit_atom) { self->state.commit(); },
      [self](atom::tick_atom) { self->state.tick(); },
      [self](atom::drain_atom) -> Reply {
        self->state.is_draining = true;
        for (auto& claim : self->state.claims) claim.deliver(Claimed{});
        self->state.claims.clear();
        return {};
      },
  };
}

}  // namespace

StateActor spawn_state_actor(caf::actor_system& system, StateActorConfig config) {
  return system.spawn<caf::detached>(state_actor, std::move(config));
}

}  // namespace indx
