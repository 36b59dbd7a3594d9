#include "ops/dispatch.hpp"

#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "ops/ai_stream.hpp"
#include "ops/define.hpp"
#include "ops/job_wait.hpp"
#include "ops/rate_limiter.hpp"

#include <condition_variable>
#include <map>
#include <set>

namespace indx {
namespace {

constexpr std::chrono::seconds kMaxWaitForSameKey{30};
constexpr int kMaxWaitersForKeys = 8;  // each holds a lane

/// One call on its way: checked, with the key that it owns.
struct Running {
  Call call;
  OnEvent progress;
  std::optional<IdempotencyKey> key;
  OnAnswer answer;
  std::shared_ptr<AiStream> stream;  ///< null: the answer comes whole. Shared: with its context
};

/// G16: a repeated call would end the same way.
bool is_deterministic(const Error& error) {
  const int status = error.http_status();
  return status >= 400 && status < 500 && status != 429 && error.reason != Reason::Cancelled &&
         !error.is_retryable();
}

Json to_reply(const Operation& operation, const Answer& answer) {
  if (answer.result)
    return Json{{"ok", true}, {"data", mask_secrets(operation.output, *answer.result)}};
  return Json{{"ok", false}, {"error", answer.result.error().to_json()}};
}

Answer from_reply(const Backend::Remembered& remembered) {
  Answer answer{Json::object(), remembered.http_status, remembered.job_id, true, false};
  const Json& reply = remembered.reply;
  if (!reply.is_object() || !reply.contains("ok"))
    answer.result = reply;
  else if (reply["ok"] == true)
    answer.result = reply.value("data", Json::object());
  else
    answer.result = error_from_json(reply.value("error", Json::object()));
  return answer;
}

/// Calls with the same idempotency key in this process wait here for the first of them.
class SameKeyCalls {
 public:
  void begin(const std::string& id) {
    const std::scoped_lock lock(mutex_);
    running_[id] = true;
    rows_left_.erase(id);
  }
  /// `leaves_row`: storage failed when the row was to be forgotten; the next call does it.
  void end(const std::string& id, bool leaves_row) {
    const std::scoped_lock lock(mutex_);
    running_.erase(id);
    if (leaves_row) rows_left_.insert(id);
    changed_.notify_all();
  }
  /// Blocks until the call ends; false when it still runs after the longest wait, or the waiter was
  /// cancelled.
  bool wait(const std::string& id, const CancelToken& cancel) {
    std::unique_lock lock(mutex_);
    if (waiters_ >= kMaxWaitersForKeys) return false;
    ++waiters_;
    const bool ended = changed_.wait_for(
        lock, kMaxWaitForSameKey, [&] { return cancel.is_cancelled() || !running_.contains(id); });
    --waiters_;
    return ended && !cancel.is_cancelled();
  }
  void wake() {
    const std::scoped_lock lock(mutex_);
    changed_.notify_all();
  }
  /// Between asking for the row of a key and `begin`, while nobody can tell whose the row is.
  class Claim {
   public:
    Claim(SameKeyCalls& calls, std::string id) : calls_(calls), id_(std::move(id)) {
      const std::scoped_lock lock(calls_.mutex_);
      ++calls_.claiming_[id_];
    }
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;
    ~Claim() {
      const std::scoped_lock lock(calls_.mutex_);
      if (--calls_.claiming_[id_] == 0) calls_.claiming_.erase(id_);
    }

