#include "actors/vault_writer.hpp"

#include "actors/note_write.hpp"
#include "base/hash.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <deque>
#include <map>
#include <set>

namespace indx {
namespace {

constexpr std::size_t kMaxInFlight = 16;
constexpr std::chrono::seconds kCommitDeadline{30}, kIndexDeadline{2};
constexpr std::chrono::milliseconds kFinishAgain{50};
/// Own writes that are remembered to tell them from edits by others.
constexpr std::size_t kMaxRemembered = 100000;

Error no_answer(const char* who) {
  return make_error(Reason::Unavailable, std::string("The ") + who + " did not answer; try again.");
}

/// The path that a write keeps others from.
const std::string& busy_path(const NoteWrite& write) { return write.request.change.path.str(); }

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

struct VaultWriterState {
  struct Waiting {
    WriteRequest request;
    caf::typed_response_promise<Reply> promise;
  };
  /// One write between its plan and its reply.
  struct Flight {
    NoteWrite write;
    caf::typed_response_promise<Reply> promise;
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
  void on_abandoned(const FlightPtr& flight, Result<Json> abandoned);
  void on_done(const FlightPtr& flight, Result<Json> done);
  void land(const FlightPtr& flight, Result<Json> result);
  void leave(const std::string& path);
  void seen(IndexRequest request);

  WriterActor::pointer self;
  Parts* parts = nullptr;
  Directory* directory = nullptr;
  std::deque<Waiting> waiting;
  bool is_moving = false;                        ///< a move is in flight: it is alone
  std::set<std::string> busy;                    ///< paths in flight
  std::set<FlightPtr> flights;                   ///< writes that owe an answer
  std::map<std::string, std::string> own_etags;  ///< path → etag of our last committed write
  std::vector<FlightPtr> unfinished;             ///< written, but the end is not stored yet
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
  std::set<std::string> passed;  // an older write of the same path goes first
  for (auto it = waiting.begin(); it != waiting.end() && busy.size() < kMaxInFlight;) {
    const auto path = it->request.change.path.str();
    // A move takes many paths: it waits for all before it, and all behind it wait for it.
    const bool is_move = it->request.change.kind == NoteChange::Kind::Move;
    if (is_moving || (is_move && !busy.empty())) break;
    is_moving = is_move;
    if (busy.contains(path) || !passed.insert(path).second) {
      ++it;
      continue;
    }
    Waiting next = std::move(*it);
    it = waiting.erase(it);
    passed.erase(path);
    busy.insert(path);
    start(std::move(next));
  }
  if (!busy.empty() || !waiting.empty()) return;
  for (auto& drain : drains) drain.deliver(Reply{});
  drains.clear();
}

void VaultWriterState::start(Waiting next) {
  const auto path = next.request.change.path.str();
  auto planned = plan_write(parts->vault, std::move(next.request), parts->clock, parts->random);
  if (!planned.has_value()) {
    next.promise.deliver(Reply{planned.error()});
    return leave(path);
  }
  auto flight = std::make_shared<Flight>(Flight{std::move(planned).value(), next.promise, {}});
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

void VaultWriterState::on_promised(const FlightPtr& flight, Result<Json> promised) {
  if (!promised.has_value()) return land(flight, promised.error());
  std::string displaced;
  parts->own_writes.expect(flight->write.outcome);
  auto performed = perform_write(parts->vault, flight->write, &displaced);
  if (performed.has_value() && performed.value()) return finish(flight);
  parts->own_writes.forget(flight->write.outcome);
  const auto& write = flight->write;
  flight->failure = performed.has_value()
                        ? etag_mismatch(write.outcome.path, write.outcome.old_etag,
                                        displaced.empty() ? "" : etag_of(displaced))
                        : performed.error();
  commit({[flight, displaced](State& state) -> Result<Json> {
           INDX_TRY(abandon_write(state, flight->write, displaced));
           return Json();
         }},
         flight, &VaultWriterState::on_abandoned);
}

// When even that commit failed, the promise stays open and the next start settles it.
void VaultWriterState::on_abandoned(const FlightPtr& flight, Result<Json> /*abandoned*/) {
  land(flight, *flight->failure);
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
  const auto finish = [this, flight](bool is_indexed) {
    auto& result = flight->write.outcome;
    if (!is_indexed) result.warnings.push_back("index_pending");
    flight->reply(Reply{to_json(result)});
    flights.erase(flight);
  };
  self->request(directory->get<IndexerActor>(), kIndexDeadline, atom::index_atom::value,
                IndexRequest{files_to_index(outcome), false})
      .then([finish](Reply& reply) { finish(reply.result.has_value()); },
            [finish](caf::error&) { finish(false); });
  leave(busy_path(flight->write));  // after the request: what was seen meanwhile is indexed by then
}

void VaultWriterState::land(const FlightPtr& flight, Result<Json> result) {
  flight->reply(Reply{std::move(result)});
  flights.erase(flight);
  leave(busy_path(flight->write));
}

void VaultWriterState::leave(const std::string& path) {
  busy.erase(path);
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
    if (busy.contains(file.path)) {
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
          const auto file = parts->vault.read(path);
          const auto actual = file.has_value() ? file->etag : std::string();
          if (actual != expected)
            failed.push_back({{"path", path.str()}, {"expected", expected}, {"actual", actual}});
        }
        return {failed};
      },
      [self](atom::seen_atom, IndexRequest& request) { self->state.seen(std::move(request)); },
      [self](atom::pump_atom) { self->state.pump(); },
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
