#include "actors/state_writer.hpp"

#include "actors/directory.hpp"
#include "actors/engine_metrics.hpp"
#include "actors/job_run.hpp"
#include "base/log.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <iterator>

namespace indx {
namespace {

/// How long a call waits for its turn.
constexpr std::chrono::seconds kTurnDeadline{30};
/// How long one caller commits for the others before another one does.
constexpr milliseconds kLeadFor{5};
/// Bounds the time that one commit keeps the other callers waiting.
constexpr std::size_t kMaxBatch = 2000;
/// The audit log is written for many commits at a time.
constexpr milliseconds kAuditDelay{50};
/// A larger log is moved into the database by force. How long that may hold up everyone.
constexpr std::int64_t kMaxWalBytes = std::int64_t{64} << 20U;
constexpr milliseconds kCheckpointPatience{100};

/// An exception must not end the thread of another caller.
Result<Json> run_change(const std::function<Result<Json>(State&)>& apply, State& state) {
  try {
    return apply(state);
  } catch (const std::exception& error) {
    log_error("a change of state.db threw", {{"error", error.what()}});
    return internal_error("A change failed unexpectedly; see the log.");
  }
}

Error out_of_turn() {
  return make_error(Reason::Unavailable, "The state writer did not answer; try again.",
                    {{"retry_after_s", 1}});
}

}  // namespace

/// One who waits: for the results of its changes, or to lead.
struct StateWriter::Call {
  std::vector<StateChange> changes;
  bool is_alone = false;  ///< wants to lead, and nobody's changes but its own
  std::vector<Result<Json>> results = {};
  bool is_done = false, leads = false;
  std::condition_variable told = {};
};

/// What one commit does.
struct StateWriter::Round {
  std::vector<Call*> calls = {};
  JobHandout::Owed owed = {};        ///< what it stores for runners
  JobHandout::Owed failed = {};      ///< what of it is tried again
  std::vector<Lease> recalled = {};  ///< put back within the change of somebody
  std::size_t wanted = 0;            ///< jobs that runners wait for
  int ahead = 0;                     ///< and how many more may be claimed
  bool looks = false;
  std::vector<Job> claimed = {};
  bool has_failed = false;  ///< the whole, or its claim
};

StateWriter::StateWriter(Parts& parts, Directory& directory, std::unique_ptr<State> state)
    : parts_(parts), directory_(directory), clock_(state->clock), state_(std::move(state)) {
  state_->recall = [this] { return recall(); };
}

// ---- turns

std::vector<Result<Json>> StateWriter::change(std::vector<StateChange> changes) {
  Call call{std::move(changes)};
  Lock lock(mutex_);
  run(lock, call);
  return std::move(call.results);
}

Result<Json> StateWriter::change(StateChange change) {
  Call call{{std::move(change)}};
  Lock lock(mutex_);
  run(lock, call);
  return std::move(call.results.front());
}

void StateWriter::run(Lock& lock, Call& call) {
  if (!is_closed_) {
    waiting_.push_back(&call);
    if (is_led_) {
      const bool is_told =
          call.told.wait_for(lock, kTurnDeadline, [&] { return call.is_done || call.leads; });
      // What runs already is waited for, so that the answer is true.
      if (!is_told && std::erase(waiting_, &call) == 0)
        call.told.wait(lock, [&] { return call.is_done; });
    }
    if (!is_led_ || call.leads) {
      // Also of one that came first: `lead` passes the lead on to one that waits, and after a pause
      // of its thread it would take itself for that one.
      call.leads = true;
      is_led_ = true;
      lead(lock);
    }
  }
  if (!call.is_done) call.results.assign(call.changes.size(), out_of_turn());
}

/// The right of one who has more to do than changes: nobody else uses the database meanwhile.
class StateWriter::Turn {
 public:
  explicit Turn(StateWriter& writer) : writer_(writer) {
    Lock lock(writer_.mutex_);
    if (writer_.is_led_) {
      Call call{.changes = {}, .is_alone = true};
      writer_.waiting_.push_back(&call);
      call.told.wait(lock, [&] { return call.leads; });
      std::erase(writer_.waiting_, &call);
    }
    writer_.is_led_ = true;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    Lock lock(writer_.mutex_);
    writer_.lead(lock);
  }

