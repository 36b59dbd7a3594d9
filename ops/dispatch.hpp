#pragma once
#include "base/metrics.hpp"
#include "ops/event_filter.hpp"
#include "ops/files.hpp"
#include "ops/operation.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace indx {

/// One call as it enters the product, on any surface.
struct Call {
  const Operation* operation = nullptr;
  Json input = Json::object();
  Principal principal;
  std::string idempotency_key;
  bool is_async = false;      ///< answer with a job at once: 202
  bool as_job = false;        ///< runs as a job also where it is small; the answer is waited for
  bool is_next_page = false;  ///< of a list that is told as one: the limit counted its first page
  bool keep = false;          ///< the job goes on when nobody waits for it
  bool is_streamed = false;   ///< of AI: who gets progress also gets the answer as it is made
  CancelToken cancel;         ///< cancelled when the caller went away
  /// Told the id of the job that answers, as soon as it is stored; more than once for some.
  std::function<void(const std::string& job_id)> on_job = {};
  std::shared_ptr<const Upload> upload = {};  ///< of an operation that takes a file
};

struct Answer {
  Result<Json> result;       ///< the operation's output; for an accepted job `{job: …}`
  int http_status = 200;     ///< of success; an Error has its own
  std::string job_id;        ///< the job that answered or will answer, if any
  bool is_replay = false;    ///< from the idempotency store
  bool is_accepted = false;  ///< 202: the job goes on
  std::shared_ptr<const FileBytes> file = {};  ///< of an operation that gives one
};
using OnAnswer = std::function<void(Answer)>;
/// Progress of the job behind a call: events `job.progress`, `job.started`, …; of a streamed call
/// those of AiStream too.
using OnEvent = std::function<void(const Event&)>;

/// The last event of a subscription whose token was revoked; told to nobody else.
inline constexpr std::string_view kTokenRevoked = "token.revoked";
/// Told first to who asks for an event that cannot be read any more: `{newest, jobs,
/// has_more_jobs}` with the wire id to go on from and, as of that event, the records of the jobs
/// that live, or of those that the filter names; at most 1,000.
inline constexpr std::string_view kEventReset = "reset";
/// An open subscription; closing it waits for no one.
class Subscription {
 public:
  virtual ~Subscription() = default;
};

/// The only way in for http, mcp and cli: in this process, or over the wire to the process that
/// holds the vault.
class Dispatcher {
 public:
  virtual ~Dispatcher() = default;

  virtual const Registry& registry() const = 0;
  virtual bool has_provider() const = 0;
  virtual AiRoles ai_roles() const { return {.chat = has_provider()}; }
  /// The principal of a bearer token; `unauthorized` for anything else. Safe to call often: cached
  /// for a moment.
  virtual Result<Principal> authenticate(const std::string& token) = 0;

  /// The caller with the rights that its calls really have: over the wire those of the token, too.
  virtual Principal as_granted(const Principal& caller) { return caller; }

  /// Calls `answer` exactly once, on any thread, possibly before it returns. Never blocks on a
  /// provider, a job or another call: those continue on other threads.
  virtual void call(Call call, OnAnswer answer, OnEvent progress = {}) = 0;
  /// The same for callers with a thread to spare.
  Answer call_and_wait(Call call, OnEvent progress = {});

  /// Events after `last_event_id` (nullopt: from now on), then live ones, in id order, without gap
  /// or repeat. An unknown epoch or a pruned id gives first an event of kind `reset`. `sink` runs
  /// on a bus thread and must not block; false ends it.
  virtual Result<std::unique_ptr<Subscription>> subscribe(
      const EventFilter& filter, const std::optional<std::string>& last_event_id,
      std::function<bool(const Event&)> sink) = 0;
  /// Wire form of event ids.
  virtual std::string event_epoch() const = 0;
  /// `{ready, state: starting|ready|draining, …}` for /readyz and /v1/health.
  virtual Json health() = 0;
  /// What the answer to a safe call is made from, as a text that moves whenever the answer may: of
  /// the index, and of the files that the input names. nullopt: nobody can tell cheaply, so the
  /// answer must not be given twice.
  virtual std::optional<std::string> revision(const Operation& /*operation*/,
                                              const Json& /*input*/) {
    return std::nullopt;
  }
  /// Null: this process keeps none.
  virtual Metrics* metrics() { return nullptr; }
  /// Brings those up to date that are looked up when they are asked for.
  virtual Status refresh_metrics() { return {}; }
};

