#include "actors/vault_writer.hpp"

#include "actors/note_write.hpp"
#include "base/hash.hpp"
#include "base/unicode.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <set>
#include <thread>

namespace indx {
namespace {

constexpr std::size_t kMaxInFlight = 32;
/// How often an edit is made anew on top of what somebody else wrote in between.
constexpr int kMaxTries = 10;
/// Files that wait for the disk at the same time.
constexpr std::size_t kMaxSyncs = 8;
constexpr std::chrono::seconds kCommitDeadline{30}, kIndexDeadline{2};
constexpr std::chrono::milliseconds kFinishAgain{50};
/// Own writes that are remembered to tell them from edits by others.
constexpr std::size_t kMaxRemembered = 100000;

Error no_answer(const char* who) {
  return make_error(Reason::Unavailable, std::string("The ") + who + " did not answer; try again.");
}

/// What a write keeps others from: its path in every case, so that of two names that differ only by
/// case the second meets the first (rule 1.6).
std::string busy_key(const NoteChange& change) { return fold_case(change.path.str()); }
std::string busy_key(const NoteWrite& write) { return busy_key(write.request.change); }

std::vector<SeenFile> files_to_index(const WriteOutcome& outcome) {
  const auto& path = outcome.path.str();
  std::vector<SeenFile> files;
  if (outcome.moved_from.empty()) return {{path, outcome.etag}};
  if (!outcome.etag.empty()) return {{outcome.moved_from, ""}, {path, outcome.etag}};
  for (const auto& file : outcome.moved_files) {
    files.push_back({outcome.moved_from + "/" + file, ""});
    files.push_back({path + "/" + file, ""});
  }
  return files;
}

bool is_any_of(const Json& paths, const std::vector<SeenFile>& files) {
  return std::any_of(files.begin(), files.end(), [&](const SeenFile& file) {
    return std::find(paths.begin(), paths.end(), file.path) != paths.end();
  });
}

/// Whether the change means the same on top of an edit that came in between.
bool fits_any_text(const NoteChange& change) {
  const bool is_edit =
      change.kind == NoteChange::Kind::Patch || change.kind == NoteChange::Kind::CanvasPatch;
  return is_edit && !change.is_for_one_version();
}

struct VaultWriterState {
  struct Waiting {
    WriteRequest request;
    caf::typed_response_promise<Reply> promise;
    int tries = 0;  ///< that met an edit of somebody else
  };
  /// One write between its plan and its reply.
  struct Flight {
    NoteWrite write;
    caf::typed_response_promise<Reply> promise;
    int tries = 0;
    Result<bool> is_performed = false;
    std::string displaced;         ///< what an external edit had put there
    std::optional<Error> failure;  ///< why it was abandoned after the promise

    void reply(Reply answer) {
      promise.deliver(std::move(answer));
      promise = {};
    }
  };
  using FlightPtr = std::shared_ptr<Flight>;  // shared: by the continuations of one write

  explicit VaultWriterState(WriterActor::pointer self_pointer) : self(self_pointer) {}
  VaultWriterState(const VaultWriterState&) = delete;
  VaultWriterState& operator=(const VaultWriterState&) = delete;
  /// An owed answer keeps its actor alive, so the end of the actor has to settle them. What was
  /// promised to the state database is settled by the next writer.
  ~VaultWriterState() {
    for (auto& next : waiting) next.promise.deliver(actor_is_gone());
    for (const auto& flight : flights) flight->reply(actor_is_gone());
    for (auto& drain : drains) drain.deliver(actor_is_gone());
  }

  void pump();
  void finish(const FlightPtr& flight);
  void start(Waiting waiting);
  void commit(StateChange change, const FlightPtr& flight,
              void (VaultWriterState::*next)(const FlightPtr&, Result<Json>));
  void on_promised(const FlightPtr& flight, Result<Json> promised);
  void perform();
  void on_performed(const FlightPtr& flight);
  void abandon_late(const FlightPtr& flight);
  void on_abandoned(const FlightPtr& flight, Result<Json> abandoned);
  void on_abandoned_late(const FlightPtr& flight, Result<Json> abandoned);
  void on_done(const FlightPtr& flight, Result<Json> done);
  void index();
  void land(const FlightPtr& flight, Result<Json> result);
  void leave(const std::string& key);
  void seen(IndexRequest request);

