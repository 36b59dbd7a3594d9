#pragma once
#include "mcp/confirmation.hpp"
#include "mcp/method.hpp"
#include "mcp/task_calls.hpp"
#include "mcp/tools.hpp"

#include <chrono>
#include <memory>
#include <vector>

namespace indx {

/// tools/list and tools/call.
class ToolMethods {
 public:
  ToolMethods(const McpServices& services, std::shared_ptr<JobFollower> follower)
      : services_(services),
        follower_(std::move(follower)),
        confirmation_(services.clock, services.random) {}
  std::vector<McpMethod> methods();

 private:
  void list(const McpRequest& request) const;
  void call_tool(const McpRequest& request);
  void refuse_hidden(const McpRequest& request, const Operation& operation) const;
  void run(const McpRequest& request, const Operation& operation, ToolArguments arguments,
           TaskUse task_use);
  /// Once `delay` has passed, a call whose work is a job is answered with the job, or with its
  /// task; else it is looked at again later.
  void answer_with_job_after(std::chrono::milliseconds delay, std::weak_ptr<OpenCall> call,
                             McpPeer peer, TaskUse task_use);

  const McpServices services_;
  const std::shared_ptr<JobFollower> follower_;  // shared: with calls that became tasks
  const Confirmation confirmation_;
};

}  // namespace indx