   private:
    SameKeyCalls& calls_;
    std::string id_;
  };
  /// Storage failed and did not say whether the row was made. The next call with the key forgets
  /// it, unless another call has it.
  void leave_row(const std::string& id) {
    const std::scoped_lock lock(mutex_);
    if (!running_.contains(id)) rows_left_.insert(id);
  }
  /// For a claimer: true when nobody else can own the row.
  bool has_row_left(const std::string& id) const {
    const std::scoped_lock lock(mutex_);
    const auto claiming = claiming_.find(id);
    return rows_left_.contains(id) && !running_.contains(id) && claiming != claiming_.end() &&
           claiming->second == 1;
  }
  void forget_row(const std::string& id) {
    const std::scoped_lock lock(mutex_);
    rows_left_.erase(id);
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, bool> running_;
  std::map<std::string, int> claiming_;
  std::set<std::string> rows_left_;
  int waiters_ = 0;
};

class LocalDispatcher : public Dispatcher {
 public:
  LocalDispatcher(Registry registry, Backend& backend)
      : registry_(std::move(registry)),
        backend_(backend),
        limiter_(backend.clock(), backend.config().rate_limit_per_minute),
        waits_(backend) {}

  const Registry& registry() const override { return registry_; }
  bool has_provider() const override { return backend_.has_provider(); }
  AiRoles ai_roles() const override { return backend_.ai_roles(); }
  Result<Principal> authenticate(const std::string& token) override {
    return backend_.authenticate(token);
  }
  Result<std::unique_ptr<Subscription>> subscribe(const EventFilter& filter,
                                                  const std::optional<std::string>& last_event_id,
                                                  std::function<bool(const Event&)> sink) override {
    return backend_.subscribe(filter, last_event_id, std::move(sink));
  }
  std::string event_epoch() const override { return backend_.event_epoch(); }
  Json health() override { return backend_.health(); }
  std::optional<std::string> revision(const Operation& operation, const Json& input) override {
    const bool is_of_vault = operation.reads_index || operation.needs == Needs::Files;
    if (operation.effect != Effect::Reads || operation.is_ai || operation.needs_provider ||
        operation.gives_file || !is_of_vault)
      return std::nullopt;
    std::vector<std::string> paths;
    for (const auto& field : operation.input->properties)
      if (const auto it = input.find(field.name); field.schema.is_vault_path && it != input.end())
        if (const auto* path = it->get_ptr<const std::string*>()) paths.push_back(*path);
    if (!operation.reads_index && paths.empty()) return std::nullopt;  // it finds its file itself
    return backend_.revision(operation.reads_index, paths);
  }
  Metrics* metrics() override { return backend_.metrics(); }
  Status refresh_metrics() override { return backend_.refresh_metrics(); }

  void call(Call call, OnAnswer answer, OnEvent progress) override {
    INDX_ASSERT(call.operation != nullptr && answer);
    auto checked = check(call);
    if (!checked) return refuse(checked.error(), answer);
    const auto running =
        std::make_shared<Running>();  // shared: it moves on through callbacks, which are copied
    running->call = std::move(call);
    running->progress = std::move(progress);
    running->key = std::move(*checked);
    running->answer = std::move(answer);
    if (running->call.is_streamed && running->call.operation->streams_answer() && running->progress)
      stream_answer(running);
    if (running->key) return claim(running, true);
    start(running);
  }

 private:
  using Shared = std::shared_ptr<Running>;

  /// The listener may go with the answer, so nothing is told behind it.
  static void stream_answer(const Shared& running) {
    running->stream = std::make_shared<AiStream>(running->progress);
    running->answer = [stream = running->stream,
                       answer = std::move(running->answer)](Answer result) {
      stream->end();
      answer(std::move(result));
    };
  }

  static void refuse(const Error& error, const OnAnswer& answer) {
    answer(Answer{error, error.http_status(), {}, false, false});
  }

