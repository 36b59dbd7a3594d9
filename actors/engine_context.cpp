#include "actors/engine_context.hpp"

#include "actors/suspension.hpp"
#include "ai/prose_delta.hpp"
#include "base/assert.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "ops/ai_stream.hpp"
#include "store/base_row_reader.hpp"
#include "vault/file_birth.hpp"

#include <algorithm>
#include <condition_variable>

namespace indx {
namespace {

/// Where deltas come in from the thread of an actor. Once it is closed they find nobody: a call
/// that was given up after its deadline may still get an answer.
class DeltaDoor {
 public:
  explicit DeltaDoor(const OnDelta& on_delta) : on_delta_(&on_delta) {}
  void pass(std::string_view delta) {
    const std::scoped_lock lock(mutex_);
    if (on_delta_ != nullptr) (*on_delta_)(delta);
  }
  void close() {
    const std::scoped_lock lock(mutex_);
    on_delta_ = nullptr;
  }

 private:
  std::mutex mutex_;
  const OnDelta* on_delta_;  // outlives the open door
};

/// The provider of this process, reached through an ai_op actor.
class ActorProvider : public Provider {
 public:
  explicit ActorProvider(Core& core) : core_(core) {}
  std::string name() const override { return core_.parts.provider->name(); }
  std::string model() const override { return core_.parts.provider->model(); }
  bool can_generate() const override { return core_.parts.provider->can_generate(); }
  Result<GenerateReply> generate(const GenerateRequest& request,
                                 const CancelToken& cancel) override {
    return core_.model_call({request, cancel});
  }
  bool can_stream() const override { return core_.parts.provider->can_stream(); }
  Result<GenerateReply> generate_stream(const GenerateRequest& request, const CancelToken& cancel,
                                        const OnDelta& on_delta) override {
    const auto door = std::make_shared<DeltaDoor>(on_delta);  // shared: with the actor
    auto reply =
        core_.model_call({request, cancel, [door](std::string_view delta) { door->pass(delta); }});
    door->close();
    return reply;
  }

