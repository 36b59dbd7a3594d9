#pragma once
#include "mcp/protocol.hpp"
#include "ops/operation.hpp"

#include <string>
#include <vector>

namespace indx {

/// Operations as MCP tools: descriptions, arguments and results as values.

/// One entry of tools/list.
Json tool_descriptor(const Operation& operation, const Protocol& protocol);

/// The arguments of a tools/call in the form of the REST input, with the names of what had to be
/// repaired.
struct ToolArguments {
  Json input;
  std::vector<std::string> repaired;
};
Result<ToolArguments> tool_arguments(const Operation& operation, const Json& arguments);

/// The result of a call that went well: a summary, the JSON as text, and the same structured. Long
/// results are cut and say so.
Json tool_result(const Operation& operation, const Json& output,
                 const std::vector<std::string>& repaired, const Protocol& protocol);
/// The result of a call that goes on as a job.
Json tool_job_result(const std::string& job_id, const std::string& status,
                     const Protocol& protocol);
/// `{code, message, details}` as text: structured content of an error would be checked against the
/// output schema.
Json tool_error(const Error& error);

/// A value cut until it is at most `max_bytes` as JSON: first its longest strings and lists.
/// `*cuts` says what is missing.
Json cut_to_size(Json value, std::size_t max_bytes, std::vector<std::string>* cuts);

}  // namespace indx
