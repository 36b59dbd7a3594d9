#include "ops/schema_text.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"

#include <cmath>

namespace indx {
namespace {

using SchemaType = SchemaNode::Type;

std::string number_text(double value) {
  const bool whole = std::floor(value) == value && std::abs(value) < 1e15;
  return whole ? cat(static_cast<std::int64_t>(value)) : cat(value);
}

}  // namespace

std::string_view type_name(SchemaType type) {
  switch (type) {
    case SchemaType::String:
      return "string";
    case SchemaType::Integer:
      return "integer";
    case SchemaType::Number:
      return "number";
    case SchemaType::Boolean:
      return "boolean";
    case SchemaType::Array:
      return "array";
    case SchemaType::Object:
    case SchemaType::Map:
      return "object";
    case SchemaType::Any:
      return "any JSON";
  }
  return "";
}

std::string with_article(const std::string& text) {
  for (const char* word : {"integer", "array", "object"})
    if (text.starts_with(word)) return "an " + text;
  for (const char* word : {"string", "number", "boolean", "nesting"})
    if (text.starts_with(word)) return "a " + text;
  return text;
}

std::string expected_text(const SchemaNode& node) {
  std::string text(type_name(node.type));
  if (!node.allowed.empty()) text = "one of " + join(node.allowed, ", ");
  if (node.minimum && node.maximum)
    text += cat(" from ", number_text(*node.minimum), " to ", number_text(*node.maximum));
  else if (node.minimum)
    text += cat(" of at least ", number_text(*node.minimum));
  else if (node.maximum)
    text += cat(" of at most ", number_text(*node.maximum));
  const std::string unit = node.type == SchemaType::String  ? " bytes"
                           : node.type == SchemaType::Array ? " items"
                                                            : " entries";
  if (node.min_length && node.max_length)
    text += cat(" of ", *node.min_length, " to ", *node.max_length, unit);
  else if (node.min_length)
    text += cat(" of at least ", *node.min_length, unit);
  else if (node.max_length)
    text += cat(" of at most ", *node.max_length, unit);
  if (node.is_nullable) text += " or null";
  return text;
}

std::string actual_text(const SchemaNode& node, const Json& value) {
  if (node.is_secret) return "(hidden)";
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    const auto cut = prefix_at_grapheme(text, 60);
    return cat('"', cut, cut.size() < text.size() ? "…\"" : "\"");
  }
  if (value.is_object()) return cat("object with ", value.size(), " entries");
  if (value.is_array()) return cat("array of ", value.size(), " items");
  return value.is_null() ? "null" : value.dump();
}

const SchemaNode::Property* any_property_of(const SchemaNode& node, std::string_view key) {
  constexpr std::string_view suffix = "_json";
  if (!key.ends_with(suffix)) return nullptr;
  key.remove_suffix(suffix.size());
  for (const auto& property : node.properties)
    if (property.name == key && property.schema.type == SchemaType::Any) return &property;
  return nullptr;
}

}  // namespace indx
