#include "mcp/tools.hpp"

#include "base/json_depth.hpp"
#include "base/number_text.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "mcp/json_rpc.hpp"
#include "mcp/operation_call.hpp"
#include "mcp/result_size.hpp"
#include "mcp/tool_files.hpp"
#include "mcp/tool_summary.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace indx {
namespace {

Json text_block(std::string text) { return {{"type", "text"}, {"text", std::move(text)}}; }

/// Where the names are that this operation takes.
std::string_view where_to_look(const Error& error, const Operation* operation) {
  const bool is_object = error.details.is_object();
  if (is_object && error.details.contains("version"))
    return "See the versions that are kept with note_explore and action note_history.";
  const std::string_view asked = operation ? std::string_view(operation->name) : "";
  const std::array<std::pair<std::string_view, std::string_view>, 3> lists = {{
      {"job_", "See what there is with vault_lists and action job_list."},
      {"schedule_", "See what there is with vault_lists and action schedule_list."},
      {"token_", "See what there is with vault_lists and action token_list."},
  }};
  const bool is_file = is_object && error.details.contains("path");
  for (const auto& [prefix, text] : lists)
    if (!is_file && asked.starts_with(prefix)) return text;
  if (is_file || (operation && operation->input->find("path") && !error.details.contains("view")))
    return "Look for the right path with vault_search or note_list.";
  return "Choose one of those that the message names, or list what there is first.";
}

std::string_view how_to_be_allowed(const Error& error) {
  if (error.details.is_object() && error.details.contains("required_scopes"))
    return "This token may not do that. Ask the user for a token with the scopes that the details "
           "name.";
  return "Leave this place alone, or ask the user: no other call opens it to you.";
}

/// Wait, and the same call may go well.
std::string wait_and_repeat(const Error& error) {
  const Json* seconds = member(error.details, "retry_after_s");
  return cat("The same call may succeed later: wait ",
             seconds && seconds->is_number() ? cat(seconds->dump(), " s") : "a moment",
             " and repeat it.");
}

/// What the caller of the tool does now. Every reason has an answer.
std::string next_step(const Error& error, const Operation* operation) {
  const Reason reason = error.reason;
  switch (reason) {
    case Reason::ValidationFailed:
      return "Correct the arguments as the message says and call again.";
    case Reason::Unauthorized:
      return "The token is missing, wrong or revoked. Ask the user for one that works; "
             "`indx token create` makes one.";
    case Reason::Forbidden:
      return std::string(how_to_be_allowed(error));
    case Reason::ConfirmationRequired:
      // Only a person can give it (mcp/confirmation.cpp).
      if (error.details.contains("accept"))
        return "Send the call again with a header Accept that allows text/event-stream, so that "
               "the person can be asked.";
      return "The person did not say yes, and nothing was changed. Do not repeat the call unless "
             "they ask for it.";
    case Reason::NotFound:
      return std::string(where_to_look(error, operation));
    case Reason::MethodNotAllowed:
      return "Use one of the tools that tools/list names.";
    case Reason::Conflict:
      return "Read what is there now, then choose another name or change that.";
    case Reason::Ambiguous:
      return "Say which one you mean with the fields that the details name.";
    case Reason::IdempotencyKeyReused:
      return "Use a new key for a new call.";
    case Reason::AiApplyConflict:
      return "Read the notes that the details name again and repeat the call with their etags.";
    case Reason::StaleLease:
      return "The job goes on elsewhere. Look at it with job_get.";
    case Reason::UnsupportedVersion:
      return "The job was made by another version of indx. Make the call again as a new one.";
    case Reason::EtagMismatch:
      return "Read the note again, redo the change on what you read, and pass the new etag as "
             "if_match.";
    case Reason::TooLarge:
    case Reason::AiInputTooLarge:
      return "Ask for less at a time.";
    case Reason::TargetNotFound:
      return "See what there is with note_outline, or with note_explore and action document_map.";
    case Reason::NotUtf8:
    case Reason::ParseFailed:
      return "Read the file as it is with note_read and include raw, and mend that place first.";
    case Reason::VaultLocked:
    case Reason::InProgress:
    case Reason::RateLimited:
    case Reason::Unavailable:
    case Reason::Draining:
    case Reason::Timeout:
    case Reason::AiProviderError:
      return wait_and_repeat(error);
    case Reason::Cancelled:
      return "It was stopped on request. Call again only if the user wants it after all.";
    case Reason::StepKeyReused:
    case Reason::Suspended:
    case Reason::Internal:
    case Reason::kCount:
      return "This is a fault of the server, not of the call: do not repeat it unchanged. Tell the "
             "user, who finds more in the log of indx.";
    case Reason::AiUnavailable:
      return "AI is not configured here. Use the other tools, or ask the user to configure a "
             "provider.";
    case Reason::AiQuotaExceeded:
      return "Do without AI for now, or ask the user to raise the budget.";
    case Reason::AiGroundingFailed:
      return "What the model said does not rest on the notes. Ask about fewer notes, or put it in "
             "other words.";
    case Reason::AiSchemaInvalid:
      return "Simplify the schema as the message says.";
  }
  return "";
}

/// The arguments as an object; JSON text of one is read.
Result<Json> argument_object(const Json& arguments, std::vector<std::string>& repaired) {
  Json given = arguments;
  if (given.is_string()) {
    Json parsed = parse_shallow_json(given.get_ref<const std::string&>());
    if (parsed.is_object()) {
      if (const auto number = oversized_integer(given.get_ref<const std::string&>()))
        return number_too_large("`arguments`", *number);
      given = std::move(parsed);
      repaired.emplace_back("arguments");
    }
  }
  if (given.is_null()) given = Json::object();
  if (given.is_object()) return given;
  return invalid("`arguments` must be an object with the fields of the tool's inputSchema.",
                 {{"path", "arguments"}, {"expected", "object"}, {"actual", given.type_name()}});
}

/// The operation that the arguments of a group name; takes the name out of them.
Result<const Operation*> take_action(const Tool& tool, const Principal* caller, Json& arguments) {
  if (!tool.group) return tool.operations.front();
  const auto action = string_member(arguments, kActionField);
  const Operation* operation = action ? tool.find_action(*action) : nullptr;
  arguments.erase(std::string(kActionField));
  if (operation) return operation;
  const std::string names = tool.action_names(caller);
  return invalid(cat("`action` says what ", tool.name, " does. It must be one of ", names, '.'),
                 {{"path", kActionField},
                  {"expected", "one of " + names},
                  {"actual", action ? std::string(prefix_at_grapheme(*action, 60)) : "missing"}});
}

bool is_empty(const Json& value) {
  return value.is_null() || (value.is_structured() && value.empty()) || value == "";
}

bool takes(const Operation& operation, const std::string& key) {
  const auto& fields = operation.input->properties;
  return std::any_of(fields.begin(), fields.end(), [&](const auto& field) {
    return field.name == key ||
           (field.schema.type == SchemaNode::Type::Any && field.name + "_json" == key);
  });
}

/// Fields of other actions: an empty one was only filled in by the host; another is a mistake.
Status drop_other_fields(const Tool& tool, const Principal* caller, const Operation& operation,
                         Json& arguments, std::vector<std::string>& repaired) {
  std::vector<std::string> empty;
  for (const auto& [key, value] : arguments.items()) {
    if (takes(operation, key)) continue;
    std::vector<std::string> takers;
    for (const Operation* other : tool.operations)
      if (takes(*other, key) && (!caller || may_call(*caller, *other)))
        takers.push_back(other->name);
    if (takers.empty()) continue;
    if (!is_empty(value))
      return invalid(cat("`", key, "` means nothing to the action ", operation.name, "; ",
                         join(takers, ", "), takers.size() == 1 ? " takes it." : " take it."),
                     {{"path", key}, {"expected", "nothing"}, {"actual", "a value"}});
    empty.push_back(key);
  }
  for (const std::string& key : empty) {
    arguments.erase(key);
    repaired.push_back(key);
  }
  return {};
}

std::string shown_cuts(std::vector<std::string> cuts) {
  constexpr std::size_t kMostShown = 5;
  const std::size_t more = cuts.size() > kMostShown ? cuts.size() - kMostShown : 0;
  cuts.resize(cuts.size() - more);
  return more == 0 ? join(cuts, "; ") : cat(join(cuts, "; "), "; and ", more, " more places");
}

/// The lists that were cut, by their names in the result of a job.
std::vector<std::string> cut_lists(const std::vector<std::string>& cuts) {
  std::vector<std::string> names;
  for (const auto& cut : cuts) {
    std::string name = cut.substr(0, cut.find(' '));
    if (!cut.ends_with(" items") || name.find('[') != name.npos) continue;
    if (name.starts_with("job.result.")) name.erase(0, 11);  // as job_get shows it
    names.push_back(std::move(name));
  }
  return names;
}

/// How to get at the rest, in terms of what this operation takes. `job_id` of a job that keeps the
/// result; empty: none does.
std::string how_to_continue(const Operation& operation, const Json& output,
                            const std::string& job_id, const std::vector<std::string>& cuts) {
  const auto lists = cut_lists(cuts);
  if (!job_id.empty() && !lists.empty())
    return cat("To see the rest page by page, call vault_lists with action job_result, id ", job_id,
               " and list ", join(lists, " or "), ".");
  if (!job_id.empty() && member(output, "job"))
    return cat("`indx job get ", job_id, "` on the command line shows it whole.");
  const std::array<std::pair<const char*, const char*>, 5> narrower = {
      {{"limit", "a lower limit"},
       {"include", "fewer include parts"},
       {"heading", "one heading"},
       {"scope", "fewer notes, with a narrower scope"},
       {"path_glob", "a narrower path_glob"}}};
  std::vector<std::string> ways;
  for (const auto& [field, way] : narrower)
    if (operation.input->find(field)) ways.emplace_back(way);
  std::vector<std::string> texts;
  if (!ways.empty()) texts.push_back(cat("ask for less at a time (", join(ways, ", "), ")"));
  if (operation.has_pages()) texts.emplace_back("go on with cursor");
  if (operation.effect == Effect::Reads && operation.input->find("path") && output.is_object() &&
      output.contains("path"))
    texts.emplace_back("read the resource vault://<path>");
  if (texts.empty()) return "There is no way to see the rest with this tool.";
  return cat("To see the rest, ", join(texts, ", or "), '.');
}

/// The job that keeps a result: the one that made it, or whose record it shows.
std::string kept_by(const Json& output, const std::string& job_id) {
  const Json* shown = member(output, "job");
  return shown ? string_member(*shown, "id").value_or(job_id) : job_id;
}

}  // namespace

