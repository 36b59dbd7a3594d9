#pragma once
#include "mcp/method.hpp"

#include <chrono>
#include <memory>
#include <vector>

namespace indx {

/// tools/list and tools/call.
class ToolMethods {
 public:
  explicit ToolMethods(const McpServices& services) : services_(services) {}
  std::vector<McpMethod> methods();

 private:
  void list(const McpRequest& request) const;
  void call_tool(const McpRequest& request);
  void refuse_hidden(const McpRequest& request, const Operation& operation) const;
  /// Once `delay` has passed, a call whose work is a job is answered with the job; else it is
  /// looked at again later.
  void answer_with_job_after(std::chrono::milliseconds delay, const std::shared_ptr<OpenCall>& call,
                             const Protocol& protocol);

  const McpServices services_;
};

}  // namespace indx
