#pragma once
#include "mcp/method.hpp"

#include <vector>

namespace indx {

/// The methods resources/….
class ResourceMethods {
 public:
  explicit ResourceMethods(const McpServices& services) : services_(services) {}
  std::vector<McpMethod> methods();

 private:
  void list(const McpRequest& request) const;
  void read(const McpRequest& request) const;

  const McpServices services_;
};

}  // namespace indx
