#pragma once
#include "mcp/catalog.hpp"
#include "mcp/confirmation.hpp"
#include "mcp/method.hpp"
#include "mcp/replay_cache.hpp"
#include "mcp/task_calls.hpp"
#include "mcp/tools.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace indx {

/// tools/list and tools/call.
class ToolMethods {
 public:
  ToolMethods(const McpServices& services, std::shared_ptr<JobFollower> follower)
      : services_(services),
        follower_(std::move(follower)),
        confirmation_(services),
        replays_(std::make_shared<ReplayCache>(services.clock)) {}
  std::vector<McpMethod> methods();

 private:
  struct Work;

  void list(const McpRequest& request);
  /// Finds the tool, checks that the principal may call it, reads the arguments.
  void call_tool(const McpRequest& request);
  void refuse_hidden(const McpRequest& request, const Operation& operation) const;
  void run(const McpRequest& request, ToolArguments arguments, TaskUse task_use);
  /// Once `delay` has passed, a call whose work is a job is answered with the job, or with its
  /// task; else it is looked at again later.
  void answer_with_job_after(std::chrono::milliseconds delay, const std::shared_ptr<Work>& work);

  /// Cancels the job of a call that was cancelled before its job was known.
  static void know_job(const Work& work, const std::string& job_id);
  static void start(const std::shared_ptr<Work>& work);
  static void finish(const std::shared_ptr<Work>& work, const Answer& answer);

  const McpServices services_;
  const std::shared_ptr<JobFollower> follower_;  // shared: with calls that became tasks
  const Confirmation confirmation_;
  const std::shared_ptr<ReplayCache> replays_;  // shared: with work that may outlive the server
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Json>> catalogs_;  // by who sees them
};

}  // namespace indx
