#pragma once
#include "mcp/method.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// completion/complete: values for arguments of prompts and variables of resource templates, of
/// what the principal may see.
class CompletionMethods {
 public:
  explicit CompletionMethods(const McpServices& services) : services_(services) {}
  std::vector<McpMethod> methods();

 private:
  void complete(const McpRequest& request) const;
  void complete_prompt(const McpRequest& request, const std::string& prompt,
                       const std::string& argument, const std::string& typed) const;
  void complete_resource(const McpRequest& request, const std::string& uri_template,
                         const std::string& variable, const std::string& typed) const;
  /// By a look at the index that stops after a page, however large the vault is.
  void complete_names(const McpRequest& request, const std::string& uri_template,
                      std::string_view source, const std::string& value) const;

  const McpServices services_;
};

/// Names of the variables of a URI template: `vault://search{?q,mode}` has q and mode.
std::vector<std::string> template_variables(std::string_view uri_template);

}  // namespace indx