Result<ToolArguments> tool_arguments(const Tool& tool, const Json& arguments,
                                     const Principal* caller) {
  ToolArguments result;
  Json given = INDX_TRY(argument_object(arguments, result.repaired));
  result.operation = INDX_TRY(take_action(tool, caller, given));
  const Operation& operation = *result.operation;
  if (operation.takes_file) result.upload = INDX_TRY(take_file(given));
  if (tool.group) INDX_TRY(drop_other_fields(tool, caller, operation, given, result.repaired));
  result.input = repair_arguments(operation.input, std::move(given), &result.repaired);
  return result;
}

const Operation& asked_operation(const Tool& tool, const Json* arguments) {
  const auto action = arguments ? string_member(*arguments, kActionField) : std::nullopt;
  const Operation* asked = action ? tool.find_action(*action) : nullptr;
  return asked ? *asked : *tool.operations.front();
}

Json tool_result(const Operation& operation, const Json& output,
                 const std::vector<std::string>& repaired, const Protocol& protocol,
                 const Json& input, const std::string& job_id) {
  const Json portable = to_portable_value(operation.output, output);
  std::vector<std::string> cuts;
  Json shown = cut_to_size(portable, kMaxResultBytes, &cuts);

  std::string summary = tool_summary(operation, input, portable);
  // Hosts show the one or the other, so both say it.
  if (!cuts.empty()) {
    const std::string notice =
        cat("The result is cut: ", shown_cuts(cuts), ". ",
            how_to_continue(operation, portable, kept_by(portable, job_id), cuts));
    summary += " " + notice;
    if (shown.is_object()) shown["result_cut"] = notice;
  }
  if (!job_id.empty() && shown.is_object() && !shown.contains("job_id")) shown["job_id"] = job_id;
  Json result = {{"content", Json::array({text_block(summary), text_block(dump_rpc(shown))})}};
  if (protocol.has_structured_content) result["structuredContent"] = shown;
  result["isError"] = false;
  if (!repaired.empty()) result["_meta"]["indx/repaired"] = repaired;
  if (!cuts.empty()) result["_meta"]["indx/cut"] = cuts;
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

Json tool_error(const Error& error, const Operation* operation) {
  const Json told = cut_to_size(error.to_json(), kMaxResultBytes, nullptr);
  Json content = Json::array({text_block(dump_rpc(told))});
  content.push_back(text_block(next_step(error, operation)));
  return {{"content", std::move(content)}, {"isError", true}};
}

}  // namespace indx
