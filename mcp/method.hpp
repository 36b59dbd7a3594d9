#pragma once
#include "mcp/deadlines.hpp"
#include "mcp/session.hpp"
#include "ops/dispatch.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace indx {

/// How updates of resources are gathered.
struct SubscriptionTiming {
  std::chrono::milliseconds gather{250};  ///< from a change to the updates about it
  std::chrono::milliseconds rest{1000};   ///< least time between two looks at a question, and
                                          ///< between two notices of a changed list
};

/// Limits and what tests replace.
struct McpOptions {
  const Clock* clock = nullptr;                ///< null: the system's
  Random* random = nullptr;                    ///< null: the system's
  std::chrono::milliseconds job_wait{40'000};  ///< hosts give up after 60 s without progress
  std::chrono::milliseconds task_wait{1'000};  ///< modern: work that takes longer becomes a task
  std::chrono::milliseconds progress_gap{
      250};  ///< least time between two progress notifications of a call
  std::chrono::milliseconds stream_start{
      5'000};  ///< a call that may stream shows its headers after this time
  SessionTable::Limits sessions;
  SubscriptionTiming subscriptions;
  bool has_fixtures =
      false;  ///< shows what the conformance suite looks for, in builds that have it
};

/// One request in work, as its method sees it.
struct McpRequest {
  McpPeer peer;
  RpcMessage message;
  std::shared_ptr<OpenCall> call;  ///< where the answer goes; shared with the callbacks of the work
};

/// A method of the protocol. `run` answers through the call, now or later, and never blocks.
struct McpMethod {
  std::string_view name;
  bool is_legacy = true, is_modern = true;  ///< the eras that have it
  std::function<void(const McpRequest&)> run;
};

/// What the groups of methods share.
struct McpServices {
  Dispatcher& dispatcher;
  const McpOptions& options;
  const Clock& clock;
  Random& random;
  Deadlines& deadlines;
};

}  // namespace indx