  /// Everything that needs no handler, in order. Leaves the completed input in the call.
  Result<std::optional<IdempotencyKey>> check(Call& call) {
    const Operation& operation = *call.operation;
    if (backend_.is_draining())
      return make_error(Reason::Draining, "The server is stopping; try again in a moment.",
                        Json{{"retry_after_s", 1}});
    const auto wait = call.is_next_page ? std::nullopt : limiter_.take(call.principal.subject);
    if (wait) {
      const auto seconds = std::chrono::ceil<std::chrono::seconds>(*wait).count();
      return make_error(Reason::RateLimited,
                        cat("Too many calls with this token; wait ", seconds, " s."),
                        Json{{"retry_after_s", seconds},
                             {"limit_per_minute", backend_.config().rate_limit_per_minute}});
    }
    INDX_TRY(check_scopes(operation, call.principal, operation.scopes));
    if (!operation.is_available(backend_.ai_roles()) && !needs_no_chat(call))
      return operation.lacks_role();
    call.input = INDX_TRY(validate(operation.input, call.input));
    if (operation.takes_file && !call.upload)
      return invalid(cat("`", operation.name, "` needs a file with the call."),
                     Json{{"path", "body"}, {"expected", "a file"}, {"actual", "nothing"}});
    if (operation.extra_scopes)
      INDX_TRY(check_scopes(operation, call.principal, operation.extra_scopes(call.input)));
    return take_key(call);
  }

  /// R17: what needs no chat model works with one for embeddings alone.
  bool needs_no_chat(const Call& call) const {
    const Operation& operation = *call.operation;
    if (!operation.answers_without_chat || !backend_.ai_roles().any()) return false;
    const auto input = validate(operation.input, call.input);
    return input && operation.answers_without_chat(*input);
  }

  /// The key names the call and is no part of what is asked.
  static Result<std::optional<IdempotencyKey>> take_key(Call& call) {
    if (!call.operation->takes_idempotency_key()) return std::optional<IdempotencyKey>();
    if (const auto it = call.input.find("idempotency_key"); it != call.input.end()) {
      if (call.idempotency_key.empty()) call.idempotency_key = it->get<std::string>();
      call.input.erase("idempotency_key");
    }
    if (call.idempotency_key.empty()) return std::optional<IdempotencyKey>();
    if (call.idempotency_key.size() > 200)
      return invalid("`idempotency_key` must be of at most 200 bytes.",
                     Json{{"path", "idempotency_key"}});
    Json asked = call.input;
    if (call.operation->streams_answer()) asked.erase("stream");  // how the answer comes, not what
    if (call.upload) {
      const auto file = INDX_TRY(hash_file(call.upload->bytes));
      asked = Json::array({asked, file.sha256});
    }
    return std::optional(
        IdempotencyKey{call.operation->name, call.idempotency_key, canonical_hash(asked)});
  }

  static std::string key_id(const Running& running) {
    return Json::array({running.call.principal.subject, running.key->operation, running.key->key})
        .dump();
  }

  /// Owns the key, replays what is remembered, joins its job, or waits once for the call that has
  /// it.
  void claim(const Shared& running, bool may_wait) {
    const auto claimed = claim_row(running);
    if (!claimed) return refuse(claimed.error(), running->answer);
    if (!*claimed) return start(running);
    const Backend::Remembered& remembered = **claimed;
    if (remembered.body_hash != running->key->body_hash)
      return refuse(make_error(Reason::IdempotencyKeyReused,
                               cat("The idempotency key was used for `", running->key->operation,
                                   "` with another input; use a new key."),
                               Json{{"operation", running->key->operation}}),
                    running->answer);
    if (remembered.is_done) return running->answer(from_reply(remembered));
    if (!remembered.job_id.empty()) return join(running, remembered.job_id);
    if (!may_wait) return refuse(in_progress(), running->answer);
    const auto status = backend_.run_on_lane([this, running] {
      // Registered on this thread and gone before the wait ends, so the callback never outlives
      // what it wakes.
      const auto registration = running->call.cancel.on_cancel([this] { same_key_.wake(); });
      if (!same_key_.wait(key_id(*running), running->call.cancel))
        return refuse(in_progress(), running->answer);
      claim(running, false);
    });
    if (!status) refuse(status.error(), running->answer);
  }

