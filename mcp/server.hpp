#pragma once
#include "mcp/deadlines.hpp"
#include "mcp/session.hpp"
#include "ops/dispatch.hpp"

#include <memory>
#include <string>
#include <vector>

namespace indx {

/// Limits and what tests replace.
struct McpOptions {
  const Clock* clock = nullptr;                ///< null: the system's
  Random* random = nullptr;                    ///< null: the system's
  std::chrono::milliseconds job_wait{50'000};  ///< hosts give up after 60 s without progress
  std::chrono::milliseconds progress_gap{
      250};  ///< least time between two progress notifications of a call
  std::chrono::milliseconds stream_start{
      5'000};  ///< a call that may stream shows its headers after this time
  SessionTable::Limits sessions;
};

enum class McpTransport : std::uint8_t { Http, Stdio };

/// What one message is handled under. Legacy: from its session; modern: from the request itself.
struct McpPeer {
  McpTransport transport = McpTransport::Stdio;
  const Protocol* protocol = nullptr;  ///< null: not initialised
  Principal principal;
  std::shared_ptr<OpenCalls> calls;
};

/// Turns JSON-RPC messages into calls of the dispatcher. Transports move bytes. Thread-safe; never
/// blocks.
class McpServer {
 public:
  McpServer(Dispatcher& dispatcher, const McpOptions& options);

  /// The legacy handshake; `protocol` is null when it failed.
  struct Handshake {
    McpAnswer answer;
    const Protocol* protocol = nullptr;
    Json client_capabilities;
  };
  Handshake initialize(const RpcMessage& message) const;

  /// Answers every request but initialize, now or later.
  void request(const McpPeer& peer, const RpcMessage& message, std::shared_ptr<McpReply> reply);
  void notification(const McpPeer& peer, const RpcMessage& message);

  const Clock& clock() const { return clock_; }
  Random& random() const { return random_; }
  Deadlines& deadlines() { return deadlines_; }
  const McpOptions& options() const { return options_; }

 private:
  using CallPtr = std::shared_ptr<OpenCall>;
  void list_tools(const McpPeer& peer, const CallPtr& call) const;
  void call_tool(const McpPeer& peer, const RpcMessage& message, const CallPtr& call);
  void refuse_hidden_tool(const McpPeer& peer, const Operation& operation,
                          const CallPtr& call) const;
  void list_resources(const McpPeer& peer, const RpcMessage& message, const CallPtr& call);
  void read_resource(const McpPeer& peer, const RpcMessage& message, const CallPtr& call);
  /// An operation that a method is made of; answers -32601 itself when there is none.
  const Operation* operation_behind(std::string_view name, const CallPtr& call) const;
  /// Once `delay` has passed, a call whose work is a job is answered with the job; else it is
  /// looked at again later.
  void answer_with_job_after(std::chrono::milliseconds delay, const CallPtr& call,
                             const Protocol& protocol);

  Dispatcher& dispatcher_;
  const McpOptions options_;
  const Clock& clock_;
  Random& random_;
  Deadlines deadlines_;
};

}  // namespace indx