  WriterActor::pointer self;
  Parts* parts = nullptr;
  Directory* directory = nullptr;
  std::deque<Waiting> waiting;
  bool is_moving = false;                        ///< a move is in flight: it is alone
  std::set<std::string> busy;                    ///< keys of the paths in flight
  std::set<FlightPtr> flights;                   ///< writes that owe an answer
  std::vector<FlightPtr> promised;               ///< to be performed, all at once
  std::vector<FlightPtr> performed;              ///< done and stored, to be indexed all at once
  std::map<std::string, std::string> own_etags;  ///< path → etag of our last committed write
  std::vector<FlightPtr> unfinished;             ///< written, but the end is not stored yet
  std::vector<FlightPtr> unabandoned;            ///< answered, but the promise is not dropped yet
  std::vector<SeenFile> deferred;                ///< seen while the path was in flight
  bool defers_scan = false;                      ///< the same for a comparison of everything
  std::vector<caf::typed_response_promise<Reply>> drains;
  inline static const char* name = "vault_writer";
};

void VaultWriterState::finish(const FlightPtr& flight) {
  commit({[flight](State& state) -> Result<Json> {
           INDX_TRY(finish_write(state, flight->write.intent, flight->write.outcome));
           return Json();
         }},
         flight, &VaultWriterState::on_done);
}

void VaultWriterState::pump() {
  for (const auto& flight : std::exchange(unfinished, {})) finish(flight);
  for (const auto& flight : std::exchange(unabandoned, {})) abandon_late(flight);
  std::set<std::string> passed;  // an older write of the same key goes first
  for (auto it = waiting.begin(); it != waiting.end() && busy.size() < kMaxInFlight;) {
    const auto key = busy_key(it->request.change);
    // A move takes many paths: it waits for all before it, and all behind it wait for it.
    const bool is_move = it->request.change.kind == NoteChange::Kind::Move;
    if (is_moving || (is_move && !busy.empty())) break;
    is_moving = is_move;
    if (busy.contains(key) || !passed.insert(key).second) {
      ++it;
      continue;
    }
    Waiting next = std::move(*it);
    it = waiting.erase(it);
    passed.erase(key);
    busy.insert(key);
    start(std::move(next));
  }
  if (!busy.empty() || !waiting.empty()) return;
  for (auto& drain : drains) drain.deliver(Reply{});
  drains.clear();
}

void VaultWriterState::start(Waiting next) {
  const auto key = busy_key(next.request.change);
  auto planned = plan_write(parts->vault, std::move(next.request), parts->clock, parts->random);
  if (!planned.has_value()) {
    next.promise.deliver(Reply{planned.error()});
    return leave(key);
  }
  auto flight = std::make_shared<Flight>(
      Flight{.write = std::move(planned).value(), .promise = next.promise, .tries = next.tries});
  flights.insert(flight);
  const auto& write = flight->write;
  if (write.request.change.dry_run ||
      (!write.outcome.changed && !write.request.lease && !write.request.idempotency))
    return land(flight, to_json(write.outcome));
  if (!write.outcome.changed) return finish(flight);
  commit({[flight](State& state) -> Result<Json> {
           INDX_TRY(begin_write(state, flight->write));
           return Json();
         }},
         flight, &VaultWriterState::on_promised);
}

void VaultWriterState::commit(StateChange change, const FlightPtr& flight,
                              void (VaultWriterState::*next)(const FlightPtr&, Result<Json>)) {
  self->request(directory->get<StateActor>(), kCommitDeadline, atom::change_atom::value,
                std::move(change))
      .then(
          [this, flight, next](Reply& reply) { (this->*next)(flight, std::move(reply.result)); },
          [this, flight, next](caf::error&) { (this->*next)(flight, no_answer("state writer")); });
}

void VaultWriterState::on_promised(const FlightPtr& flight, Result<Json> result) {
  if (!result.has_value()) return land(flight, result.error());
  promised.push_back(flight);
  // The promises of one commit arrive together, and this message behind them.
  if (promised.size() == 1) self->send(self, atom::perform_atom::value);
}

// One disk sync can serve several files that wait for it at the same time.
void VaultWriterState::perform() {
  const auto batch = std::exchange(promised, {});
  for (const auto& flight : batch) parts->own_writes.expect(flight->write.outcome);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (auto i = next++; i < batch.size(); i = next++)
      batch[i]->is_performed = perform_write(parts->vault, batch[i]->write, &batch[i]->displaced);
  };
  {
    const auto more = parts->vault.durability() == Durability::Off ? 1 : batch.size();
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < std::min(more, kMaxSyncs); ++i) threads.emplace_back(work);
    work();
  }
  for (const auto& flight : batch) on_performed(flight);
}

