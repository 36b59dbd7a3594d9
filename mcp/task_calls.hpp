#pragma once
#include "mcp/job_follower.hpp"
#include "mcp/method.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace indx {

/// tools/call whose work goes on as a task.

enum class TaskUse : std::uint8_t {
  None,
  AtOnce,   ///< legacy: the client asked for a task
  WhenLong  ///< modern: the client takes one where we choose to make it
};

/// nullopt: the call asks for a task and cannot be one; it has been answered.
std::optional<TaskUse> task_use(const McpRequest& request, const Operation& operation);

/// Modern: answers a call with the task that its work has become. The job is stored already.
void answer_with_task(Dispatcher& dispatcher, const McpPeer& peer,
                      const std::shared_ptr<OpenCall>& call, const std::string& job_id);

/// Legacy: answers a call that asked for a task. Afterwards the peer hears of the task on its
/// channel, where it has one: its status, and progress while it wanted that. An error is one of
/// JSON-RPC: clients read nothing else where they wait for a task. `token` is that of progress
/// or null; `repaired` as for tool_result, which will not have it.
void answer_created_task(const McpServices& services, JobFollower& follower, const McpPeer& peer,
                         const std::shared_ptr<OpenCall>& call, Json token, const Answer& answer,
                         const std::vector<std::string>& repaired);

/// An error in answer to a call: of JSON-RPC where it asked for a task, else a tool result.
/// `operation`: null where it is not known.
void answer_call_error(const McpRequest& request, const Error& error,
                       const Operation* operation = nullptr);
/// The same always as one of JSON-RPC.
void answer_fault_of(OpenCall& call, const Error& error);

}  // namespace indx
