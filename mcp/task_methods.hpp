#pragma once
#include "mcp/job_follower.hpp"
#include "mcp/method.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace indx {

/// tasks/…: both forms over the jobs of the caller (mcp.md section 7).
class TaskMethods {
 public:
  TaskMethods(const McpServices& services, std::shared_ptr<JobFollower> follower)
      : services_(services), follower_(std::move(follower)) {}
  std::vector<McpMethod> methods();

 private:
  using Then = std::function<void(const Json& record)>;

  void get(const McpRequest& request) const;
  void result(const McpRequest& request) const;
  void list(const McpRequest& request) const;
  void update(const McpRequest& request) const;
  void cancel(const McpRequest& request) const;
  /// The record of the job that the request names, where it is the caller's; else answers it.
  void with_record(const McpRequest& request, Then then) const;
  bool has_tasks(const McpRequest& request) const;

  const McpServices services_;
  const std::shared_ptr<JobFollower> follower_;  // shared: with calls that became tasks
};

}  // namespace indx
