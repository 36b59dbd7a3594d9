#include "mcp/catalog.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "mcp/group_schema.hpp"
#include "mcp/operation_call.hpp"
#include "mcp/tool_files.hpp"

#include <algorithm>
#include <cctype>

namespace indx {
namespace {

constexpr std::size_t kMaxTitleBytes = 60;
constexpr std::size_t kMaxDescriptionBytes = 1023;

std::string title_of(const Operation& operation) {
  if (!operation.title.empty()) return operation.title;
  std::string title = operation.summary;
  while (title.ends_with('.')) title.pop_back();
  if (!title.empty() && title.size() <= kMaxTitleBytes) return title;
  title = replace_all(operation.name, "_", " ");
  if (!title.empty())
    title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  return title;
}

std::string description_of(const Operation& operation) {
  return operation.guidance.empty() ? operation.summary
                                    : cat(operation.summary, ' ', operation.guidance);
}

/// May answer with a job instead of its output.
bool may_become_job(const Operation& operation) { return operation.execution != Execution::Inline; }

Json input_schema(const Operation& operation, SchemaReader reader) {
  Json schema = to_portable_schema(operation.input, reader);
  if (operation.takes_file) add_file_fields(schema["properties"]);
  return schema;
}

Json output_schema(const Operation& operation) {
  Json schema = to_portable_output(operation.output);
  if (!may_become_job(operation)) return schema;
  schema["properties"]["job_id"] = {{"type", "string"}};
  schema["properties"]["status"] = {{"type", "string"}};
  return schema;
}

/// Actions answer each in their own form, and what a model works on may be answered by its job.
bool has_output_schema(const Tool& tool) {
  return !tool.group && !tool.operations.front()->needs_provider;
}

/// All four: what a host assumes of one that is missing is the worst.
/// - destructive is what may lose something for good. Replaced contents do not count: every write
///   keeps the version before it, and note_restore and job_revert bring that back.
/// - openWorld is false for the tools of AI too: their world is the vault. Whether a provider
///   elsewhere is asked is not known here (AiRoles tells what there is, not who does it).
Json hints(const Tool& tool, const Principal& principal) {
  bool reads = true, destroys = false, repeats = true;
  for (const Operation* operation : tool.operations) {
    const bool is_read = is_read_only(*operation, principal);
    reads = reads && is_read;
    destroys = destroys || operation->effect == Effect::Destructive;
    repeats = repeats && (is_read || operation->is_idempotent);
  }
  return {{"readOnlyHint", reads},
          {"destructiveHint", destroys},
          {"idempotentHint", repeats},
          {"openWorldHint", false}};
}

void add_to(std::vector<Tool>& groups, const Operation& operation) {
  const ToolGroup* group = find_tool_group(operation.tool_group);
  if (!group) return;
  const auto found = std::find_if(groups.begin(), groups.end(),
                                  [&](const Tool& tool) { return tool.group == group; });
  Tool& tool = found != groups.end()
                   ? *found
                   : groups.emplace_back(Tool{std::string(group->name), group, {}});
  tool.operations.push_back(&operation);
}

}  // namespace

const Operation* Tool::find_action(std::string_view action) const {
  const auto found =
      std::find_if(operations.begin(), operations.end(),
                   [&](const Operation* operation) { return operation->name == action; });
  return found == operations.end() ? nullptr : *found;
}

std::string Tool::action_names(const Principal* caller) const {
  std::vector<std::string> names;
  for (const Operation* operation : operations)
    if (!caller || may_call(*caller, *operation)) names.push_back(operation->name);
  return join(names, ", ");
}

bool is_read_only(const Operation& operation, const Principal& principal) {
  if (operation.effect == Effect::Reads) return true;
  if (principal.has(Scope::VaultWrite)) return false;
  const auto& fields = operation.input->properties;
  return std::any_of(fields.begin(), fields.end(),
                     [](const auto& field) { return field.schema.is_for_writing; });
}

bool is_shown_to(const Principal& principal, const Operation& operation) {
  return principal.has(Scope::VaultWrite) || is_read_only(operation, principal);
}

std::vector<Tool> tools_of(const Registry& registry, const Principal& principal,
                           const AiRoles& roles) {
  std::vector<Tool> tools, groups;
  for (const Operation* operation : registry.visible_to(principal, roles)) {
    if (!is_shown_to(principal, *operation)) continue;
    if (operation->tool_group.empty())
      tools.push_back({operation->name, nullptr, {operation}});
    else
      add_to(groups, *operation);
  }
  std::move(groups.begin(), groups.end(), std::back_inserter(tools));
  return tools;
}

std::optional<Tool> find_tool(const Registry& registry, std::string_view name) {
  if (const ToolGroup* group = find_tool_group(name)) {
    Tool tool{std::string(name), group, {}};
    for (const Operation& operation : registry.all())
      if (operation.tool_group == name) tool.operations.push_back(&operation);
    return tool.operations.empty() ? std::nullopt : std::optional(std::move(tool));
  }
  const Operation* operation = registry.find(name);
  if (!operation || !operation->tool_group.empty()) return std::nullopt;
  return Tool{operation->name, nullptr, {operation}};
}

Json tool_descriptor(const Tool& tool, const Principal& principal, const Protocol& protocol) {
  const Operation& first = *tool.operations.front();
  const std::string title = tool.group ? std::string(tool.group->title) : title_of(first);
  const std::string text =
      tool.group ? std::string(tool.group->description) : description_of(first);
  const SchemaReader reader =
      principal.has(Scope::VaultWrite) ? SchemaReader::Writer : SchemaReader::Reader;

  Json result = {{"name", tool.name}};
  if (protocol.has_title) result["title"] = title;
  result["description"] = prefix_at_grapheme(text, kMaxDescriptionBytes);
  result["inputSchema"] = tool.group ? group_schema(tool, reader) : input_schema(first, reader);
  if (protocol.has_structured_content && has_output_schema(tool))
    result["outputSchema"] = output_schema(first);
  if (protocol.has_tasks &&
      std::any_of(tool.operations.begin(), tool.operations.end(),
                  [](const Operation* operation) { return may_become_job(*operation); }))
    result["execution"] = {{"taskSupport", "optional"}};
  if (!protocol.has_annotations) return result;
  result["annotations"] = hints(tool, principal);
  if (!protocol.has_title) result["annotations"]["title"] = title;
  return result;
}

}  // namespace indx
