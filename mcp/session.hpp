#pragma once
#include "base/cancel.hpp"
#include "base/clock.hpp"
#include "base/random.hpp"
#include "base/result.hpp"
#include "mcp/json_rpc.hpp"
#include "mcp/logging.hpp"
#include "mcp/protocol.hpp"
#include "ops/principal.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

class ResourceSubscriber;
class SseStreams;

/// The answer to one request. Status and challenge are for HTTP.
struct McpAnswer {
  Json message;
  int http_status = 200;
  std::string challenge = {};  ///< WWW-Authenticate; empty: none
};

/// Where the messages about one request go. Calls come one at a time, from any thread, and must not
/// block.
class McpReply {
 public:
  virtual ~McpReply() = default;
  virtual void notify(const Json& message) = 0;
  /// False: notifications cannot reach the client, so it must not be left waiting for them.
  virtual bool can_notify() const { return true; }
  /// The last call, unless `drop` is.
  virtual void answer(McpAnswer answer) = 0;
  /// The request was cancelled or the server stops: nothing more will be said.
  virtual void drop(CancelReason reason) = 0;
};

class OpenCalls;

/// What the peer says to a question of ours: its result, or why it gives none.
using OnPeerReply = std::function<void(Result<Json>)>;

/// One request in work. What ends it first wins; nothing is sent afterwards. Thread-safe.
class OpenCall {
 public:
  OpenCall(Json id, std::shared_ptr<McpReply> reply, std::weak_ptr<OpenCalls> owner);

  const Json& id() const { return id_; }
  const CancelToken& token() const { return token_; }
  bool can_notify() const { return reply_->can_notify(); }
  bool is_ended() const;
  std::string job_id() const;
  /// Remembers the job behind the call. False: the peer has cancelled the call, so the job should
  /// end too.
  bool set_job(const std::string& job_id);

  void notify(const Json& message);
  /// Asks the peer something about this call (legacy eras), on the call's own stream. `on_reply`
  /// runs once, on any thread; not at all when the call ends before. `unavailable` at once when
  /// nothing can reach the peer before the answer.
  void ask(std::string_view method, Json params, OnPeerReply on_reply);
  void answer(McpAnswer answer);
  void answer_result(Json result);
  void answer_fault(int code, std::string message, Json data = nullptr);
  /// Ends the call without an answer and stops its work.
  void cancel(CancelReason reason);

 private:
  bool end();  // under mutex_

  const Json id_;
  const std::weak_ptr<OpenCalls> owner_;  // weak: a late answer may outlive the session
  const CancelToken token_;
  mutable std::mutex mutex_;  // held while sending, so that messages keep their order
  const std::shared_ptr<McpReply>
      reply_;  // shared with the transport, which may watch the connection
  bool is_ended_ = false;
  std::string job_id_;
};

/// The requests in work of one session. Ids may repeat: some hosts reuse one for concurrent
/// requests. Thread-safe.
class OpenCalls : public std::enable_shared_from_this<OpenCalls> {
 public:
  std::shared_ptr<OpenCall> open(Json id, std::shared_ptr<McpReply> reply);
  void remove(const OpenCall* call);
  std::vector<std::shared_ptr<OpenCall>> with_id(const Json& id) const;
  void cancel_all(CancelReason reason);
  bool empty() const;
  /// Runs whenever the last request in work ends; it must not block or call back. Set before the
  /// first.
  void when_empty(std::function<void()> callback) { on_empty_ = std::move(callback); }

  /// A fresh id for a question about `call`; the reply to it goes to `on_reply`.
  std::string expect_reply(const OpenCall* call, OnPeerReply on_reply);
  /// A response of the peer; one that nobody waits for is ignored.
  void take_reply(const RpcMessage& response);

 private:
  struct Question {
    const OpenCall* call = nullptr;  // only compared
    OnPeerReply on_reply;
  };
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<OpenCall>> calls_;  // shared with the callbacks of the dispatcher
  std::map<std::string, Question> questions_;     // by the id of our request
  std::uint64_t asked_ = 0;
  std::function<void()> on_empty_;
};

/// Where messages go that belong to no request: changes of lists and resources, log lines. Calls
/// come from any thread and must not block; what cannot be delivered is dropped.
class McpChannel {
 public:
  virtual ~McpChannel() = default;
  virtual void send(const Json& notification) = 0;
  /// Whether somebody reads just now.
  virtual bool is_open() const { return true; }
  /// The session is over.
  virtual void close() {}
};

/// What initialize agreed on. Constant after that, but for the calls, the streams, the channel, the
/// subscriptions and the log.
struct McpSession {
  std::string id;
  std::string subject;  ///< of the principal that opened it; no other may use it
  const Protocol* protocol = nullptr;
  Json client_capabilities = Json::object();
  std::shared_ptr<OpenCalls> calls = std::make_shared<OpenCalls>();
  std::shared_ptr<SseStreams> streams;                ///< HTTP only
  std::shared_ptr<McpChannel> channel;                ///< null: the transport has none
  std::shared_ptr<ResourceSubscriber> subscriptions;  ///< null: none yet; ends with the session
  McpLogFilter log;                                   ///< what of the log the client wants
  std::atomic<bool> is_over = false;                  ///< the client has ended it
};

enum class McpTransport : std::uint8_t { Http, Stdio };

/// What one message is handled under. Legacy: from its session; modern: from the request itself.
struct McpPeer {
  McpTransport transport = McpTransport::Stdio;
  const Protocol* protocol = nullptr;  ///< null: not initialised
  Principal principal;
  std::shared_ptr<OpenCalls> calls;
  std::shared_ptr<McpSession> session;  ///< null: the modern era has none
  Json client_capabilities = Json::object();
};

/// The sessions of the HTTP transport. Thread-safe.
class SessionTable {
 public:
  struct Limits {
    std::size_t max_sessions = 1000;
    /// Without use a session ends after this time: never while a request is in work, and only
    /// after 24 times as long while the client listens.
    std::chrono::milliseconds idle{std::chrono::hours(1)};
  };
  SessionTable(Limits limits, const Clock& clock, Random& random);

  /// Gives the session its id. At the cap the longest idle one without open work ends, one that
  /// listens only when none else is left; false: all are busy.
  bool add(const std::shared_ptr<McpSession>& session);
  /// nullptr: unknown, expired, or of another subject. Counts as use.
  std::shared_ptr<McpSession> find(const std::string& id, const std::string& subject);
  /// False: as for find.
  bool close(const std::string& id, const std::string& subject);
  void close_all(CancelReason reason);
  std::size_t size() const;

 private:
  using Time = std::atomic<std::chrono::nanoseconds>;
  struct Row {
    std::shared_ptr<McpSession> session;
    std::shared_ptr<Time> last_used;  ///< shared with the session's calls, whose end is a use
  };
  using Rows = std::map<std::string, Row, std::less<>>;
  bool is_expired(const Row& row) const;
  /// Frees what sessions that are left alone still keep for their clients. Under the mutex.
  void sweep();
  /// Takes out what has to go before one more fits in. Under the mutex.
  std::vector<std::shared_ptr<McpSession>> take_superfluous();
  /// Among those of the principal that has the most, so that one client's sessions do not cost
  /// another its own; of anybody when all of those are busy.
  Rows::iterator longest_idle();
  Rows::iterator longest_idle_of(const std::optional<std::string>& subject);

  const Limits limits_;
  const Clock& clock_;
  Random& random_;
  mutable std::mutex mutex_;
  Rows rows_;
  std::chrono::nanoseconds swept_at_{};
};

}  // namespace indx