  /// nullopt: the call owns the key. A row that a failure left behind is forgotten first.
  Result<std::optional<Backend::Remembered>> claim_row(const Shared& running) {
    const auto& subject = running->call.principal.subject;
    const auto id = key_id(*running);
    const SameKeyCalls::Claim claiming(same_key_, id);
    auto claimed = backend_.claim_key(subject, *running->key);
    if (claimed && *claimed && !(*claimed)->is_done && (*claimed)->job_id.empty() &&
        same_key_.has_row_left(id)) {
      INDX_TRY(backend_.release_key(subject, *running->key));
      same_key_.forget_row(id);
      claimed = backend_.claim_key(subject, *running->key);
    }
    if (!claimed)
      same_key_.leave_row(id);
    else if (!*claimed)
      own_key(running);
    return claimed;
  }

  static Error in_progress() {
    return make_error(Reason::InProgress,
                      "The first call with this idempotency key still runs; try again in a moment.",
                      Json{{"retry_after_s", 1}});
  }

  /// From here on the answer also settles the key.
  void own_key(const Shared& running) {
    same_key_.begin(key_id(*running));
    running->answer = [this, operation = running->call.operation,
                       subject = running->call.principal.subject, key = *running->key,
                       id = key_id(*running), answer = std::move(running->answer)](Answer result) {
      // Else the job's row answers a repeat.
      const bool is_settled = !result.job_id.empty() || settle(*operation, subject, key, result);
      same_key_.end(id, !is_settled);
      answer(std::move(result));
    };
  }

  /// False: the row is still there.
  bool settle(const Operation& operation, const std::string& subject, const IdempotencyKey& key,
              const Answer& answer) {
    if (answer.result || is_deterministic(answer.result.error())) {
      const Status kept =
          backend_.complete_key(subject, key, answer.http_status, to_reply(operation, answer));
      if (kept) return true;
      if (!kept.error().is_retryable())  // the state writer tells of a database that fails
        log_warn("an answer cannot be remembered",
                 Json{{"operation", operation.name}, {"reason", kept.error().message}});
      // A write has its short outcome remembered by its own commit; everything else may run again.
    }
    return backend_.release_key(subject, key).has_value();
  }

  void join(const Shared& running, const std::string& job_id) {
    const auto job = backend_.job(JobId{job_id});
    if (!job) return refuse(job.error(), running->answer);
    answer_from_job(running, *job, job->is_final());
  }

  void start(const Shared& running) {
    const Operation& operation = *running->call.operation;
    const bool wants_job = (running->call.is_async || running->call.as_job) &&
                           operation.execution != Execution::Inline;
    if (operation.execution == Execution::Job || wants_job) return enqueue(running);
    const bool is_small = operation.execution == Execution::Inline ||
                          (operation.may_be_large && !operation.may_be_large(running->call.input));
    if (is_small && !operation.needs_provider) return run(running);
    const auto status = backend_.run_on_lane([this, running] { run_or_enqueue(running); });
    if (!status) finish(running, status.error());
  }

  /// On a lane: finding the size may already read the index.
  void run_or_enqueue(const Shared& running) {
    const Operation& operation = *running->call.operation;
    if (operation.execution != Execution::Sized) return run(running);
    const auto context = make_context(*running);
    const auto size =
        guarded(operation, [&] { return operation.size(*context, running->call.input); });
    if (!size) return finish(running, size.error());
    if (*size > operation.inline_limit) return enqueue(running);
    run(running);
  }

  std::unique_ptr<Context> make_context(const Running& running) {
    auto context = backend_.make_context(running.call.principal, running.call.cancel,
                                         running.call.operation->name, running.key);
    context->give_upload(running.call.upload);
    context->give_stream(running.stream);
    return context;
  }