 private:
  StateWriter& writer_;
};

/// Commits until there is nothing left to do, or somebody else takes over.
void StateWriter::lead(Lock& lock) {
  const auto until = clock_.monotonic() + kLeadFor;
  while (!waiting_.empty() || has_to_look()) {
    if (is_closed_) {
      for (auto* call : waiting_) {
        call->results.assign(call->changes.size(), out_of_turn());
        call->is_done = true;
        call->told.notify_one();
      }
      waiting_.clear();
      continue;
    }
    if (!waiting_.empty() &&
        (waiting_.front()->is_alone || (!waiting_.front()->leads && clock_.monotonic() >= until))) {
      waiting_.front()->leads = true;
      waiting_.front()->told.notify_one();
      return;
    }
    commit_round(lock);
  }
  is_led_ = false;
}

bool StateWriter::has_to_look() const {
  if (is_claim_delayed_ || is_closed_) return false;
  if (is_draining_) return handout_.owes();
  return handout_.is_due(clock_.monotonic()) ||
         (handout_.has_waiting() && (looks_for_jobs_ || state_->jobs_changed));
}

// Changes, ends of tries and claims share the transaction: the end of one job brings its runner the
// next one.
void StateWriter::commit_round(Lock& lock) {
  Round round;
  for (std::size_t changes = 0;
       !waiting_.empty() && !waiting_.front()->is_alone && changes < kMaxBatch;
       waiting_.pop_front()) {
    changes += waiting_.front()->changes.size();
    round.calls.push_back(waiting_.front());
  }
  if (!is_claim_delayed_) {
    round.owed = handout_.take_owed();
    if (!is_draining_)
      round.wanted =
          handout_.waiting() + static_cast<std::size_t>(std::count_if(
                                   round.owed.ends.begin(), round.owed.ends.end(),
                                   [](const JobEnd& end) { return end.runner.has_value(); }));
    if (round.wanted > 0) round.looks = std::exchange(looks_for_jobs_, false);
    // Only while jobs of short kinds come to their end.
    if (!is_draining_ && !round.owed.ends.empty() && parts_.running.has_marks())
      round.ahead = handout_.room_ahead();
    if (round.ahead > 0)
      for (auto& kind : state_->settings.kinds) kind.is_short = handout_.is_short(kind.kind);
  }
  lock.unlock();
  round_ = &round;
  const auto began = clock_.monotonic();
  const auto store_all = [&]() -> Status {
    INDX_TRY(store_ends(round));
    INDX_TRY(give_back(round));
    INDX_TRY(apply(round));
    INDX_TRY(put_back(round.recalled));  // again, for the change may have been undone
    round.looks = round.wanted > 0 && (round.looks || state_->jobs_changed);
    return round.looks || round.ahead > 0 ? claim(round) : Status();
  };
  const Status done = store("commit", store_all, [&] {
    for (const auto& end : round.owed.ends) parts_.running.remove(end.lease);
    for (const auto& lease : round.owed.unbegun) parts_.running.remove(lease);
    for (const auto& lease : round.recalled) parts_.running.remove(lease);
  });
  round_ = nullptr;
  if (!done.has_value()) {
    for (auto* call : round.calls) call->results.assign(call->changes.size(), done.error());
    round.claimed.clear();
    round.has_failed = true;
  }
  for (const auto* call : round.calls)
    count_commit(parts_.metrics, call->results, clock_.monotonic() - began);
  if (round.looks && round.claimed.size() < round.wanted) wake_when_due();
  const auto wait = trouble_.wait();
  lock.lock();
  for (auto* call : round.calls) {
    call->is_done = true;
    call->told.notify_one();
  }
  if (done.has_value()) {
    for (auto& end : round.owed.ends) handout_.go_on(end);
  } else {
    std::move(round.recalled.begin(), round.recalled.end(), std::back_inserter(round.owed.unbegun));
    handout_.owe_again(std::move(round.owed), clock_.monotonic());
  }
  hand_out(std::move(round.claimed), round.wanted);
  if (!round.has_failed && round.failed.empty()) return;
  handout_.owe_again(std::move(round.failed), clock_.monotonic());
  looks_for_jobs_ = true;
  if (!std::exchange(is_claim_delayed_, true))
    caf::delayed_anon_send(directory_.get<StateActor>(), wait, atom::claim_atom::value,
                           atom::tick_atom::value);
}

void StateWriter::lead_if_free(Lock& lock) {
  if (!std::exchange(is_led_, true)) lead(lock);
}

void StateWriter::close() {
  const Turn turn(*this);
  const std::scoped_lock lock(mutex_);
  is_closed_ = true;
  state_.reset();
}

void StateWriter::look() {
  Lock lock(mutex_);
  looks_for_jobs_ = true;
  lead_if_free(lock);
}

void StateWriter::look_again() {
  Lock lock(mutex_);
  is_claim_delayed_ = false;
  lead_if_free(lock);
}

// ---- what the one who leads does

/// Runs `body` in one transaction. What it has to tell is told after the commit; after a failure
/// nothing of it is stored or told, and the log says so at most once a minute.
template <typename Body>
Status StateWriter::store(std::string_view doing, const Body& body,
                          const std::function<void()>& when_stored) {
  const auto changes_before = state_->db.total_changes();
  const auto run_all = [&]() -> Status {
    auto transaction = INDX_TRY(Database::Transaction::begin(state_->db));
    INDX_TRY(body());
    return transaction.commit();
  };
  const Status done = run_all();
  auto events = std::exchange(state_->fresh_events, {});
  const auto stops = std::exchange(state_->fresh_stops, {});
  if (!done.has_value()) {
    if (done.error().reason != Reason::StaleLease) complain(doing, done.error());
    return done;
  }
  // A transaction that had nothing to write proves nothing.
  if (state_->db.total_changes() != changes_before)
    if (const auto line = trouble_.worked(clock_.monotonic()))
      log_info("state.db can be written again", *line);
  if (when_stored) when_stored();
  if (!events.empty()) publish(std::move(events));
  for (const auto& [job, why] : stops) parts_.running.cancel(job, why);
  return done;
}

void StateWriter::publish(std::vector<Event> events) {
  count_job_events(parts_, events);
  if (!parts_.is_audit_asked.exchange(true))
    caf::delayed_anon_send(directory_.get<AuditActor>(), kAuditDelay, atom::tick_atom::value);
  if (parts_.has_subscribers)
    return caf::anon_send(directory_.get<EventBusActor>(), atom::publish_atom::value,
                          EventBatch{std::move(events)});
  for (const Event& event : events)
    if (event.id > 0) parts_.told_event = event.id;
}

/// After a failure nothing of `body` is told either.
template <typename Body>
auto StateWriter::in_savepoint(const Body& body) -> decltype(body()) {
  const auto events_before = state_->fresh_events.size();
  const auto stops_before = state_->fresh_stops.size();
  auto result = state_->db.savepoint(body);
  if (!result.has_value()) {
    state_->fresh_events.resize(events_before);
    state_->fresh_stops.resize(stops_before, {JobId(), CancelReason::None});
  }
  return result;
}

void StateWriter::complain(std::string_view doing, const Error& error) {
  if (const auto line = trouble_.failed(doing, error, clock_.monotonic()))
    log_error("state.db cannot be written", *line);
}

Status StateWriter::apply(Round& round) {
  for (auto* call : round.calls) {
    for (const auto& change : call->changes) {
      call->results.push_back(in_savepoint([&] { return run_change(change.apply, *state_); }));
      // Without its transaction the rest of the batch would be stored one by one.
      if (!call->results.back().has_value() && !state_->db.is_in_transaction())
        return call->results.back().error();
    }
  }
  return {};
}

Status StateWriter::give_back(Round& round) {
  for (const auto& lease : round.owed.given_back) {
    const auto done =
        in_savepoint([&] { return state_->finish(lease, {.kind = JobOutcome::Kind::Returned}); });
    if (!state_->db.is_in_transaction()) return done.error();
    // Nearly always its end was stored before.
    if (done.has_value() || done.error().reason == Reason::StaleLease) {
      parts_.running.remove(lease);
    } else {
      complain("job given back", done.error());
      round.failed.given_back.push_back(lease);
    }
  }
  return put_back(round.owed.unbegun);
}

Status StateWriter::put_back(const std::vector<Lease>& unbegun) {
  for (const auto& lease : unbegun) {
    if (INDX_TRY(state_->queue.put_back(lease))) continue;
    const auto ended = state_->finish(lease, {.kind = JobOutcome::Kind::Returned});
    if (!ended.has_value() && ended.error().reason != Reason::StaleLease) return ended.error();
  }
  if (!unbegun.empty()) state_->jobs_changed = true;
  return {};
}

/// Within the change of somebody who acts on jobs.
Status StateWriter::recall() {
  if (round_ == nullptr) return {};
  std::vector<Lease> unbegun;
  {
    const std::scoped_lock lock(mutex_);
    unbegun = handout_.recall();
  }
  round_->recalled.insert(round_->recalled.end(), unbegun.begin(), unbegun.end());
  return put_back(unbegun);
}

/// What runners owe, as one part of the transaction; where that fails, one by one.
Status StateWriter::store_ends(Round& round) {
  const auto& begun = round.owed.begun;
  auto& ends = round.owed.ends;
  if (begun.empty() && ends.empty()) return {};
  const auto tell = [&]() -> Status {
    for (const auto& [job, at] : begun) INDX_TRY(state_->tell_started(*job, at));
    return {};
  };
  const Status all = in_savepoint([&]() -> Status {
    INDX_TRY(tell());
    for (const auto& end : ends) INDX_TRY(run_change(end.store, *state_));
    return {};
  });
  if (all.has_value() || !state_->db.is_in_transaction()) return all;
  // A start that cannot be told must not keep the others from being stored.
  if (const Status told = in_savepoint(tell); !told.has_value()) {
    if (!state_->db.is_in_transaction()) return told;
    complain("start of a job", told.error());
  }
  for (auto& end : std::exchange(ends, {})) {
    const auto done = in_savepoint([&] { return run_change(end.store, *state_); });
    if (!state_->db.is_in_transaction()) return done.error();
    const bool fails_again = !done.has_value() && end_again(end, done.error());
    if (fails_again) round.failed.is_awaited |= end.runner.has_value();
    (fails_again ? round.failed.ends : ends).push_back(std::move(end));
  }
  return {};
}

/// Whether an end that cannot be stored is tried again: not when the job is another's by now.
bool StateWriter::end_again(const JobEnd& end, const Error& error) {
  if (error.reason == Reason::StaleLease) parts_.metrics.job_leases_lost.add();
  if (error.is_retryable()) {
    complain("end of a job", error);
    return true;
  }
  log_warn("end of job not stored", {{"job_id", end.lease.job.value}, {"error", error.message}});
  return false;
}

/// A claim that fails is tried again later, and undoes nothing of the changes before it.
Status StateWriter::claim(Round& round) {
  state_->jobs_changed = false;
  auto jobs =
      in_savepoint([&] { return state_->claim(static_cast<int>(round.wanted), round.ahead); });
  if (jobs.has_value()) {
    round.claimed = std::move(jobs).value();
    return {};
  }
  if (!state_->db.is_in_transaction()) return jobs.error();
  complain("claim of a job", jobs.error());
  round.has_failed = true;
  return {};
}

void StateWriter::wake_when_due() {
  const auto due = state_->queue.next_due();
  if (!due.has_value() || !due.value()) return;
  const auto now = clock_.now();
  if (wakes_at_ && *wakes_at_ > now && *wakes_at_ <= **due) return;
  const auto wait = std::max(**due - now, milliseconds(1));
  if (wait >= parts_.config.jobs.heartbeat) return;  // the tick sees to it
  wakes_at_ = now + wait;
  caf::delayed_anon_send(directory_.get<StateActor>(), wait, atom::commit_atom::value);
}

// ---- upkeep

void StateWriter::heartbeat() {
  const Turn turn(*this);
  wakes_at_.reset();
  const Status beat = store("heartbeat", [&]() -> Status {
    for (const auto& [job, is_pause] : INDX_TRY(state_->queue.heartbeat(parts_.instance)))
      state_->fresh_stops.emplace_back(job,
                                       is_pause ? CancelReason::Pause : CancelReason::Requested);
    return {};
  });
  if (!beat.has_value()) log_debug("no heartbeat", {{"error", beat.error().message}});
}

Result<bool> StateWriter::prune() {
  const Turn turn(*this);
  bool is_more = false;
  INDX_TRY(store("removal of old rows", [&]() -> Status {
    is_more = !INDX_TRY(state_->prune()).is_done;
    return {};
  }));
  if (is_more) return true;
  // Files of rows that are gone: after the commit, so that a rollback never leaves a row without
  // its file.
  for (const auto& swept : {state_->queue.sweep_spill(), state_->versions.sweep_files()})
    if (!swept.has_value())
      log_warn("old files were not removed", {{"error", swept.error().message}});
  return false;
}

void StateWriter::bound_wal() {
  const Turn turn(*this);
  if (state_->db.wal_bytes() <= kMaxWalBytes) return;
  const auto now = clock_.monotonic();
  const auto moved = state_->db.checkpoint(kCheckpointPatience);
  if (moved.has_value() && moved->is_complete) {
    if (const auto line = pinned_wal_.worked(now))
      log_info("the write-ahead log of state.db is short again", *line);
    return;
  }
  const auto error = moved.has_value() ? make_error(Reason::Unavailable,
                                                    "A reader still needs the write-ahead log.")
                                       : moved.error();
  if (auto line = pinned_wal_.failed("checkpoint", error, now)) {
    (*line)["bytes"] = state_->db.wal_bytes();
    log_warn("the write-ahead log of state.db cannot be made shorter", *line);
  }
}

std::optional<Job> StateWriter::time_out(const Lease& lease) {
  const Turn turn(*this);
  Job job;
  const Status ended = store("end of a try", [&]() -> Status {
    if (const auto now = INDX_TRY(state_->queue.get(lease.job))) job = *now;
    INDX_TRY(state_->finish(
        lease, {.kind = JobOutcome::Kind::TimedOut, .error = time_limit_passed(job.time_limit)}));
    return {};
  });
  if (!ended.has_value()) return std::nullopt;
  return job;
}

std::optional<milliseconds> StateWriter::next_schedule_in(milliseconds longest) {
  const Turn turn(*this);
  return state_->next_schedule_in(longest);
}

}  // namespace indx