 private:
  Core& core_;
};

Json token_json(const TokenRecord& token) {
  const auto time = [](const std::optional<Timestamp>& at) {
    return at ? Json(format_time(*at)) : Json();
  };
  return {{"id", token.id},
          {"name", token.name},
          {"scopes", token.scopes},
          {"path_globs", token.path_globs},
          {"created_at", format_time(token.created_at)},
          {"last_used_at", time(token.last_used_at)},
          {"revoked_at", time(token.revoked_at)}};
}

/// Not a reason that jobs retry: who asks second is told at once, and not served later.
Error indexing_already() {
  return make_error(Reason::Conflict,
                    "Indexing is already running. `vault_status` tells how far it is; ask again "
                    "when it has ended.");
}

}  // namespace

EngineContext::EngineContext(std::shared_ptr<Run> run, std::string prefix)
    : run_(std::move(run)),
      core_(run_->core),
      visible_(core_.parts.vault, core_.parts.config, run_->principal.path_scope()),
      links_(run_->core, run_->principal.path_scope(), run_->cancel, run_->lease.has_value()),
      versions_(run_->core, run_->principal.path_scope()),
      lists_(run_->core, run_->principal.path_scope()),
      retrieval_(run_->core, run_->principal.path_scope(),
                 [this](std::span<const std::string> texts) { return embed_texts(texts); }),
      files_(run_->core, run_->principal.path_scope()),
      doctor_(run_->core,
              {.cancel = run_->cancel,
               .job = run_->lease ? run_->lease->job.value : "",
               .tell = [this](const JobProgress& told) { progress(told); },
               .commit = [this](auto apply) { return change_in_step(std::move(apply)); }}),
      jobs_(run_->core, run_->principal),
      prefix_(std::move(prefix)) {}

// A call whose step failed was paid for all the same.
EngineContext::~EngineContext() {
  for (const auto& record : unsettled_)
    if (const Status kept = commit_call(core_, record); !kept.has_value())
      log_error("usage of a model call is not recorded", {{"error", kept.error().message}});
}

// ---- notes

Result<NoteFile> EngineContext::read(const NotePath& path) {
  auto file = visible_.read(path);
  if (file.has_value()) notes_read_[path.str()] = file->etag;
  return file;
}

bool EngineContext::exists(const NotePath& path) { return visible_.exists(path); }

WriteRequest EngineContext::write_request(const NoteChange& change) const {
  // One write of many is not the reply of the call.
  const bool is_part =
      change.kind == NoteChange::Kind::Move || change.kind == NoteChange::Kind::Splice;
  return {.change = change,
          .actor = std::string(name(run_->principal.surface)),
          .subject = run_->principal.subject,
          .request_id = run_->principal.request_id,
          .lease = {},
          .step_key = {},
          .step_inputs_hash = {},
          .idempotency = change.dry_run || is_part ? std::nullopt : run_->idempotency};
}

Result<WriteOutcome> EngineContext::write(const NoteChange& change) {
  INDX_TRY(visible_.check(change.path));
  if (change.to) INDX_TRY(visible_.check(*change.to));
  return send(write_request(change));
}

Result<WriteOutcome> EngineContext::send(WriteRequest request) {
  const NotePath target = request.change.to.value_or(request.change.path);
  auto outcome = core_.write(std::move(request));
  if (!outcome.has_value()) return visible_.shown(target, outcome.error());
  return outcome;
}

Result<std::vector<Json>> EngineContext::check_etags(
    const std::vector<std::pair<NotePath, std::string>>& expected) {
  const Json failed = INDX_TRY(core_.check_etags({expected}));
  return std::vector<Json>(failed.begin(), failed.end());
}

// ---- index

Result<Page<NoteRow>> EngineContext::list(NoteFilter filter, int limit, const std::string& cursor) {
  INDX_TRY(core_.ensure_scanned());
  filter.scope = run_->principal.path_scope();
  return core_.parts.index->list(filter, limit, cursor);
}

Result<SearchPage> EngineContext::search(SearchRequest request) {
  INDX_TRY(core_.ensure_scanned());
  const auto globs = run_->principal.path_scope().any_of;
  request.filter.scope.any_of = globs;
  return core_.parts.index->search(request);
}

Result<std::vector<TagCount>> EngineContext::tags() {
  INDX_TRY(core_.ensure_scanned());
  return core_.parts.index->tags(run_->principal.path_scope());
}

Result<std::vector<ResolvedLink>> EngineContext::forward_links(const NotePath& path) {
  INDX_TRY(core_.ensure_scanned());
  INDX_TRY(visible_.check(path));
  auto links = INDX_TRY(
      LinkIndex(core_.parts.index->pool()).forward(path.str(), run_->principal.path_scope()));
  return links ? std::move(links->links) : std::vector<ResolvedLink>();
}

Result<std::vector<std::string>> EngineContext::paths_with_tag(const std::string& tag) {
  INDX_TRY(core_.ensure_scanned());
  return core_.parts.index->paths_with_tag(tag, run_->principal.path_scope());
}

Result<IndexCounts> EngineContext::counts() {
  INDX_TRY(core_.ensure_scanned());
  auto counts = INDX_TRY(core_.parts.index->counts(run_->principal.path_scope()));
  if (run_->principal.path_globs.empty())  // a warning names paths
    for (auto& warning : core_.parts.warnings()) counts.warnings.push_back(std::move(warning));
  return counts;
}

Status EngineContext::visit_files(const BaseRowNeeds& needs, const BaseRowVisitor& visit) {
  INDX_TRY(core_.ensure_scanned());
  return visit_base_rows(
      core_.parts.index->pool(), needs, run_->principal.path_scope(), [&](BaseFileRow row) {
        if (needs.created && row.is_candidate)
          row.created_ms = file_birth_ms(core_.parts.vault.root() + "/" + row.path);
        visit(std::move(row));
      });
}

Json EngineContext::indexing() {
  const auto& indexing = core_.parts.indexing;
  return {{"state", indexing.is_running ? "indexing" : "idle"},
          {"done", indexing.done.load()},
          {"total", indexing.total.load()},
          {"is_complete", !core_.is_served || indexing.is_complete}};
}

Result<std::shared_ptr<const Corpus>> EngineContext::corpus() {
  INDX_TRY(core_.ensure_scanned());
  return core_.corpus(run_->principal.path_scope());
}

Result<Json> EngineContext::reindex(const Reindex& request) {
  auto& is_reindexing = core_.parts.indexing.is_reindexing;
  if (is_reindexing.exchange(true)) return indexing_already();
  // Also when the scan throws, or nobody could index again.
  const std::unique_ptr<std::atomic<bool>, void (*)(std::atomic<bool>*)> end(
      &is_reindexing, [](std::atomic<bool>* flag) { *flag = false; });
  if (request.rebuild || request.reset_db) {
    const auto empty = [&] {
      return core_.scan(
          {.act = request.reset_db ? ScanRequest::Act::MakeAnew : ScanRequest::Act::Clear});
    };
    INDX_TRY(request.once ? request.once(empty) : empty());
  }
  // The scan answers once, at its end; meanwhile its counters are looked at from aside.
  std::mutex mutex;
  std::condition_variable_any wake;
  const std::jthread teller([&](const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    while (!wake.wait_for(lock, stop, kTellProgressEvery, [] { return false; }) &&
           !stop.stop_requested()) {
      const auto& indexing = core_.parts.indexing;
      if (indexing.is_running)
        progress({.done = indexing.done, .total = indexing.total.load(), .unit = "files"});
    }
  });
  return core_.scan({});
}

Result<Index::NamedFiles> EngineContext::find_named(const std::vector<std::string>& patterns,
                                                    bool rebuild) {
  if (core_.parts.indexing.is_reindexing) return indexing_already();
  const Json found =
      INDX_TRY(core_.scan({.act = ScanRequest::Act::Find, .rebuild = rebuild, .paths = patterns}));
  return NamedFiles{found["to_index"].get<std::vector<std::string>>(),
                    found["unchanged"].get<std::int64_t>(),
                    found["unmatched"].get<std::vector<std::string>>()};
}

Result<Json> EngineContext::index_files(const std::vector<std::string>& paths, bool rebuild) {
  INDX_ASSERT(!paths.empty());  // which would mean all
  return core_.scan({.rebuild = rebuild, .paths = paths});
}

// ---- models

bool EngineContext::is_configured() const { return core_.parts.provider != nullptr; }
std::string EngineContext::provider() const {
  return is_configured() ? core_.parts.provider->name() : "";
}
std::string EngineContext::model() const {
  return is_configured() ? core_.parts.provider->model() : "";
}
bool EngineContext::can_generate() const {
  return is_configured() && core_.parts.provider->can_generate();
}

Result<GenerateReply> EngineContext::generate(const GenerateRequest& request,
                                              const std::string& item) {
  if (!can_generate())
    return make_error(Reason::AiUnavailable,
                      "No chat model is configured; set INDX_AI_PROVIDER and INDX_AI_MODEL.",
                      {{"required_role", "chat"}});
  const auto answer = answer_place(request);
  if (answer)
    if (auto kept = kept_answer(*answer)) return std::move(*kept);
  ActorProvider actor_provider(core_);
  auto reply = call_model(actor_provider, request, {.feature = run_->operation, .item = item});
  if (answer && reply.has_value()) remember_answer(*answer, *reply);
  return reply;
}

Result<GenerateReply> EngineContext::call_model(Provider& called, const GenerateRequest& request,
                                                const CallNames& names) {
  UsageRecord record;
  RetryHooks hooks;
  std::uint64_t place = 0;
  std::optional<ProseDelta> prose;
  const auto listener = called.can_generate() ? stream() : nullptr;
  const bool tells_prose = listener && called.can_stream() && !request.prose_member.empty();
  if (listener && !called.can_stream()) listener->note_unsupported();
  if (tells_prose) {
    hooks.may_restart = true;
    hooks.on_delta = [&](std::string_view delta) { listener->add_prose(prose->feed(delta)); };
  }
  hooks.on_attempt = [&](int attempt) -> Status {
    place = INDX_TRY(admit_model_call(estimate_call_tokens(request), names.can_do_without));
    if (tells_prose) {
      prose.emplace(request.prose_member);
      listener->begin_prose();
    }
    record = {.operation = names.feature,
              .provider = called.name(),
              .model = called.model(),
              .job_id = run_->lease ? run_->lease->job.value : "",
              .item = names.item,
              .request_id = run_->principal.request_id,
              .attempt = attempt};
    const Status begun =
        begin_call(core_, record,
                   {estimate_call_tokens(request) - request.max_output_tokens,
                    std::min(request.max_output_tokens, config().ai.max_output_tokens)});
    if (begun.has_value()) return {};
    core_.parts.model_gate.give_back(place);
    return names.can_do_without ? begun : Status(held_by_daily_limit(begun.error()));
  };
  hooks.on_result = [&](int /*attempt*/, const Result<GenerateReply>& reply) {
    core_.parts.model_gate.settle(place, reply);
    hold_for_long_pause(reply);
    end_call(core_, record,
             reply.has_value() ? std::optional(reply->usage) : billed_usage(reply.error()),
             reply.has_value() ? nullptr : &reply.error());
    {
      const std::scoped_lock lock(run_->mutex);
      ++run_->model_calls;
      run_->cost_usd += record.cost_usd.value_or(0);
    }
    unsettled_.push_back(record);
  };
  hooks.wait = [&](milliseconds time, const CancelToken& cancel) {
    if (!run_->is_held) wait_unless_cancelled(time, cancel);
  };
  if (names.can_do_without) hooks.most_retries = 0;
  auto reply = generate_with_retry(called, request, run_->cancel, hooks);
  if (listener && reply.has_value() && reply->came_whole) listener->note_unsupported();
  if (is_job() && !reply.has_value() && asks_to_wait(reply.error()))
    reply = hold(snoozed_by(reply.error()));
  if (open_step_ != nullptr) return reply;            // committed together with the step's result
  for (; !unsettled_.empty(); unsettled_.pop_back())  // one that cannot be stored is not lost
    INDX_TRY(commit_call(core_, unsettled_.back()));
  return reply;
}

Result<Json> EngineContext::usage_today() {
  const auto now = core_.parts.clock.now();
  const auto totals =
      INDX_TRY(core_.read_state([&](Database& db) { return UsageStore(db).totals_of_day(now); }));
  AiCache::Lookups lookups;
  if (core_.parts.answers) lookups = core_.parts.answers->lookups_since(day_begin(now));
  return Json{{"calls", totals.calls},
              {"input_tokens", totals.input_tokens},
              {"output_tokens", totals.output_tokens},
              {"cost_usd", totals.cost_usd},
              {"invocations", totals.invocations},
              {"cache_hits", lookups.hits},
              {"cache_misses", lookups.misses}};
}

// ---- tokens

Result<NewToken> EngineContext::create(const std::string& token_name,
                                       const std::vector<std::string>& scopes,
                                       const std::vector<std::string>& path_globs) {
  NewToken token{"tok_" + core_.parts.random.hex(8), "indx_" + core_.parts.random.hex(16)};
  const TokenRecord record{.id = token.id,
                           .name = token_name,
                           .scopes = scopes,
                           .path_globs = path_globs,
                           .created_at = core_.parts.clock.now(),
                           .last_used_at = {},
                           .revoked_at = {}};
  INDX_TRY(core_.change([record, secret = token.secret](State& state) -> Result<Json> {
    INDX_TRY(state.tokens.add(record, secret));
    return Json();
  }));
  return token;
}

Result<std::vector<Json>> EngineContext::list() {
  const auto tokens =
      INDX_TRY(core_.read_state([](Database& db) { return TokenStore(db).list(); }));
  std::vector<Json> all;
  for (const auto& token : tokens) all.push_back(token_json(token));
  return all;
}

Result<bool> EngineContext::revoke(const std::string& id) {
  const bool revoked = INDX_TRY(core_.change_for<bool>([id](State& state) -> Result<bool> {
    const bool was_live = INDX_TRY(state.tokens.revoke(id, state.clock.now()));
    if (was_live) INDX_TRY(state.cancel_jobs_of(id));
    return was_live;
  }));
  core_.forget_tokens();
  if (revoked) core_.end_streams_of(core_.subject_of_token(id));
  return revoked;
}

}  // namespace indx