void VaultWriterState::on_performed(const FlightPtr& flight) {
  const auto& done = flight->is_performed;
  if (done.has_value() && done.value()) return finish(flight);
  const auto& write = flight->write;
  parts->own_writes.forget(write.outcome);
  flight->failure = done.has_value()
                        ? etag_mismatch(write.outcome.path, write.outcome.old_etag,
                                        flight->displaced.empty() ? "" : etag_of(flight->displaced))
                        : done.error();
  commit({[flight](State& state) -> Result<Json> {
           INDX_TRY(abandon_write(state, flight->write, flight->displaced));
           return Json();
         }},
         flight, &VaultWriterState::on_abandoned);
}

void VaultWriterState::on_abandoned(const FlightPtr& flight, Result<Json> abandoned) {
  if (!abandoned.has_value() && abandoned.error().is_retryable()) {
    // The caller hears of its failure now; the path stays taken until the promise is dropped.
    flight->reply(Reply{*flight->failure});
    return on_abandoned_late(flight, std::move(abandoned));
  }
  const bool met_edit = flight->is_performed.has_value() && abandoned.has_value();
  if (!met_edit || flight->tries == kMaxTries || !fits_any_text(flight->write.request.change))
    return land(flight, *flight->failure);
  const auto key = busy_key(flight->write);
  waiting.push_front({std::move(flight->write.request), flight->promise, flight->tries + 1});
  flight->promise = {};
  flights.erase(flight);
  leave(key);
}

void VaultWriterState::abandon_late(const FlightPtr& flight) {
  commit({[flight](State& state) -> Result<Json> {
           const bool was_open = INDX_TRY(abandon_write(state, flight->write, flight->displaced));
           // The answer could not release the key of its call while the promise stood.
           const auto& request = flight->write.request;
           if (was_open && request.idempotency)
             INDX_TRY(state.idempotency.release(request.subject, request.idempotency->operation,
                                                request.idempotency->key));
           return Json();
         }},
         flight, &VaultWriterState::on_abandoned_late);
}

void VaultWriterState::on_abandoned_late(const FlightPtr& flight, Result<Json> abandoned) {
  if (!abandoned.has_value() && abandoned.error().is_retryable()) {
    unabandoned.push_back(flight);
    self->delayed_send(self, kFinishAgain, atom::pump_atom::value);
    return;
  }
  flights.erase(flight);
  leave(busy_key(flight->write));
}

void VaultWriterState::on_done(const FlightPtr& flight, Result<Json> done) {
  if (!done.has_value()) {
    if (!done.error().is_retryable()) return land(flight, done.error());
    unfinished.push_back(flight);  // past its promise a write always goes on to its end (G7)
    self->delayed_send(self, kFinishAgain, atom::pump_atom::value);
    return;
  }
  const auto& outcome = flight->write.outcome;
  const auto path = outcome.path.str();
  if (own_etags.size() >= kMaxRemembered) own_etags.clear();
  own_etags[path] = outcome.etag;
  if (!outcome.moved_from.empty()) own_etags[outcome.moved_from] = "";
  if (!outcome.changed) return land(flight, to_json(outcome));
  performed.push_back(flight);
  if (performed.size() == 1) self->send(self, atom::index_atom::value);
}

