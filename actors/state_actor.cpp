#include "actors/state_actor.hpp"

#include "actors/engine_metrics.hpp"
#include "actors/job_run.hpp"
#include "actors/storage_trouble.hpp"
#include "base/log.hpp"

#include <caf/actor_addr.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <algorithm>
#include <deque>
#include <map>

namespace indx {
namespace {

constexpr std::chrono::minutes kPruneEvery{10};
/// Between two chunks of old rows, so that what others send goes in between.
constexpr milliseconds kNextChunk{20};
/// A larger log is moved into the database by force. How long that may hold up everyone.
constexpr std::int64_t kMaxWalBytes = std::int64_t{64} << 20U;
constexpr milliseconds kCheckpointPatience{100};
constexpr milliseconds kShortestWatch{5};
/// Bounds the time that one commit keeps the other senders waiting.
constexpr std::size_t kMaxBatch = 2000;

/// A runner that waits for a job.
struct WaitingRunner {
  caf::typed_response_promise<Claimed> promise;
  caf::actor_addr runner;
};

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
    for (auto& [change, promise] : pending) promise.deliver(actor_is_gone());
    for (auto& claim : claims) claim.promise.deliver(Claimed{});
  }

  void gather(StateChange change, caf::typed_response_promise<Reply> promise);
  void commit();
  void wait_for_job(caf::typed_response_promise<Claimed> promise,
                    const caf::strong_actor_ptr& from);
  void tick();
  void prune();
  void bound_wal();
  void watch();
  void drain();
  void on_runner_down(const caf::actor_addr& runner);

  /// Runs `body` in one transaction. What it has to tell is told after the commit; after a failure
  /// nothing of it is stored or told, and the log says so at most once a minute.
  template <typename Body>
  Status store(std::string_view doing, const Body& body);
  /// Runs `body` in a savepoint; after a failure nothing of it is told either.
  template <typename Body>
  auto in_savepoint(const Body& body) -> decltype(body());
  void try_claims_again();
  void send_commit();
  Status apply(std::vector<Result<Json>>& results,
               std::vector<std::pair<StateChange, caf::typed_response_promise<Reply>>>& batch);
  bool has_to_look() const {
    return !claims.empty() && !is_draining && !is_claim_delayed &&
           (looks_for_jobs || state->jobs_changed);
  }
  Status claim(std::vector<Job>& claimed);
  void hand_out(std::vector<Job> jobs);
  void wake_when_due();
  void abandon(const Lease& lease);
  void watch_later();

  StateActor::pointer self;
  StateActorConfig config;
  std::unique_ptr<State> state;
  std::vector<std::pair<StateChange, caf::typed_response_promise<Reply>>> pending;
  std::deque<WaitingRunner> claims;
  std::map<caf::actor_addr, std::optional<Lease>> runners;  ///< and what each was given last
  bool is_commit_sent = false;
  bool is_draining = false;
  bool is_prune_sent = false;
  bool is_claim_delayed = false;       ///< storage failed: claims wait for a message
  bool looks_for_jobs = false;         ///< a runner came, or a job may have become due
  std::optional<Timestamp> wakes_at;   ///< a message is on its way that looks for due jobs
  std::optional<Nanoseconds> watches;  ///< the same for the next time limit
  Nanoseconds next_prune{0};
  StorageTrouble trouble, pinned_wal;
  inline static const char* name = "state";
};

void StateActorState::gather(StateChange change, caf::typed_response_promise<Reply> promise) {
  pending.emplace_back(std::move(change), std::move(promise));
  if (pending.size() >= kMaxBatch) return commit();
  send_commit();
}

void StateActorState::send_commit() {
  if (!is_commit_sent) self->send(self, atom::commit_atom::value);
  is_commit_sent = true;
}

