#pragma once
#include "mcp/method.hpp"
#include "mcp/resource_uri.hpp"
#include "mcp/resources.hpp"

#include <memory>
#include <string>
#include <vector>

namespace indx {

/// The methods resources/list, resources/templates/list and resources/read.
class ResourceMethods {
 public:
  explicit ResourceMethods(const McpServices& services) : services_(services) {}
  std::vector<McpMethod> methods();

 private:
  struct Page;
  void list(const McpRequest& request) const;
  void add_notes(const std::shared_ptr<Page>& page) const;
  void add_files(const std::shared_ptr<Page>& page) const;
  void list_templates(const McpRequest& request) const;

  struct Read;
  void read(const McpRequest& request) const;
  void run(const std::shared_ptr<const Read>& read, const Operation& operation, Json input) const;
  /// A resource that is made by a job is not waited for longer than hosts wait.
  void give_up_after_wait(const std::shared_ptr<const Read>& read) const;

  const McpServices services_;
};

/// Answers with why there is nothing to read. What may not be seen looks like what is missing.
void answer_resource_error(const McpRequest& request, const Error& error, const std::string& uri);

}  // namespace indx
