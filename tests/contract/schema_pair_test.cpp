#include "ops/operation.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

/// A value that the node takes.
Json good_value(const SchemaNode& node) {
  using Type = SchemaNode::Type;
  switch (node.type) {
    case Type::String:
      return !node.allowed.empty()
                 ? Json(node.allowed.front())
                 : Json(std::string(std::max<std::size_t>(node.min_length.value_or(0), 3), 'a'));
    case Type::Integer:
      return Json(static_cast<std::int64_t>(node.minimum.value_or(1)));
    case Type::Number:
      return Json(node.minimum.value_or(0.5));
    case Type::Boolean:
      return Json(true);
    case Type::Array:
      return Json::array({good_value(*node.items)});
    case Type::Map:
      return Json{{"k", good_value(*node.items)}};
    case Type::Any:
      return Json{{"deep", {1, "x", nullptr}}};
    case Type::Object:
      break;
  }
  Json object = Json::object();
  for (const auto& property : node.properties) object[property.name] = good_value(property.schema);
  return object;
}

/// One value for each way to break one field.
std::vector<Json> bad_values(const SchemaNode& node) {
  std::vector<Json> values = {Json{{"no_such_field_at_all", 1}}};
  for (const auto& property : node.properties) {
    Json value = good_value(node);
    const auto put = [&](Json bad) {
      value[property.name] = std::move(bad);
      values.push_back(value);
    };
    if (property.schema.type == SchemaNode::Type::Any) continue;
    if (property.schema.type != SchemaNode::Type::Object &&
        property.schema.type != SchemaNode::Type::Map)
      put(Json{{"an", "object"}});
    else
      put(Json(12));
    if (!property.schema.allowed.empty()) put("nothing of the list");
    if (property.schema.maximum) put(*property.schema.maximum + 1);
    if (property.schema.max_length && property.schema.type == SchemaNode::Type::String)
      put(std::string(*property.schema.max_length + 1, 'a'));
    if (property.is_required) {
      value = good_value(node);
      value.erase(property.name);
      values.push_back(value);
    }
  }
  return values;
}

/// The value as an MCP host must send it: fields of any JSON as text.
Json as_mcp_sends(const SchemaNode& node, const Json& value) {
  if (node.type == SchemaNode::Type::Array && value.is_array()) {
    Json list = Json::array();
    for (const auto& item : value) list.push_back(as_mcp_sends(*node.items, item));
    return list;
  }
  if (node.type != SchemaNode::Type::Object || !value.is_object()) return value;
  Json object = Json::object();
  for (const auto& [key, item] : value.items()) {
    const auto* property = node.find(key);
    if (property != nullptr && property->schema.type == SchemaNode::Type::Any)
      object[key + "_json"] = item.dump();
    else
      object[key] = property == nullptr ? item : as_mcp_sends(property->schema, item);
  }
  return object;
}

TEST_CASE("REST and MCP accept the same values and read them alike", "[contract][A87][B12]") {
  const Registry registry = make_registry();
  for (const auto& operation : registry.all()) {
    INFO(operation.name);
    const Json value = good_value(operation.input);

    const auto rest = validate(operation.input, value);
    const auto mcp =
        validate(operation.input,
                 repair_arguments(operation.input, as_mcp_sends(operation.input, value), nullptr));
    const auto mcp_in_rest_spelling =
        validate(operation.input, repair_arguments(operation.input, value, nullptr));

    REQUIRE(rest);
    REQUIRE(mcp);
    REQUIRE(mcp_in_rest_spelling);
    CHECK(*rest == *mcp);
    CHECK(*rest == *mcp_in_rest_spelling);
  }
}

TEST_CASE("REST and MCP refuse the same values", "[contract][A87][B12]") {
  const Registry registry = make_registry();
  for (const auto& operation : registry.all()) {
    for (const auto& value : bad_values(operation.input)) {
      INFO(operation.name << " " << value.dump().substr(0, 300));
      CHECK_FALSE(validate(operation.input, value));
      CHECK_FALSE(validate(
          operation.input,
          repair_arguments(operation.input, as_mcp_sends(operation.input, value), nullptr)));
    }
  }
}

TEST_CASE("the MCP schema has the fields of the REST schema", "[contract][A87][B12]") {
  const Registry registry = make_registry();
  for (const auto& operation : registry.all()) {
    INFO(operation.name);
    const Json rest = to_json_schema(operation.input);
    const Json portable = to_portable_schema(operation.input);
    for (const auto& property : operation.input->properties) {
      INFO(property.name);
      const bool is_any = property.schema.type == SchemaNode::Type::Any;
      const std::string name = is_any ? property.name + "_json" : property.name;
      REQUIRE(rest["properties"].contains(property.name));
      // Only what is for programs is not told to models.
      CHECK(portable["properties"].contains(name) != property.schema.is_for_programs);
      if (!portable["properties"].contains(name)) continue;
      const Json& there = portable["properties"][name];
      const Json& here = rest["properties"][property.name];
      CHECK(there.value("enum", Json()) == here.value("enum", Json()));
      if (here.contains("type") && here["type"].is_string() && !is_any)
        CHECK(there["type"] == here["type"]);
    }
  }
}

}  // namespace
}  // namespace indx