void VaultWriterState::index() {
  const auto batch = std::exchange(performed, {});
  IndexRequest request;
  for (const auto& flight : batch)
    for (auto& file : files_to_index(flight->write.outcome))
      request.files.push_back(std::move(file));
  // `failed`: paths; null: nothing was indexed
  const auto finish = [this, batch](const Json& failed) {
    for (const auto& flight : batch) {
      auto& outcome = flight->write.outcome;
      const bool is_pending = failed.is_null() || is_any_of(failed, files_to_index(outcome));
      if (is_pending) outcome.warnings.push_back("index_pending");
      flight->reply(Reply{to_json(outcome)});
      flights.erase(flight);
    }
  };
  self->request(directory->get<IndexerActor>(), kIndexDeadline, atom::index_atom::value,
                std::move(request))
      .then([finish](Reply& reply) { finish(reply.result.value_or(Json())); },
            [finish](caf::error&) { finish(Json()); });
  // After the request: what was seen meanwhile is indexed by then.
  for (const auto& flight : batch) leave(busy_key(flight->write));
}

void VaultWriterState::land(const FlightPtr& flight, Result<Json> result) {
  flight->reply(Reply{std::move(result)});
  flights.erase(flight);
  leave(busy_key(flight->write));
}

void VaultWriterState::leave(const std::string& key) {
  busy.erase(key);
  is_moving = false;  // a move is alone
  if (!deferred.empty() || defers_scan) {
    IndexRequest again{{}, true, std::exchange(defers_scan, false)};
    again.files.swap(deferred);
    seen(std::move(again));
  }
  self->send(self, atom::pump_atom::value);
}

void VaultWriterState::seen(IndexRequest request) {
  IndexRequest external{{}, true};
  if (is_moving) {
    std::move(request.files.begin(), request.files.end(), std::back_inserter(deferred));
    defers_scan = defers_scan || request.then_scan;
    return;
  }
  for (auto& file : request.files) {
    if (busy.contains(fold_case(file.path))) {
      deferred.push_back(std::move(file));
      continue;
    }
    const auto own = own_etags.find(file.path);
    if (own != own_etags.end() && own->second == file.etag) continue;
    // The last state of the path is no longer ours: the same bytes may come back by another hand.
    if (own != own_etags.end()) own_etags.erase(own);
    external.files.push_back(std::move(file));
  }
  if (!external.files.empty())
    caf::anon_send(directory->get<IndexerActor>(), atom::index_atom::value, std::move(external));
  if (request.then_scan)
    caf::anon_send(directory->get<IndexerActor>(), atom::scan_atom::value,
                   ScanRequest{.is_external = true});
}

WriterActor::behavior_type vault_writer(WriterActor::stateful_pointer<VaultWriterState> self,
                                        Parts* parts, Directory* directory) {
  self->state.parts = parts;
  self->state.directory = directory;
  // A predecessor that ended in the middle of a write left its promise open.
  caf::anon_send(directory->get<StateActor>(), atom::change_atom::value,
                 StateChange{[parts](State& state) -> Result<Json> {
                   INDX_TRY(settle_writes(state, parts->vault));
                   return Json();
                 }});
  return {
      [self](atom::write_atom, WriteOrder& order) -> caf::result<Reply> {
        auto promise = self->make_response_promise<Reply>();
        self->state.waiting.push_back({std::move(*order.request), promise});
        self->state.pump();
        return promise;
      },
      [self, parts](atom::check_atom, const EtagCheck& check) -> Reply {
        Json failed = Json::array();
        for (const auto& [path, expected] : check.expected) {
          const auto file = parts->vault.read_in_place(path);
          const auto actual = file.has_value() ? file->etag : std::string();
          if (!is_wanted_version(expected, actual))
            failed.push_back({{"path", path.str()}, {"expected", expected}, {"actual", actual}});
        }
        return {failed};
      },
      [self](atom::seen_atom, IndexRequest& request) { self->state.seen(std::move(request)); },
      [self](atom::pump_atom) { self->state.pump(); },
      [self](atom::perform_atom) { self->state.perform(); },
      [self](atom::index_atom) { self->state.index(); },
      [self](atom::drain_atom) -> caf::result<Reply> {
        auto promise = self->make_response_promise<Reply>();
        self->state.drains.push_back(promise);
        self->state.pump();
        return promise;
      },
  };
}

}  // namespace

WriterActor spawn_vault_writer(caf::actor_system& system, Parts* parts, Directory* directory) {
  return system.spawn<caf::detached>(vault_writer, parts, directory);
}

}  // namespace indx