template <typename Body>
Status StateActorState::store(std::string_view doing, const Body& body) {
  const auto changes_before = state->db.total_changes();
  const auto run = [&]() -> Status {
    auto transaction = INDX_TRY(Database::Transaction::begin(state->db));
    INDX_TRY(body());
    return transaction.commit();
  };
  const Status done = run();
  auto events = std::exchange(state->fresh_events, {});
  const auto stops = std::exchange(state->fresh_stops, {});
  const auto now = config.parts->clock.monotonic();
  if (!done.has_value()) {
    if (done.error().reason == Reason::StaleLease) return done;  // of a try that ended meanwhile
    if (const auto line = trouble.failed(doing, done.error(), now))
      log_error("state.db cannot be written", *line);
    return done;
  }
  // A transaction that had nothing to write proves nothing.
  if (state->db.total_changes() != changes_before)
    if (const auto line = trouble.worked(now)) log_info("state.db can be written again", *line);
  if (!events.empty()) {
    count_job_events(*config.parts, events);
    caf::anon_send(config.directory->get<EventBusActor>(), atom::publish_atom::value,
                   EventBatch{std::move(events)});
    caf::anon_send(config.directory->get<AuditActor>(), atom::tick_atom::value);
  }
  for (const auto& [job, why] : stops) config.parts->running.cancel(job, why);
  return done;
}

template <typename Body>
auto StateActorState::in_savepoint(const Body& body) -> decltype(body()) {
  const auto events_before = state->fresh_events.size();
  const auto stops_before = state->fresh_stops.size();
  auto result = state->db.savepoint(body);
  if (!result.has_value()) {
    state->fresh_events.resize(events_before);
    state->fresh_stops.resize(stops_before, {JobId(), CancelReason::None});
  }
  return result;
}

/// Each change in a savepoint of its own, so that one that fails undoes nothing of the others.
Status StateActorState::apply(
    std::vector<Result<Json>>& results,
    std::vector<std::pair<StateChange, caf::typed_response_promise<Reply>>>& batch) {
  for (const auto& [change, promise] : batch) {
    results.push_back(in_savepoint([&, run = &change.apply] { return (*run)(*state); }));
    // Without its transaction the rest of the batch would be stored one by one.
    if (!results.back().has_value() && !state->db.is_in_transaction())
      return results.back().error();
  }
  return {};
}

// Changes and claims share the transaction: the end of one job brings its runner the next one. An
// empty batch is the message that a job became due.
void StateActorState::commit() {
  is_commit_sent = false;
  auto batch = std::exchange(pending, {});
  looks_for_jobs = looks_for_jobs || batch.empty();
  if (batch.empty() && !has_to_look()) return;
  bool has_looked = false;
  std::vector<Result<Json>> results;
  std::vector<Job> claimed;
  const auto began = config.parts->clock.monotonic();
  const Status done = store("commit", [&]() -> Status {
    INDX_TRY(apply(results, batch));
    has_looked = has_to_look();
    return has_looked ? claim(claimed) : Status();
  });
  if (!done.has_value()) {
    results.assign(batch.size(), done.error());
    claimed.clear();
    try_claims_again();
  }
  if (!batch.empty())
    count_commit(config.parts->metrics, results, config.parts->clock.monotonic() - began);
  for (std::size_t i = 0; i < batch.size(); ++i)
    batch[i].second.deliver(Reply{std::move(results[i])});
  hand_out(std::move(claimed));
  if (has_looked) wake_when_due();
}

/// A claim that fails is tried again later, and undoes nothing of the changes before it.
Status StateActorState::claim(std::vector<Job>& claimed) {
  looks_for_jobs = state->jobs_changed = false;
  auto jobs = in_savepoint([&] { return state->claim(static_cast<int>(claims.size())); });
  if (jobs.has_value()) {
    claimed = std::move(jobs).value();
    return {};
  }
  if (!state->db.is_in_transaction()) return jobs.error();
  if (const auto line =
          trouble.failed("claim of a job", jobs.error(), config.parts->clock.monotonic()))
    log_error("state.db cannot be written", *line);
  try_claims_again();
  return {};
}

