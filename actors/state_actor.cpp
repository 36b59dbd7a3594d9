#include "actors/state_actor.hpp"

#include "actors/storage_trouble.hpp"
#include "base/log.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <deque>

namespace indx {
namespace {

constexpr std::chrono::minutes kPruneEvery{10};
/// Between two chunks of old rows, so that what others send goes in between.
constexpr milliseconds kNextChunk{20};
/// A larger log is moved into the database by force. How long that may hold up everyone.
constexpr std::int64_t kMaxWalBytes = std::int64_t{64} << 20U;
constexpr milliseconds kCheckpointPatience{100};
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
  void prune();
  void bound_wal();
  void publish();
  /// Runs `body` in one transaction. After a failure nothing of it is stored or told, and the log
  /// says so at most once a minute.
  template <typename Body>
  Status store(std::string_view doing, Body&& body);
  void try_claims_again();

  StateActor::pointer self;
  StateActorConfig config;
  std::unique_ptr<State> state;
  std::vector<std::pair<StateChange, caf::typed_response_promise<Reply>>> pending;
  std::deque<caf::typed_response_promise<Claimed>> claims;
  bool is_commit_sent = false;
  bool is_draining = false;
  bool is_prune_sent = false;
  bool is_claim_delayed = false;  ///< storage failed: claims wait for a message
  std::chrono::nanoseconds next_prune{0};
  StorageTrouble trouble, pinned_wal;
  inline static const char* name = "state";
};

void StateActorState::gather(StateChange change, caf::typed_response_promise<Reply> promise) {
  pending.emplace_back(std::move(change), std::move(promise));
  if (pending.size() >= kMaxBatch) return commit();
  if (!is_commit_sent) self->send(self, atom::commit_atom::value);
  is_commit_sent = true;
}

template <typename Body>
Status StateActorState::store(std::string_view doing, Body&& body) {
  const auto changes_before = state->db.total_changes();
  const auto run = [&]() -> Status {
    auto transaction = INDX_TRY(Database::Transaction::begin(state->db));
    INDX_TRY(body());
    return transaction.commit();
  };
  Status done = run();
  const auto now = config.parts->clock.monotonic();
  if (!done.has_value()) {
    state->fresh_events.clear();
    if (const auto line = trouble.failed(doing, done.error(), now))
      log_error("state.db cannot be written", *line);
  } else if (state->db.total_changes() != changes_before) {
    // A transaction that had nothing to write proves nothing.
    if (const auto line = trouble.worked(now)) log_info("state.db can be written again", *line);
  }
  return done;
}

void StateActorState::commit() {
  is_commit_sent = false;
  auto batch = std::exchange(pending, {});
  std::vector<Result<Json>> results;
  if (!batch.empty()) {
    const Status done = store("commit", [&]() -> Status {
      for (const auto& [change, promise] : batch) {
        const auto events_before = state->fresh_events.size();
        results.push_back(
            state->db.savepoint([&, apply = &change.apply] { return (*apply)(*state); }));
        if (results.back().has_value()) continue;
        // Without its transaction the rest of the batch would be stored one by one.
        if (!state->db.is_in_transaction()) return results.back().error();
        state->fresh_events.resize(events_before);
      }
      return {};
    });
    if (!done.has_value()) results.assign(batch.size(), done.error());
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
  caf::anon_send(config.directory->get<EventBusActor>(), atom::publish_atom::value,
                 EventBatch{std::move(events)});
  caf::anon_send(config.directory->get<AuditActor>(), atom::tick_atom::value);
}

void StateActorState::serve_claims() {
  if (is_claim_delayed) return;
  while (!claims.empty() && !is_draining) {
    std::optional<Job> job;
    const Status done = store("claim of a job", [&]() -> Status {
      job = INDX_TRY(state->claim());
      return {};
    });
    if (!done.has_value()) return try_claims_again();
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

void StateActorState::try_claims_again() {
  is_claim_delayed = true;
  self->delayed_send(self, trouble.wait(), atom::claim_atom::value, atom::tick_atom::value);
}

void StateActorState::tick() {
  self->delayed_send(self, config.settings.jobs.heartbeat, atom::tick_atom::value);
  std::vector<JobQueue::StopAsked> asked;
  const Status beat = store("heartbeat", [&]() -> Status {
    asked = INDX_TRY(state->queue.heartbeat(config.settings.instance));
    return {};
  });
  if (beat.has_value())
    for (const auto& stop : asked)
      config.parts->running.cancel(stop.job,
                                   stop.is_pause ? CancelReason::Pause : CancelReason::Requested);
  if (config.parts->clock.monotonic() >= next_prune && !is_prune_sent) prune();
  bound_wal();
  // Files of rows that are gone: after the commit, so that a rollback never leaves a row without
  // its file.
  for (const auto& swept : {state->queue.sweep_spill(), state->versions.sweep_files()})
    if (!swept.has_value() && trouble.is_over())
      log_warn("old files were not removed", {{"error", swept.error().message}});
  serve_claims();
}

void StateActorState::prune() {
  bool is_more = false;
  const Status done = store("removal of old rows", [&]() -> Status {
    is_more = INDX_TRY(state->prune());
    return {};
  });
  is_prune_sent = done.has_value() && is_more && !is_draining;
  if (is_prune_sent)
    self->delayed_send(self, kNextChunk, atom::prune_atom::value);
  else if (done.has_value())
    next_prune = config.parts->clock.monotonic() + kPruneEvery;
}

void StateActorState::bound_wal() {
  if (state->db.wal_bytes() <= kMaxWalBytes) return;
  const auto now = config.parts->clock.monotonic();
  const auto moved = state->db.checkpoint(kCheckpointPatience);
  if (moved.has_value() && moved->is_complete) {
    if (const auto line = pinned_wal.worked(now))
      log_info("the write-ahead log of state.db is short again", *line);
    return;
  }
  const auto error = moved.has_value() ? make_error(Reason::Unavailable,
                                                    "A reader still needs the write-ahead log.")
                                       : moved.error();
  if (auto line = pinned_wal.failed("checkpoint", error, now)) {
    (*line)["bytes"] = state->db.wal_bytes();
    log_warn("the write-ahead log of state.db cannot be made shorter", *line);
  }
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
      [self](atom::claim_atom, atom::tick_atom) {
        self->state.is_claim_delayed = false;
        self->state.serve_claims();
      },
      [self](atom::prune_atom) {
        self->state.is_prune_sent = false;
        self->state.prune();
      },
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
