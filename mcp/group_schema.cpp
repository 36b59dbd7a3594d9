#include "mcp/group_schema.hpp"

#include "base/text.hpp"
#include "mcp/tool_files.hpp"

#include <algorithm>

namespace indx {
namespace {

/// One field of the union, with the actions that take it.
struct SharedField {
  std::string name;
  Json schema;
  std::vector<std::string> actions, texts;
  bool is_required = true;  ///< by each of them
};

void merge(SharedField& field, const Json& schema) {
  // What the actions differ in is theirs to check.
  for (const auto* key : {"enum", "minItems"})
    if (field.schema.contains(key) && (!schema.contains(key) || schema[key] != field.schema[key]))
      field.schema.erase(key);
}

void add_field(std::vector<SharedField>& fields, const std::string& action, std::string name,
               Json schema, bool is_required) {
  const std::string text = schema.value("description", "");
  schema.erase("description");
  schema.erase("default");  // of one action each
  auto found = std::find_if(fields.begin(), fields.end(),
                            [&](const SharedField& field) { return field.name == name; });
  if (found == fields.end()) {
    fields.push_back({std::move(name), std::move(schema), {}, {}, true});
    found = std::prev(fields.end());
  } else {
    merge(*found, schema);
  }
  found->actions.push_back(action);
  found->texts.push_back(text);
  found->is_required = found->is_required && is_required;
}

std::vector<SharedField> fields_of(const Tool& tool, SchemaReader reader) {
  std::vector<SharedField> fields;
  for (const Operation* operation : tool.operations) {
    for (const auto& property : operation->input->properties) {
      if (!is_offered(property, reader)) continue;
      auto [name, schema] = to_portable_property(property, reader);
      add_field(fields, operation->name, std::move(name), std::move(schema), property.is_required);
    }
    if (!operation->takes_file) continue;
    Json files = Json::object();
    add_file_fields(files);
    for (auto& [name, schema] : files.items())
      add_field(fields, operation->name, name, std::move(schema), false);
  }
  return fields;
}

/// Names the actions that take the field, or those that do not, whichever are fewer.
std::string takers(const SharedField& field, const Tool& tool) {
  if (field.actions.size() == tool.operations.size()) return "";
  if (field.actions.size() * 2 <= tool.operations.size()) return join(field.actions, ", ") + ": ";
  std::vector<std::string> others;
  for (const Operation* operation : tool.operations)
    if (std::find(field.actions.begin(), field.actions.end(), operation->name) ==
        field.actions.end())
      others.push_back(operation->name);
  return cat("All actions but ", join(others, ", "), ": ");
}

std::string text_of(const SharedField& field, const Tool& tool) {
  const bool is_one = std::all_of(field.texts.begin(), field.texts.end(),
                                  [&](const auto& text) { return text == field.texts.front(); });
  if (is_one) {
    std::string text = takers(field, tool) + field.texts.front();
    if (text.ends_with(": ")) text.replace(text.size() - 2, 2, ".");
    return text;
  }
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < field.actions.size(); ++i)
    if (!field.texts[i].empty()) parts.push_back(cat(field.actions[i], ": ", field.texts[i]));
  return join(parts, " ");
}

Json action_schema(const Tool& tool) {
  std::vector<std::string> names, lines;
  for (const Operation* operation : tool.operations) {
    names.push_back(operation->name);
    lines.push_back(cat(operation->name, ": ", operation->summary));
  }
  return {{"type", "string"}, {"description", join(lines, "\n")}, {"enum", names}};
}

}  // namespace

Json group_schema(const Tool& tool, SchemaReader reader) {
  Json properties = {{std::string(kActionField), action_schema(tool)}};
  Json required = Json::array({kActionField});
  for (auto& field : fields_of(tool, reader)) {
    if (std::string text = text_of(field, tool); !text.empty())
      field.schema["description"] = std::move(text);
    if (field.is_required && field.actions.size() == tool.operations.size())
      required.push_back(field.name);
    properties[field.name] = std::move(field.schema);
  }
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

}  // namespace indx
