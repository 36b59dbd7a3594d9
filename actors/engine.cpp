#include "actors/engine.hpp"

#include "actors/engine_context.hpp"
#include "actors/engine_metrics.hpp"
#include "actors/note_write.hpp"
#include "actors/supervisor.hpp"
#include "ai/embed/builtin_embedder.hpp"
#include "ai/remote_embedder.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "ops/job_request.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scoped_actor.hpp>

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace indx {
namespace {

namespace fs = std::filesystem;

constexpr int kMostStuckHandlers = 2;

struct SystemConfig : caf::actor_system_config {
  SystemConfig() {
    // 12 to 17 times faster than stealing when a plain thread asks (platform.md 1.4). It must be an
    // atom.
    set("scheduler.policy", caf::atom("sharing"));
    set("scheduler.max-threads", std::size_t{2});
    add_message_types<caf::id_block::indx>();
  }
};

Result<VaultLock> lock_vault(const std::string& root) {
  // Another process may hold the lock for a moment, only to see whether somebody else does.
  for (int attempt = 0;; ++attempt) {
    auto lock = VaultLock::acquire(root);
    if (lock.has_value() || attempt == 20) return lock;
    std::this_thread::sleep_for(milliseconds(50));
  }
}

Status make_private_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error)
    return make_error(Reason::Unavailable,
                      cat("The index folder cannot be made: ", error.message(), "."));
  fs::permissions(path, fs::perms::owner_all, error);
  return {};
}

