#pragma once
#include "mcp/method.hpp"

#include <vector>

namespace indx {

/// prompts/list and prompts/get.
class PromptMethods {
 public:
  explicit PromptMethods(const McpServices& services) : services_(services) {}
  std::vector<McpMethod> methods();

 private:
  void list(const McpRequest& request) const;
  void get(const McpRequest& request) const;

  const McpServices services_;
};

struct Prompt;
/// Whether the principal may call everything that fills the prompt.
bool may_use(const Dispatcher& dispatcher, const Principal& principal, const Prompt& prompt);

}  // namespace indx