void StateActorState::try_claims_again() {
  looks_for_jobs = true;
  if (claims.empty() || is_claim_delayed) return;
  is_claim_delayed = true;
  self->delayed_send(self, trouble.wait(), atom::claim_atom::value, atom::tick_atom::value);
}

// A job is known as running before its runner hears of it, so that no cancel falls in between.
void StateActorState::hand_out(std::vector<Job> jobs) {
  for (Job& job : jobs) {
    const auto next = std::move(claims.front());
    claims.pop_front();
    const Lease lease{job.id, job.lease, config.settings.instance};
    const CancelToken token;
    config.parts->running.add(lease, token, job.time_limit, config.parts->clock.monotonic());
    runners[next.runner] = lease;
    const bool has_limit = job.time_limit.count() > 0;
    auto promise = next.promise;
    promise.deliver(Claimed{std::move(job), token});
    if (has_limit) watch_later();
  }
}

void StateActorState::wake_when_due() {
  if (claims.empty() || is_draining) return;
  const auto due = state->queue.next_due();
  if (!due.has_value() || !due.value()) return;
  const auto now = config.parts->clock.now();
  if (wakes_at && *wakes_at > now && *wakes_at <= **due) return;
  const auto wait = std::max(**due - now, milliseconds(1));
  if (wait >= config.settings.jobs.heartbeat) return;  // the tick sees to it
  wakes_at = now + wait;
  self->delayed_send(self, wait, atom::commit_atom::value);
}

void StateActorState::wait_for_job(caf::typed_response_promise<Claimed> promise,
                                   const caf::strong_actor_ptr& from) {
  if (is_draining) {
    promise.deliver(Claimed{});
    return;
  }
  const auto runner = caf::actor_cast<caf::actor_addr>(from);
  if (const auto [known, is_new] = runners.try_emplace(runner); is_new) self->monitor(from);
  claims.push_back({std::move(promise), runner});
  looks_for_jobs = true;
  send_commit();
}

/// Nobody else would ever take back what a runner had been given when it ended by accident.
void StateActorState::on_runner_down(const caf::actor_addr& runner) {
  std::erase_if(claims, [&](const WaitingRunner& waiting) { return waiting.runner == runner; });
  const auto it = runners.find(runner);
  if (it == runners.end()) return;
  const auto lease = it->second;
  runners.erase(it);
  if (!lease) return;
  gather({[lease = *lease, parts = config.parts](State& changed) -> Result<Json> {
           const auto given_back = changed.finish(lease, {.kind = JobOutcome::Kind::Returned});
           if (given_back.has_value()) parts->running.remove(lease);
           // Nearly always its end was stored before.
           if (!given_back.has_value() && given_back.error().reason != Reason::StaleLease)
             return given_back.error();
           return Json();
         }},
         {});
}

void StateActorState::tick() {
  self->delayed_send(self, config.settings.jobs.heartbeat, atom::tick_atom::value);
  if (const auto wait = state->next_schedule_in(config.settings.jobs.heartbeat))
    caf::delayed_anon_send(caf::actor_cast<StateActor>(self), *wait + milliseconds(1),
                           atom::change_atom::value, StateChange{run_due_schedules});
  wakes_at.reset();
  watches.reset();
  const Status beat = store("heartbeat", [&]() -> Status {
    for (const auto& [job, is_pause] : INDX_TRY(state->queue.heartbeat(config.settings.instance)))
      state->fresh_stops.emplace_back(job,
                                      is_pause ? CancelReason::Pause : CancelReason::Requested);
    return {};
  });
  if (beat.has_value() && config.parts->clock.monotonic() >= next_prune && !is_prune_sent) prune();
  bound_wal();
  watch();
  looks_for_jobs = true;
  commit();
}