/// Whole or not at all, mode 0600.
Status write_private_file(const std::string& path, const std::string& content) {
  const auto temp = path + ".new";
  const int fd = ::open(temp.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return make_error(Reason::Unavailable, "The index folder is not writable.");
  const bool written =
      ::write(fd, content.data(), content.size()) == static_cast<ssize_t>(content.size());
  ::close(fd);
  std::error_code error;
  if (written) fs::rename(temp, path, error);
  if (!written || error)
    return make_error(Reason::Unavailable, "The index folder is not writable.");
  return {};
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

State::Settings state_settings(const Parts& parts, const EngineOptions& options) {
  State::Settings settings{.dir = parts.config.index_dir,
                           .durability = parts.config.durability,
                           .instance = parts.instance,
                           .jobs = parts.config.jobs,
                           .kinds = {},
                           .only_jobs = {},
                           .versions = {parts.config.versions_per_note, parts.config.version_days,
                                        parts.config.versions_max_bytes},
                           .time_zone = parts.config.time_zone,
                           .complete_request = [&registry = parts.registry](JobRequest& request) {
                             complete_request(registry, request);
                           }};
  if (parts.embedder)
    settings.wants_embedding = [&embedding = parts.embedding] {
      return !embedding.is_complete() && !embedding.is_of_other_model;
    };
  for (const Operation& operation : parts.registry.all())
    settings.kinds.push_back({.kind = operation.name,
                              .version = operation.version,
                              .resumes_other_versions = operation.job.resumes_other_versions,
                              .max_running = operation.job.max_running,
                              .retry = operation.job.retry});
  if (options.mode == EngineOptions::Mode::Command) settings.only_jobs = options.resume_jobs;
  return settings;
}

/// nullptr: jobs are claimed one by one, which needs none.
std::unique_ptr<RunMarks> open_run_marks(const std::string& dir) {
  auto marks = RunMarks::open(dir + "/runs", boot_id());
  if (marks.has_value()) return std::move(*marks);
  log_warn("jobs are claimed one by one", {{"error", marks.error().message}});
  return nullptr;
}

/// Of tries that ended in a process that was killed before it stored that.
Status store_ends(State& state, const RunMarks& marks) {
  for (const auto& [lease, result] : marks.ends()) {
    const auto ended = state.finish(lease, {.result = result});
    if (!ended.has_value() && ended.error().reason != Reason::StaleLease) return ended.error();
  }
  return {};
}

/// nullptr: search by meaning is off. Where it was asked for, the log says why.
Result<std::shared_ptr<Embedder>> configured_embedder(const AiConfig& ai) {
  using Made = std::shared_ptr<Embedder>;
  if (!ai.enabled || ai.embeddings_provider.empty()) return Made();
  if (ai.embeddings_provider != "builtin") return Made(INDX_TRY(make_remote_embedder(ai)));
  auto embedder = make_builtin_embedder(ai.embeddings_model_file);
  if (embedder.has_value()) return Made(std::move(*embedder));
  log_warn("search by meaning is off", {{"error", embedder.error().message}});
  return Made();
}

class BusSubscription : public Subscription {
 public:
  BusSubscription(Core& core, std::int64_t number) : core_(core), number_(number) {}
  ~BusSubscription() override { core_.leave(number_); }

 private:
  Core& core_;
  std::int64_t number_;
};

class EngineImpl : public Engine {
 public:
  EngineImpl(VaultLock lock, std::unique_ptr<Parts> parts, EngineOptions options)
      : lock_(std::move(lock)), parts_(std::move(parts)), options_(std::move(options)) {}
  ~EngineImpl() override { EngineImpl::stop(); }

  Status prepare();
  Status spawn();

  const Config& config() const override { return parts_->config; }
  const Clock& clock() const override { return parts_->clock; }
  bool has_provider() const override { return parts_->provider != nullptr; }
  AiRoles ai_roles() const override {
    return {.chat = has_provider(), .embeddings = parts_->embedder != nullptr};
  }
  bool is_draining() const override { return parts_->is_draining; }
  Json health() override;
  Result<Principal> authenticate(const std::string& token) override {
    return core_->authenticate(token);
  }
  std::unique_ptr<Context> make_context(const Principal& principal, const CancelToken& cancel,
                                        const std::string& operation,
                                        const std::optional<IdempotencyKey>& key) override;
  Status run_on_lane(std::function<void()> work) override;
  Result<Job> enqueue(const JobRequest& request,
                      const std::optional<IdempotencyKey>& key) override {
    return enqueue_streamed(request, key, nullptr);
  }
  Result<Job> enqueue_streamed(const JobRequest& request, const std::optional<IdempotencyKey>& key,
                               const std::shared_ptr<AiStream>& stream) override;
  Result<Job> job(const JobId& id) override { return core_->job(id); }
  Result<Job> cancel_job(const JobId& id) override { return core_->cancel_job(id); }
  void add_waiter(const JobId& id) override { core_->add_waiter(id); }
  void remove_waiter(const JobId& id) override { core_->remove_waiter(id); }
  Result<std::optional<Remembered>> claim_key(const std::string& subject,
                                              const IdempotencyKey& key) override;
  Status complete_key(const std::string& subject, const IdempotencyKey& key, int http_status,
                      const Json& reply) override;
  Status release_key(const std::string& subject, const IdempotencyKey& key) override;
  Result<std::unique_ptr<Subscription>> subscribe(const EventFilter& filter,
                                                  const std::optional<std::string>& last_event_id,
                                                  std::function<bool(const Event&)> sink) override;
  std::string event_epoch() const override { return parts_->event_epoch; }
  std::optional<std::string> revision(bool of_index,
                                      const std::vector<std::string>& paths) override {
    return core_->revision(of_index, paths);
  }
  Metrics* metrics() override { return &parts_->metrics; }
  Status refresh_metrics() override { return refresh_engine_metrics(*core_); }

  std::string owner_token() const override { return owner_token_; }
  std::string owner_token_path() const override { return parts_->config.index_dir + "/token"; }
  Status announce(const std::string& url, const std::string& socket_path) override;
  Status announce_indexing() override;
  Result<std::vector<JobId>> enqueue_all(std::vector<JobRequest> requests) override;
  void crash_actor(const std::string& name) override;
  void stop() override;

 private:
  Status make_owner_token(State& state);
  void give_back_jobs();
  template <typename Handle>
  void drain(const Handle& actor, std::chrono::milliseconds deadline);

  VaultLock lock_;
  std::unique_ptr<Parts> parts_;
  EngineOptions options_;
  Directory directory_;
  SystemConfig system_config_;
  std::unique_ptr<StateWriter> state_writer_;
  std::unique_ptr<caf::actor_system> system_;
  std::unique_ptr<Core> core_;
  SupervisorActor supervisor_;
  std::string owner_token_;
  std::once_flag stopped_;
};

/// Before any actor runs: schema, what a crash left behind, the owner's token.
Status EngineImpl::prepare() {
  const auto& config = parts_->config;
  auto state =
      INDX_TRY(State::open(state_settings(*parts_, options_), parts_->clock, parts_->random));
  parts_->event_epoch = INDX_TRY(state->events.epoch());
  const bool serves = options_.mode == EngineOptions::Mode::Serve;
  std::unique_ptr<RunMarks> marks;
  if (serves) marks = open_run_marks(config.index_dir);
  JobStore::HasBegun has_begun;
  if (marks) has_begun = [&marks](const Lease& lease) { return marks->had_begun(lease); };
  {
    auto transaction = INDX_TRY(Database::Transaction::begin(state->db));
    INDX_TRY(settle_writes(*state, parts_->vault));
    if (marks) INDX_TRY(store_ends(*state, *marks));
    INDX_TRY(state->rescue_orphans(serves, has_begun));
    INDX_TRY(make_owner_token(*state));
    if (serves) INDX_TRY(state->make_builtin_schedules());
    INDX_TRY(transaction.commit());
  }
  if (marks) {
    marks->start(parts_->instance);
    parts_->running.use_marks(std::move(marks));
  }
  state->fresh_events.clear();  // nobody has subscribed yet
  state_writer_ = std::make_unique<StateWriter>(*parts_, directory_, std::move(state));
  parts_->vault.clean_temp_files([](const std::string&) { return false; });
  {
    auto index =
        INDX_TRY(NoteIndexWriter::open(config.index_dir, config.durability, parts_->random));
  }
  parts_->index = INDX_TRY(NoteIndexReader::open(config.index_dir));
  return {};
}

Status EngineImpl::make_owner_token(State& state) {
  owner_token_ = std::string(trim(read_file(owner_token_path())));
  if (!owner_token_.empty()) {
    if (const auto record = INDX_TRY(state.tokens.find(owner_token_))) {
      parts_->owner_token_id = record->id;
      return {};
    }
  }
  owner_token_ = "indx_" + parts_->random.hex(16);
  parts_->owner_token_id = "tok_" + parts_->random.hex(8);
  INDX_TRY(state.tokens.add({.id = parts_->owner_token_id,
                             .name = "owner",
                             .scopes = {"vault:read", "vault:write", "vault:admin"},
                             .path_globs = {},
                             .created_at = parts_->clock.now(),
                             .last_used_at = {},
                             .revoked_at = {}},
                            owner_token_));
  return write_private_file(owner_token_path(), owner_token_ + "\n");
}

Status EngineImpl::spawn() {
  const bool serves = options_.mode == EngineOptions::Mode::Serve;
  const bool watches = serves && parts_->config.watch;
  system_ = std::make_unique<caf::actor_system>(system_config_);
  core_ = std::make_unique<Core>(*parts_, *state_writer_, directory_, *system_);
  INDX_TRY(core_->open());
  core_->scans_on_demand = !serves && options_.scan_on_start;
  core_->is_served = serves;
  if (serves) {  // not idle before the first scan has begun
    parts_->indexing.total = 1;
    parts_->indexing.is_running = true;
  }
  supervisor_ =
      spawn_supervisor(*system_, core_.get(), engine_children(*core_, directory_, watches));
  directory_.set(supervisor_);
  // The children enter the directory when the supervisor runs.
  for (int attempt = 0; !directory_.get<WriterActor>(); ++attempt) {
    if (attempt > 5000) return internal_error("The engine did not start; see the log.");
    std::this_thread::sleep_for(milliseconds(1));
  }
  // With a watcher the first scan is the watcher's, so that nothing falls between the two.
  if (serves && !watches)
    caf::anon_send(directory_.get<IndexerActor>(), atom::scan_atom::value, ScanRequest{});
  return {};
}

Json EngineImpl::health() {
  // One stuck handler costs a thread; where it happens again, a new start is due (G7).
  const int stuck = parts_->stuck_handlers;
  const bool is_ready = !parts_->is_draining && stuck < kMostStuckHandlers;
  const char* state = is_ready ? "ready" : parts_->is_draining ? "draining" : "stuck";
  return {{"ready", is_ready},
          {"state", state},
          {"stuck_handlers", stuck},
          {"version", kVersion},
          {"provider", has_provider() ? parts_->provider->name() : ""},
          {"embeddings", parts_->embedder ? parts_->embedder->model_id() : ""}};
}

std::unique_ptr<Context> EngineImpl::make_context(const Principal& principal,
                                                  const CancelToken& cancel,
                                                  const std::string& operation,
                                                  const std::optional<IdempotencyKey>& key) {
  auto run = std::make_shared<Run>(*core_, principal, cancel, operation);
  run->idempotency = key;
  return std::make_unique<EngineContext>(std::move(run));
}

Status EngineImpl::run_on_lane(std::function<void()> work) {
  if (parts_->lanes.submit(std::move(work))) return {};
  return make_error(Reason::Unavailable, "All lanes are taken; try again in a second.",
                    {{"retry_after_s", 1}});
}

Result<Job> EngineImpl::enqueue_streamed(const JobRequest& request,
                                         const std::optional<IdempotencyKey>& key,
                                         const std::shared_ptr<AiStream>& stream) {
  return core_->change_for<Job>(
      [request, key, stream, &streams = parts_->answer_streams](State& state) -> Result<Job> {
        if (key) {
          const auto known = INDX_TRY(state.idempotency.find(request.owner.subject, key->operation,
                                                             key->key, state.clock.now()));
          if (known && !known->job_id.empty())
            if (auto job = INDX_TRY(state.queue.get({known->job_id}))) return std::move(*job);
        }
        const auto enqueued = INDX_TRY(state.enqueue(request));
        Job job = enqueued.job;
        // Before the commit, after which a runner may have it at once.
        if (stream && enqueued.is_new) streams.add(job.id, stream);
        if (key)
          INDX_TRY(state.idempotency.attach_job(request.owner.subject, key->operation, key->key,
                                                job.id.value));
        return job;
      });
}

Result<std::vector<JobId>> EngineImpl::enqueue_all(std::vector<JobRequest> requests) {
  return core_->change_for<std::vector<JobId>>(
      [all = std::move(requests)](State& state) { return state.enqueue_all(all); });
}

Result<std::optional<Backend::Remembered>> EngineImpl::claim_key(const std::string& subject,
                                                                 const IdempotencyKey& key) {
  return core_->change_for<std::optional<Remembered>>(
      [subject, key](State& state) -> Result<std::optional<Remembered>> {
        IdempotencyRecord record;
        record.subject = subject;
        record.operation = key.operation;
        record.key = key.key;
        record.body_hash = key.body_hash;
        record.created_at = state.clock.now();
        const auto known = INDX_TRY(state.idempotency.claim(record, state.clock.now()));
        if (!known) return std::optional<Remembered>();
        return std::optional(Remembered{known->is_done, known->http_status, known->reply,
                                        known->job_id, known->body_hash});
      });
}

Status EngineImpl::complete_key(const std::string& subject, const IdempotencyKey& key,
                                int http_status, const Json& reply) {
  INDX_TRY(core_->change([=](State& state) -> Result<Json> {
    INDX_TRY(state.idempotency.complete(subject, key.operation, key.key, http_status, reply));
    return Json();
  }));
  return {};
}

Status EngineImpl::release_key(const std::string& subject, const IdempotencyKey& key) {
  INDX_TRY(core_->change([=](State& state) -> Result<Json> {
    INDX_TRY(state.idempotency.release(subject, key.operation, key.key));
    return Json();
  }));
  return {};
}

Result<std::unique_ptr<Subscription>> EngineImpl::subscribe(
    const EventFilter& filter, const std::optional<std::string>& last_event_id,
    std::function<bool(const Event&)> sink) {
  const auto number = INDX_TRY(core_->join(filter, last_event_id, std::move(sink)));
  return std::unique_ptr<Subscription>(std::make_unique<BusSubscription>(*core_, number));
}

Status EngineImpl::announce(const std::string& url, const std::string& socket_path) {
  const Json server{{"pid", ::getpid()},
                    {"url", url},
                    {"socket", socket_path},
                    {"version", kVersion},
                    {"started_at", format_time(parts_->clock.now())}};
  return write_private_file(parts_->config.index_dir + "/server.json", server.dump() + "\n");
}

Status EngineImpl::announce_indexing() {
  const Json command{{"pid", ::getpid()}, {"version", kVersion}, {"indexing", true}};
  return write_private_file(parts_->config.index_dir + "/server.json", command.dump() + "\n");
}

void EngineImpl::crash_actor(const std::string& name) {
  caf::anon_send(supervisor_, atom::crash_atom::value, name);
}

template <typename Handle>
void EngineImpl::drain(const Handle& actor, std::chrono::milliseconds deadline) {
  if (!actor) return;
  caf::scoped_actor self(*system_);
  self->request(actor, deadline, atom::drain_atom::value)
      .receive([](const Reply&) {},
               [](caf::error&) { log_warn("a part of the engine did not drain in time"); });
}

/// Those that ignore the stop; what they do from now on is refused. It was no fault of the jobs, so
/// it costs them no attempt.
void EngineImpl::give_back_jobs() {
  for (const Lease& lease : parts_->running.leases()) {
    log_warn("a job ignored the stop; it is given back", {{"job_id", lease.job.value}});
    const auto given = core_->change([lease](State& state) -> Result<Json> {
      JobOutcome outcome;
      outcome.kind = JobOutcome::Kind::Returned;
      INDX_TRY(state.finish(lease, outcome));
      return Json();
    });
    if (given.has_value() || given.error().reason == Reason::StaleLease) continue;
    // Storage fails, which the others would only wait for as well.
    log_warn("the next start takes back what runs", {{"error", given.error().message}});
    return;
  }
}

void EngineImpl::stop() {
  std::call_once(stopped_, [this] {
    parts_->is_draining = true;
    if (!system_) return;
    const auto& jobs = parts_->config.jobs;
    state_writer_->drain();
    parts_->running.cancel_all(CancelReason::Shutdown);
    parts_->indexing.is_stopping = true;  // after that, for jobs wait for scans
    for (auto waited = milliseconds(0); !parts_->running.empty() && waited < jobs.stop_grace;
         waited += milliseconds(5))
      std::this_thread::sleep_for(milliseconds(5));
    const bool is_stuck = !parts_->running.empty();
    if (is_stuck)
      give_back_jobs();
    else
      parts_->lanes.stop();
    drain(directory_.get<WriterActor>(), jobs.stop_grace);
    drain(directory_.get<AuditActor>(), jobs.stop_grace);
    std::error_code ignored;
    fs::remove(parts_->config.index_dir + "/server.json", ignored);
    if (is_stuck && options_.on_stuck_stop) options_.on_stuck_stop();
    parts_->lanes.stop();
    caf::anon_send_exit(supervisor_, caf::exit_reason::user_shutdown);
    supervisor_ = nullptr;
    directory_.clear();
    system_.reset();  // waits for the actors
    state_writer_->close();
  });
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::start(const Config& config, const Registry& registry,
                                              const EngineOptions& options) {
  auto vault = INDX_TRY(Vault::open(config.vault_dir, config.durability));
  auto lock = INDX_TRY(lock_vault(vault.root()));
  INDX_TRY(make_private_folder(config.index_dir));
  auto parts = std::make_unique<Parts>(config, registry, std::move(vault));
  parts->instance = new_ulid(parts->clock.now(), parts->random);
  parts->provider = INDX_TRY(make_provider(config.ai));
  parts->embedder = options.embedder ? options.embedder : INDX_TRY(configured_embedder(config.ai));
  // Fixtures have to hold, and to be asked for, every answer.
  if (config.ai.cache_enabled && config.ai.provider != "replay" && !config.ai.test_record &&
      !config.ai.test_replay)
    parts->answers = std::make_unique<AiCache>(
        AiCache::Settings{config.index_dir, config.durability, config.ai.cache_max_bytes});
  parts->embeds_by_itself = options.mode == EngineOptions::Mode::Serve;
  auto engine = std::make_unique<EngineImpl>(std::move(lock), std::move(parts), options);
  INDX_TRY(engine->prepare());
  INDX_TRY(engine->spawn());
  return std::unique_ptr<Engine>(std::move(engine));
}

}  // namespace indx
