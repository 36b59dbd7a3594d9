#pragma once
#include "mcp/catalog.hpp"
#include "mcp/protocol.hpp"
#include "ops/files.hpp"
#include "ops/operation.hpp"

#include <memory>
#include <string>
#include <vector>

namespace indx {

/// Calls of tools: arguments and results as values.

/// The arguments of a tools/call: which operation they mean, its input in the form of REST, the
/// file that came with them, and the names of what had to be repaired.
struct ToolArguments {
  const Operation* operation = nullptr;
  Json input;
  std::shared_ptr<const Upload> upload;
  std::vector<std::string> repaired;
};
/// `validation_failed` where no operation is meant, or a field belongs to another action; it names
/// what `caller` may call, and everything for null.
Result<ToolArguments> tool_arguments(const Tool& tool, const Json& arguments,
                                     const Principal* caller = nullptr);
/// The operation that a call is about, for a refusal: the first of a group whose action names none.
const Operation& asked_operation(const Tool& tool, const Json* arguments);

/// The result of a call that went well: a summary, the JSON as text, and the same structured. What
/// is too long is cut alike in both, and says so and how to see the rest. `job_id` of the job that
/// made it; empty: none did.
Json tool_result(const Operation& operation, const Json& output,
                 const std::vector<std::string>& repaired, const Protocol& protocol,
                 const Json& input = Json::object(), const std::string& job_id = {});
/// The result of a call that goes on as a job.
Json tool_job_result(const std::string& job_id, const std::string& status,
                     const Protocol& protocol);
/// `{code, message, details}` as text: structured content of an error would be checked against the
/// output schema. Then what to do next; `operation` is what failed.
Json tool_error(const Error& error, const Operation* operation = nullptr);

}  // namespace indx
