#include "mcp/tools.hpp"

#include "base/number_text.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "mcp/json_rpc.hpp"

#include <algorithm>
#include <cctype>

namespace indx {
namespace {

constexpr std::size_t kMaxTitleBytes = 60;
constexpr std::size_t kMaxDescriptionBytes = 1024;
/// Hosts refuse or spill results over 25,000 tokens (mcp.md section 9).
constexpr std::size_t kMaxTextBytes = 39'000;
constexpr std::size_t kMaxStructuredBytes = 96'000;
constexpr std::size_t kMaxSummaryBytes = 480;

std::string tool_title(const Operation& operation) {
  std::string title = operation.summary;
  while (title.ends_with('.')) title.pop_back();
  if (!title.empty() && title.size() <= kMaxTitleBytes) return title;
  title = replace_all(operation.name, "_", " ");
  if (!title.empty())
    title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  return title;
}

/// May answer with a job instead of its output.
bool may_become_job(const Operation& operation) { return operation.execution != Execution::Inline; }

Json output_schema(const Operation& operation) {
  Json schema = to_portable_schema(operation.output);
  if (!may_become_job(operation)) return schema;
  schema.erase("required");
  schema["properties"]["job_id"] = {
      {"type", "string"}, {"description", "Given instead of a result: the job that goes on."}};
  schema["properties"]["status"] = {{"type", "string"}, {"description", "State of that job."}};
  return schema;
}

Json text_block(std::string text) { return {{"type", "text"}, {"text", std::move(text)}}; }

std::size_t json_size(const Json& value) { return dump_rpc(value).size(); }

/// The string or list that makes `value` long: what cutting should start with.
Json* longest_part(Json& value, std::string& path) {
  if (value.is_string()) return &value;
  if (!value.is_structured() || value.empty()) return nullptr;
  Json* longest = nullptr;
  std::string step;
  std::size_t longest_size = 0, total = 0;
  const auto look = [&](Json& child, std::string name) {
    const std::size_t size = json_size(child);
    total += size;
    if (longest && size <= longest_size) return;
    longest = &child;
    longest_size = size;
    step = std::move(name);
  };
  if (value.is_object()) {
    for (auto& [key, child] : value.items()) look(child, path.empty() ? key : "." + key);
  } else {
    std::size_t index = 0;
    for (auto& child : value) look(child, cat('[', index++, ']'));
    if (longest_size * 2 <= total || !(longest->is_string() || longest->is_structured()))
      return &value;
  }
  const std::size_t length = path.size();
  path += step;
  if (Json* part = longest_part(*longest, path)) return part;
  path.resize(length);
  return value.is_array() ? &value : nullptr;
}

/// The length of the longest prefix that takes at most `budget` bytes as JSON.
std::size_t prefix_in_json(std::string_view text, std::size_t budget) {
  std::size_t used = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    used += c == '"' || c == '\\' || c == '\n' || c == '\t' || c == '\r' ? 2 : c < 0x20 ? 6 : 1;
    if (used > budget) return i;
  }
  return text.size();
}

std::string cut_string(Json& value, std::size_t excess) {
  const std::string text = value.get<std::string>();
  const std::size_t size = json_size(value);
  constexpr std::size_t kMarkerBytes = 80;
  const std::size_t budget = size > excess + kMarkerBytes ? size - excess - kMarkerBytes : 0;
  const std::string_view kept = prefix_at_grapheme(text, prefix_in_json(text, budget));
  value =
      cat(kept, "\n[indx cut this text here: ", kept.size(), " of ", text.size(), " bytes shown]");
  return cat("shows ", kept.size(), " of ", text.size(), " bytes");
}

std::string cut_list(Json& value, std::size_t excess) {
  const std::size_t all = value.size();
  std::size_t removed = 0;
  while (!value.empty() && removed < excess) {
    removed += json_size(value.back()) + 1;
    value.erase(value.size() - 1);
  }
  return cat("shows ", value.size(), " of ", all, " items");
}

/// One short line about any output, made only from it.
std::string summary_line(const Operation& operation, const Json& output) {
  std::string line = operation.name;
  if (!output.is_object()) return line + ": done.";
  std::vector<std::string> facts;
  for (const auto& [key, value] : output.items()) {
    if (value.is_array()) {
      facts.push_back(cat(value.size(), ' ', key));
      if (!value.empty() && value[0].is_object() && value[0].contains("path") &&
          value[0]["path"].is_string())
        facts.push_back("first " + value[0]["path"].get<std::string>());
    } else if (value.is_boolean() || value.is_number()) {
      facts.push_back(cat(key, ' ', value.dump()));
    } else if (value.is_string() &&
               (key == "path" || key == "etag" || key == "id" || key == "state")) {
      facts.push_back(cat(key, ' ', value.get<std::string>()));
    }
  }
  line += facts.empty() ? ": done" : ": " + join(facts, ", ");
  if (line.size() > kMaxSummaryBytes) line = cat(prefix_at_grapheme(line, kMaxSummaryBytes), "…");
  if (output.contains("next_cursor")) line += "; more with next_cursor";
  return line + ".";
}

std::string_view next_step(Reason reason) {
  switch (reason) {
    case Reason::EtagMismatch:
      return "Read the note again, redo the change on what you read, and pass the new etag as "
             "if_match.";
    case Reason::NotFound:
      return "Look for the right name with vault_search or note_list.";
    case Reason::ValidationFailed:
      return "Correct the arguments as the message says and call again.";
    case Reason::Forbidden:
      return "This token may not do that. Ask the user for a token with more scopes.";
    case Reason::AiUnavailable:
      return "AI is not configured here. Use the other tools, or ask the user to configure a "
             "provider.";
    case Reason::ConfirmationRequired:
      return "Ask the user before you repeat the call with confirmation.";
    default:
      break;
  }
  return reason_row(reason).is_retryable
             ? "The same call may succeed later: wait a moment and repeat it."
             : "";
}

}  // namespace

