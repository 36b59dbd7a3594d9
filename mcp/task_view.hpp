#pragma once
#include "base/json.hpp"
#include "mcp/protocol.hpp"
#include "mcp/session.hpp"
#include "ops/operation.hpp"

#include <string>
#include <string_view>

namespace indx {

/// A task of MCP is a job seen from outside (mcp.md section 7). Nothing is stored for it: its id is
/// that of the job, and both views are made from the record that job_get gives.

inline constexpr std::string_view kRelatedTask = "io.modelcontextprotocol/related-task";

/// Whether a call of the operation may go on as a job, and so as a task.
bool may_become_task(const Operation& operation);
/// Modern: what a client declares that understands tasks; and whether that of this request does.
Json task_capability();
bool declares_tasks(const McpPeer& peer);

/// `working | completed | failed | cancelled`. Legacy: an error result is a failure, and a
/// cancelled task stays cancelled though its work may still come to an end. Modern: a task with a
/// result is complete, whatever the result says.
std::string_view task_status(const Json& record, Era era);
bool is_terminal_task(const Json& record, Era era);

/// `{taskId, status, statusMessage?, createdAt, lastUpdatedAt, ttl, pollInterval}`; modern:
/// `ttlMs`, `pollIntervalMs`. Times in ms.
Json task_view(const Json& record, Era era);

/// The operation whose result a task has; nullptr: the job is none that a caller starts, or not the
/// caller's own. An admin may see the jobs of others, but they are no tasks of his.
const Operation* operation_of_task(const Registry& registry, const Json& record);

/// What tasks/get answers: the view; modern: with the `result` of a completed task.
Json task_with_result(const Json& record, const Registry& registry, const Protocol& protocol);

/// What tools/call would have answered: the result of a final record. `operation` is that of the
/// record's kind.
Json task_result(const Json& record, const Operation& operation, const Protocol& protocol);

/// Says in a tool's result which job made it, and how to undo it where it may have written.
void name_job(Json& result, const Operation& operation, const Json& output,
              const std::string& job_id);

}  // namespace indx
