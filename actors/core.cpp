#include "actors/core.hpp"

#include "actors/ai_op.hpp"
#include "actors/directory.hpp"
#include "actors/engine_metrics.hpp"
#include "base/clock.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"

#include <caf/actor_system.hpp>
#include <caf/logger.hpp>
#include <caf/scoped_actor.hpp>

namespace indx {
namespace {

constexpr std::chrono::seconds kWriteDeadline{60}, kBusDeadline{10};
constexpr std::chrono::hours kScanDeadline{6};
constexpr std::chrono::minutes kModelDeadline{30};  // the provider's own timeouts are far shorter
constexpr std::chrono::seconds kTokenCache{30};
constexpr std::chrono::milliseconds kAbandonedAfter{500};

Error overloaded(const char* who) {
  return make_error(Reason::Unavailable,
                    cat("The ", who, " has too much to do; try again in a second."),
                    {{"retry_after_s", 1}});
}

template <typename Answer, typename Handle, typename... Args>
std::optional<Answer> ask(caf::actor_system& system, const Handle& actor, caf::timespan deadline,
                          Args&&... args) {
  std::optional<Answer> answer;
  if (!actor) return answer;
  {
    caf::scoped_actor self(system);
    self->request(actor, deadline, std::forward<Args>(args)...)
        .receive([&](Answer& reply) { answer.emplace(std::move(reply)); }, [](caf::error&) {});
  }
  // A scoped actor leaves a reference to the system's logger in this thread, and the system waits
  // for the last one.
  caf::logger::set_current_actor_system(nullptr);
  return answer;
}

template <typename Handle, typename... Args>
Result<Json> ask_for_reply(caf::actor_system& system, const char* who, const Handle& actor,
                           caf::timespan deadline, Args&&... args) {
  auto answer = ask<Reply>(system, actor, deadline, std::forward<Args>(args)...);
  if (!answer)
    return make_error(Reason::Unavailable, cat("The ", who, " did not answer; try again."),
                      {{"retry_after_s", 1}});
  return std::move(answer->result);
}

}  // namespace

Status Core::open() {
  const std::scoped_lock lock(reader_mutex_);
  reader_.emplace(INDX_TRY(open_state_db_reader(parts.config.index_dir)));
  return {};
}

Result<Json> Core::change(std::function<Result<Json>(State&)> apply) {
  const auto permit = parts.state_permits.try_take();
  if (!permit) return overloaded("state writer");
  return state_writer.change(StateChange{std::move(apply)});
}

void Core::change_later(std::chrono::milliseconds delay,
                        std::function<Result<Json>(State&)> apply) {
  caf::delayed_anon_send(directory_.get<StateActor>(), delay, atom::change_atom::value,
                         StateChange{std::move(apply)});
}

Result<WriteOutcome> Core::write(WriteRequest request) {
  const auto permit = parts.writer_permits.try_take();
  if (!permit) return overloaded("vault writer");
  const auto reply =
      INDX_TRY(ask_for_reply(system_, "vault writer", directory_.get<WriterActor>(), kWriteDeadline,
                             atom::write_atom::value, WriteOrder{std::move(request)}));
  return write_outcome_from_json(reply);
}

Result<Json> Core::check_etags(EtagCheck check) {
  return ask_for_reply(system_, "vault writer", directory_.get<WriterActor>(), kWriteDeadline,
                       atom::check_atom::value, std::move(check));
}

Result<Json> Core::scan(ScanRequest request) {
  const auto permit = parts.indexer_permits.try_take();
  if (!permit) return overloaded("indexer");
  return ask_for_reply(system_, "indexer", directory_.get<IndexerActor>(), kScanDeadline,
                       atom::scan_atom::value, std::move(request));
}

Result<Json> Core::change_vectors(std::function<Result<Json>(NoteIndexWriter&)> apply) {
  const auto permit = parts.indexer_permits.try_take();
  if (!permit) return overloaded("indexer");
  return ask_for_reply(system_, "indexer", directory_.get<IndexerActor>(), kWriteDeadline,
                       atom::vectors_atom::value, VectorChange{std::move(apply)});
}

// One actor a lane thread, so a call never queues behind another's.
Result<GenerateReply> Core::model_call(ModelCall call) {
  thread_local caf::actor_system* owner =
      nullptr;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): per thread
  thread_local AiOpActor
      actor;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): per thread
  if (owner != &system_ || !actor) {
    owner = &system_;
    actor = spawn_ai_op(system_, &parts);
  }
  auto answer =
      ask<ModelReply>(system_, actor, kModelDeadline, atom::model_atom::value, std::move(call));
  if (!answer) {
    actor = nullptr;
    return make_error(Reason::Unavailable, "The model call did not end; try again.");
  }
  count_model_call(parts.metrics, parts.provider->name(), answer->result);
  return std::move(answer->result);
}