Json tool_descriptor(const Operation& operation, const Protocol& protocol) {
  std::string description = operation.summary;
  if (!operation.guidance.empty()) description += " " + operation.guidance;
  const std::string title = tool_title(operation);
  const bool is_read = operation.effect == Effect::Reads;

  Json tool = {{"name", operation.name}};
  if (protocol.has_title) tool["title"] = title;
  tool["description"] = prefix_at_grapheme(description, kMaxDescriptionBytes);
  tool["inputSchema"] = to_portable_schema(operation.input);
  if (protocol.has_structured_content) tool["outputSchema"] = output_schema(operation);
  if (protocol.has_tasks && may_become_job(operation))
    tool["execution"] = {{"taskSupport", "optional"}};
  if (!protocol.has_annotations) return tool;
  tool["annotations"] = {{"title", title},
                         {"readOnlyHint", is_read},
                         {"destructiveHint", operation.effect == Effect::Destructive},
                         {"idempotentHint", is_read || operation.is_idempotent},
                         {"openWorldHint", false}};
  return tool;
}

Result<ToolArguments> tool_arguments(const Operation& operation, const Json& arguments) {
  ToolArguments result;
  Json given = arguments;
  if (given.is_string()) {
    Json parsed = Json::parse(given.get_ref<const std::string&>(), nullptr, false);
    if (parsed.is_object()) {
      if (const auto number = oversized_integer(given.get_ref<const std::string&>()))
        return number_too_large("`arguments`", *number);
      given = std::move(parsed);
      result.repaired.emplace_back("arguments");
    }
  }
  if (given.is_null()) given = Json::object();
  if (!given.is_object())
    return invalid("`arguments` must be an object with the fields of the tool's inputSchema.",
                   {{"path", "arguments"}, {"expected", "object"}, {"actual", given.type_name()}});
  result.input = repair_arguments(operation.input, std::move(given), &result.repaired);
  return result;
}

Json tool_result(const Operation& operation, const Json& output,
                 const std::vector<std::string>& repaired, const Protocol& protocol) {
  const Json portable = to_portable_value(operation.output, output);
  std::vector<std::string> text_cuts, cuts;
  const Json shown = cut_to_size(portable, kMaxTextBytes, &text_cuts);

  std::string summary = summary_line(operation, portable);
  if (!text_cuts.empty())
    summary += cat(" The result is cut: ", join(text_cuts, "; "),
                   ". To see the rest, ask for less at a time (a lower limit, fewer include parts, "
                   "one heading), or read "
                   "the resource vault://<path>.");
  Json result = {{"content", Json::array({text_block(summary), text_block(dump_rpc(shown))})}};
  if (protocol.has_structured_content)
    result["structuredContent"] = cut_to_size(portable, kMaxStructuredBytes, &cuts);
  result["isError"] = false;
  Json meta = Json::object();
  if (!repaired.empty()) meta["indx/repaired"] = repaired;
  if (!text_cuts.empty()) meta["indx/cut_text"] = text_cuts;
  if (!cuts.empty()) meta["indx/cut"] = cuts;
  if (!meta.empty()) result["_meta"] = std::move(meta);
  return result;
}

Json tool_job_result(const std::string& job_id, const std::string& status,
                     const Protocol& protocol) {
  const Json body = {{"job_id", job_id}, {"status", status}};
  Json result = {
      {"content",
       Json::array({text_block(cat("The work goes on as job ", job_id,
                                   ". Call job_get with this id every few seconds until its state "
                                   "is succeeded, failed, dead or cancelled.")),
                    text_block(dump_rpc(body))})}};
  if (protocol.has_structured_content) result["structuredContent"] = body;
  result["isError"] = false;
  return result;
}

Json tool_error(const Error& error) {
  Json content = Json::array({text_block(dump_rpc(error.to_json()))});
  if (const auto next = next_step(error.reason); !next.empty())
    content.push_back(text_block(std::string(next)));
  return {{"content", std::move(content)}, {"isError", true}};
}

Json cut_to_size(Json value, std::size_t max_bytes, std::vector<std::string>* cuts) {
  constexpr int kMaxCuts = 64;
  for (int i = 0; i < kMaxCuts; ++i) {
    const std::size_t size = json_size(value);
    if (size <= max_bytes) break;
    std::string path;
    Json* part = longest_part(value, path);
    constexpr std::size_t kWorthCutting = 200;  // shorter text would grow by the marker
    if (part == nullptr || part->empty()) break;
    if (part->is_string() && part->get_ref<const std::string&>().size() < kWorthCutting) break;
    const std::string done =
        part->is_string() ? cut_string(*part, size - max_bytes) : cut_list(*part, size - max_bytes);
    if (cuts) cuts->push_back(cat(path.empty() ? "the result" : path, ' ', done));
  }
  return value;
}

}  // namespace indx