/// Which idempotency row a call owns (G16).
struct IdempotencyKey {
  std::string operation, key, body_hash;
};

/// What the dispatcher needs from the engine.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual const Config& config() const = 0;
  virtual const Clock& clock() const = 0;
  virtual bool has_provider() const = 0;
  virtual AiRoles ai_roles() const { return {.chat = has_provider()}; }
  virtual bool is_draining() const = 0;
  virtual Json health() = 0;

  virtual Result<Principal> authenticate(const std::string& token) = 0;
  /// A context for an inline call. With a key, a note write completes the idempotency row in its
  /// own commit.
  virtual std::unique_ptr<Context> make_context(const Principal& principal,
                                                const CancelToken& cancel,
                                                const std::string& operation,
                                                const std::optional<IdempotencyKey>& key) = 0;
  /// Runs `work` on a lane thread. `unavailable` when no permit is free (G17).
  virtual Status run_on_lane(std::function<void()> work) = 0;

  /// Commits a job, with its idempotency row when there is a key. The row may be there already,
  /// claimed by `claim_key` and without a job: then the job is put into it. If it names a job,
  /// gives that job instead. A live job with the unique key stands for a new one.
  virtual Result<Job> enqueue(const JobRequest& request,
                              const std::optional<IdempotencyKey>& key) = 0;
  /// The same; while the new job runs in this process its answer is told to `stream`. A job that
  /// was there before is not streamed.
  virtual Result<Job> enqueue_streamed(const JobRequest& request,
                                       const std::optional<IdempotencyKey>& key,
                                       const std::shared_ptr<AiStream>& /*stream*/) {
    return enqueue(request, key);
  }
  virtual Result<Job> job(const JobId& id) = 0;
  virtual Result<Job> cancel_job(const JobId& id) = 0;
  /// Counts the callers who wait for a job; the last to leave a job without `keep` cancels it after
  /// 1 s.
  virtual void add_waiter(const JobId& id) = 0;
  virtual void remove_waiter(const JobId& id) = 0;

  struct Remembered {
    bool is_done = false;
    int http_status = 0;
    Json reply;
    std::string job_id;
    std::string body_hash;
  };
  /// nullopt: the key is now ours.
  virtual Result<std::optional<Remembered>> claim_key(const std::string& subject,
                                                      const IdempotencyKey& key) = 0;
  /// Overwrites what a write of the call stored in its own commit: this is the whole answer, `{ok,
  /// data | error}`.
  virtual Status complete_key(const std::string& subject, const IdempotencyKey& key,
                              int http_status, const Json& reply) = 0;
  virtual Status release_key(const std::string& subject, const IdempotencyKey& key) = 0;

  virtual Result<std::unique_ptr<Subscription>> subscribe(
      const EventFilter& filter, const std::optional<std::string>& last_event_id,
      std::function<bool(const Event&)> sink) = 0;
  virtual std::string event_epoch() const = 0;
  /// Of the index (where asked for) and of these files. nullopt: unknown, or a file changed so
  /// shortly ago that its times cannot tell.
  virtual std::optional<std::string> revision(bool /*of_index*/,
                                              const std::vector<std::string>& /*paths*/) {
    return std::nullopt;
  }
  virtual Metrics* metrics() { return nullptr; }
  virtual Status refresh_metrics() { return {}; }
};

/// The dispatcher of the process that holds the vault: token scopes, path globs, schema, rate
/// limit, idempotency, then the handler inline, on a lane (needs a provider), or as a job.
/// Thread-safe.
std::unique_ptr<Dispatcher> make_dispatcher(Registry registry, Backend& backend);

}  // namespace indx