Result<std::int64_t> Core::join(EventFilter filter, std::optional<std::string> last_event_id,
                                std::function<bool(const Event&)> sink) {
  SubscribeRequest request{.filter = std::move(filter),
                           .last_event_id = std::move(last_event_id),
                           .sink = std::move(sink)};
  {
    const std::scoped_lock lock(subscriptions_mutex_);
    request.number = ++last_subscription_;
    subscriptions_[request.number] = request;
  }
  const auto number = request.number;
  const auto joined = ask_for_reply(system_, "event bus", directory_.get<EventBusActor>(),
                                    kBusDeadline, atom::join_atom::value, std::move(request));
  if (joined.has_value()) return number;
  leave(number);  // it may have joined all the same
  return joined.error();
}

void Core::leave(std::int64_t subscription) {
  {
    const std::scoped_lock lock(subscriptions_mutex_);
    subscriptions_.erase(subscription);
  }
  if (auto bus = directory_.get<EventBusActor>())
    caf::anon_send(bus, atom::leave_atom::value, subscription);
}

void Core::join_all_again() {
  const auto bus = directory_.get<EventBusActor>();
  // Under the lock, so that none joins behind its own leave.
  const std::scoped_lock lock(subscriptions_mutex_);
  for (const auto& [number, known] : subscriptions_) {
    SubscribeRequest request = known;
    request.last_event_id = "";  // of no epoch: what was told meanwhile is not known
    caf::anon_send(bus, atom::join_atom::value, std::move(request));
  }
}

Result<Job> Core::job(const JobId& id) {
  auto job = INDX_TRY(read_queue([&](JobStore& queue) { return queue.get(id); }));
  if (!job) return not_found(cat("There is no job ", id.value, "."), {{"id", id.value}});
  return std::move(*job);
}

Result<std::optional<Json>> Core::find_step(const JobId& job, const std::string& key,
                                            const std::string& inputs_hash) {
  return read_queue([&](JobStore& queue) { return queue.find_step(job, key, inputs_hash); });
}

Result<Job> Core::cancel_job(const JobId& id) {
  return change_for<Job>([id](State& state) { return state.request_cancel(id); });
}

void Core::add_waiter(const JobId& id) {
  const std::scoped_lock lock(waiters_mutex_);
  ++waiters_[id];
}

void Core::remove_waiter(const JobId& id) {
  {
    const std::scoped_lock lock(waiters_mutex_);
    const auto it = waiters_.find(id);
    if (it == waiters_.end() || --it->second > 0) return;
    waiters_.erase(it);
  }
  change_later(kAbandonedAfter, [this, id](State& state) -> Result<Json> {
    {
      const std::scoped_lock lock(waiters_mutex_);
      if (waiters_.contains(id)) return Json();
    }
    const auto job = INDX_TRY(state.queue.get(id));
    if (!job || job->keep || job->is_final()) return Json();
    INDX_TRY(state.request_cancel(id));
    return Json();
  });
}