  void run(const Shared& running) {
    const Operation& operation = *running->call.operation;
    const LogContext log_context(running->call.principal.request_id, "");
    const auto context = make_context(*running);
    auto result =
        guarded(operation, [&] { return operation.handler(*context, running->call.input); });
    const bool may_be_indexed_yet =
        !result && operation.reads_index && is_there(*context, result.error());
    if (const auto progress = may_be_indexed_yet ? index_progress(*context) : std::nullopt)
      result = make_error(
          Reason::InProgress,
          cat("The index is still being filled (", progress->done, " of ", progress->total,
              " files) and has not come to this file; try again when vault_status "
              "says `idle`."),
          {{"retry_after_s", 1},
           {"indexed", {{"done", progress->done}, {"total", progress->total}}}});
    finish(running, std::move(result), context->take_file());
  }

  /// Whether what was not found is a file that is there.
  static bool is_there(Context& context, const Error& error) {
    if (error.reason != Reason::NotFound) return false;
    const auto path = error.details.find("path");
    if (path == error.details.end() || !path->is_string()) return false;
    const auto note = NotePath::parse(path->get<std::string>());
    return note && context.notes().exists(*note);
  }

  /// Handlers return errors; an exception out of one is a bug of ours that must not take the thread
  /// along.
  template <typename Function>
  static auto guarded(const Operation& operation, Function function) -> decltype(function()) {
    try {
      return function();
    } catch (const std::exception& e) {
      log_error("handler threw", Json{{"operation", operation.name}, {"what", e.what()}});
      return internal_error(
          cat("`", operation.name, "` failed because of a bug in indx; the log has more."));
    }
  }

  static void finish(const Shared& running, Result<Json> result,
                     std::shared_ptr<const FileBytes> file = {}) {
    const int status =
        result ? running->call.operation->success_status : result.error().http_status();
    running->answer(Answer{std::move(result), status, {}, false, false, std::move(file)});
  }

  void enqueue(const Shared& running) {
    const Call& call = running->call;
    if (!call.is_async && !waits_.has_room())
      return finish(
          running,
          make_error(Reason::Unavailable,
                     "Too many calls wait for jobs; try again, or ask for a job (respond-async).",
                     Json{{"retry_after_s", 1}}));
    JobRequest request =
        job_request(*call.operation, call.input, to_owner(call.principal), backend_.config().jobs);
    request.keep = call.keep || call.is_async || running->key.has_value();
    const auto job = running->stream
                         ? backend_.enqueue_streamed(request, running->key, running->stream)
                         : backend_.enqueue(request, running->key);
    if (!job) return finish(running, job.error());
    answer_from_job(running, *job, job->is_final());
  }

  void answer_from_job(const Shared& running, const Job& job, bool is_replay) {
    if (running->call.on_job) running->call.on_job(job.id.value);
    Answer base{Json::object(), running->call.operation->success_status, job.id.value, is_replay,
                false};
    if (running->call.is_async) {
      base.result = Json{{"job", to_json(job)}};
      base.http_status = 202;
      base.is_accepted = true;
      return running->answer(std::move(base));
    }
    waits_.wait(job, running->call.cancel, running->answer, running->progress, std::move(base));
  }

  Registry registry_;
  Backend& backend_;
  CallLimiter limiter_;
  SameKeyCalls same_key_;
  JobWaits waits_;  // last: its end answers calls, which use the rest
};

}  // namespace

Answer Dispatcher::call_and_wait(Call input, OnEvent progress) {
  struct Box {
    std::mutex mutex;
    std::condition_variable filled;
    std::optional<Answer> answer;
  };
  const auto box = std::make_shared<Box>();  // shared: the answering thread may still be leaving
                                             // when this one goes on
  call(
      std::move(input),
      [box](Answer answer) {
        const std::scoped_lock lock(box->mutex);
        box->answer = std::move(answer);
        box->filled.notify_one();
      },
      std::move(progress));
  std::unique_lock lock(box->mutex);
  box->filled.wait(lock, [&] { return box->answer.has_value(); });
  return std::move(*box->answer);
}

std::unique_ptr<Dispatcher> make_dispatcher(Registry registry, Backend& backend) {
  return std::make_unique<LocalDispatcher>(std::move(registry), backend);
}

}  // namespace indx