void StateActorState::prune() {
  bool is_more = false;
  const Status done = store("removal of old rows", [&]() -> Status {
    is_more = !INDX_TRY(state->prune()).is_done;
    return {};
  });
  is_prune_sent = done.has_value() && is_more && !is_draining;
  if (is_prune_sent) self->delayed_send(self, kNextChunk, atom::prune_atom::value);
  if (!done.has_value() || is_prune_sent) return;
  next_prune = config.parts->clock.monotonic() + kPruneEvery;
  // Files of rows that are gone: after the commit, so that a rollback never leaves a row without
  // its file.
  for (const auto& swept : {state->queue.sweep_spill(), state->versions.sweep_files()})
    if (!swept.has_value())
      log_warn("old files were not removed", {{"error", swept.error().message}});
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

// Time limits are measured on the monotonic clock, which stands still while a laptop sleeps.
void StateActorState::watch() {
  if (watches && *watches <= config.parts->clock.monotonic()) watches.reset();
  const auto stuck = config.parts->running.check_limits(config.parts->clock.monotonic(),
                                                        config.settings.jobs.stop_grace);
  for (const Lease& lease : stuck) abandon(lease);
  if (!stuck.empty()) send_commit();  // there may be a runner for the job again
  watch_later();
}

void StateActorState::watch_later() {
  const auto now = config.parts->clock.monotonic();
  const auto next = config.parts->running.next_check(now, config.settings.jobs.stop_grace);
  if (!next || (watches && *watches <= *next)) return;
  const auto wait = std::max(std::chrono::ceil<milliseconds>(*next - now), kShortestWatch);
  if (wait >= config.settings.jobs.heartbeat) return;  // the tick sees to it
  watches = now + wait;
  self->delayed_send(self, wait, atom::watch_atom::value);
}

/// Ends the try of a handler that ignores its time limit, and has another runner take the place of
/// the one that is stuck in it. From then on its lease is stale, so its late writes are refused.
void StateActorState::abandon(const Lease& lease) {
  commit();  // its end may have come just now
  Job job;
  const Status ended = store("end of a try", [&]() -> Status {
    if (const auto now = INDX_TRY(state->queue.get(lease.job))) job = *now;
    INDX_TRY(state->finish(
        lease, {.kind = JobOutcome::Kind::TimedOut, .error = time_limit_passed(job.time_limit)}));
    return {};
  });
  if (!ended.has_value()) return;  // it comes again, unless its end came in between
  auto& stuck = config.parts->stuck_handlers;
  ++stuck;
  if (!config.parts->running.abandon(lease)) {
    --stuck;
    return;
  }
  log_error("a handler ignores its time limit and was given up",
            {{"job_id", lease.job.value}, {"operation", job.kind}, {"lease", lease.generation}});
  if (auto supervisor = config.directory->get<SupervisorActor>())
    caf::anon_send(supervisor, atom::spare_atom::value);
}

void StateActorState::drain() {
  is_draining = true;
  for (auto& claim : claims) claim.promise.deliver(Claimed{});
  claims.clear();
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
  self->set_down_handler([self](caf::down_msg& down) { self->state.on_runner_down(down.source); });
  return {
      [self](atom::change_atom, StateChange& change) -> caf::result<Reply> {
        auto promise = self->make_response_promise<Reply>();
        self->state.gather(std::move(change), promise);
        return promise;
      },
      [self](atom::claim_atom) -> caf::result<Claimed> {
        const auto runner = self->current_sender();  // before the promise, which takes it
        auto promise = self->make_response_promise<Claimed>();
        self->state.wait_for_job(promise, runner);
        return promise;
      },
      [self](atom::commit_atom) { self->state.commit(); },
      [self](atom::watch_atom) { self->state.watch(); },
      [self](atom::tick_atom) { self->state.tick(); },
      [self](atom::claim_atom, atom::tick_atom) {
        self->state.is_claim_delayed = false;
        self->state.send_commit();
      },
      [self](atom::prune_atom) {
        self->state.is_prune_sent = false;
        self->state.prune();
      },
      [self](atom::drain_atom) -> Reply {
        self->state.drain();
        return {};
      },
  };
}

}  // namespace

StateActor spawn_state_actor(caf::actor_system& system, StateActorConfig config) {
  return system.spawn<caf::detached>(state_actor, std::move(config));
}

}  // namespace indx