Result<Principal> Core::authenticate(const std::string& token) {
  const auto refuse = [] {
    return make_error(Reason::Unauthorized,
                      "This call needs a valid token: send `Authorization: Bearer indx_…`.");
  };
  if (!token.starts_with("indx_") || token.size() > 200) return refuse();
  const auto key = sha256_hex(token);
  const auto now = parts.clock.monotonic();
  const std::scoped_lock lock(tokens_mutex_);
  if (const auto it = tokens_.find(key); it != tokens_.end() && it->second.second > now)
    return it->second.first;
  const auto record =
      INDX_TRY(read_state([&](Database& db) { return TokenStore(db).find(token); }));
  if (!record) return refuse();
  Principal principal{.subject = subject_of_token(record->id), .path_globs = record->path_globs};
  for (const auto& scope : record->scopes)
    if (const auto parsed = parse_scope(scope)) principal.scopes.insert(*parsed);
  // Jobs, events and tokens of others reach beyond any folder: a token bound to folders is no
  // admin.
  if (!principal.path_globs.empty() && principal.scopes.erase(Scope::VaultAdmin) > 0)
    principal.scopes.insert({Scope::VaultRead, Scope::VaultWrite});
  if (tokens_.size() > 10000) tokens_.clear();
  tokens_.insert_or_assign(key, std::pair(principal, now + kTokenCache));
  change_later(milliseconds(0), [id = record->id](State& state) -> Result<Json> {
    INDX_TRY(state.tokens.touch(id, state.clock.now()));
    return Json();
  });
  return principal;
}

void Core::forget_tokens() {
  const std::scoped_lock lock(tokens_mutex_);
  tokens_.clear();
}

/// Who reads the token in the index folder owns the files, and is the same with a server and
/// without one: finds the same jobs.
std::string Core::subject_of_token(const std::string& id) const {
  return id == parts.owner_token_id ? "local" : id;
}

void Core::end_streams_of(const std::string& subject) {
  EventBatch batch;
  batch.events.push_back({.kind = std::string(kTokenRevoked),
                          .at = parts.clock.now(),
                          .actor = "system",
                          .subject = subject});
  if (auto bus = directory_.get<EventBusActor>())
    caf::anon_send(bus, atom::publish_atom::value, std::move(batch));
}

Result<std::shared_ptr<const Corpus>> Core::corpus(const PathScope& scope) {
  const std::scoped_lock lock(corpus_mutex_);
  const auto generation = INDX_TRY(parts.index->generation());
  const auto key = cat(generation, "\n", indx::join(scope.any_of, "\n"), "\n\n",
                       indx::join(scope.none_of, "\n"));
  if (corpus_ && key == corpus_key_) return corpus_;
  auto built = std::make_shared<Corpus>();
  INDX_TRY(parts.index->visit_texts([&](NoteIndexReader::NoteText note) {
    if (scope.allows(note.path))
      built->add(note.path, cat(note.title, "\n", note.text), std::move(note.tags));
  }));
  built->finish();
  corpus_key_ = key;
  corpus_ = built;
  return corpus_;
}

Status Core::ensure_scanned() {
  if (!scans_on_demand) return {};
  return scan_once();
}

// The indexer works through its mailbox in order, and a write is sent there before its answer.
Status Core::catch_up() {
  const auto permit = parts.indexer_permits.try_take();
  if (!permit) return overloaded("indexer");
  INDX_TRY(ask_for_reply(system_, "indexer", directory_.get<IndexerActor>(), kWriteDeadline,
                         atom::index_atom::value, IndexRequest{}));
  return {};
}

Status Core::scan_once() {
  std::call_once(scanned_, [this] {
    const auto done = scan({});
    if (!done.has_value()) scan_status_ = done.error();
  });
  return scan_status_;
}

std::optional<std::string> Core::revision(bool of_index, const std::vector<std::string>& paths) {
  /// A file that changed so shortly ago may change again within the same tick of its clock.
  constexpr std::chrono::seconds kSettledAge{2};
  std::string text;
  if (of_index) {
    if (scans_on_demand) return std::nullopt;  // nobody watches the files
    auto index = parts.index->revision();
    if (!index) return std::nullopt;
    text = std::move(*index);
  }
  for (const auto& given : paths) {
    const auto path = NotePath::parse(given);
    if (!path) return std::nullopt;
    const auto file = parts.vault.stat(*path);
    if (!file) return std::nullopt;
    if (parts.clock.now() - from_millis(file->ctime_ns / 1'000'000) < kSettledAge)
      return std::nullopt;
    text += cat(' ', file->inode, '-', file->size, '-', file->mtime_ns, '-', file->ctime_ns);
  }
  return text;
}

}  // namespace indx
