#include "ops/schema.hpp"

#include "base/edit_distance.hpp"
#include "base/json_text.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "ops/schema_text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace indx {
namespace {

using Type = SchemaNode::Type;

/// The known key that the unknown one most likely stands for; empty when none is near.
std::string closest_key(const SchemaNode& node, std::string_view key) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, key.size() / 2) + 1;
  for (const auto& property : node.properties) {
    const std::size_t distance = edit_distance(key.substr(0, 64), property.name);
    if (distance < best_distance) {
      best = property.name;
      best_distance = distance;
    }
  }
  return best;
}

class Validator {
 public:
  /// Checks and completes `value` in place.
  void check(const SchemaNode& node, Json& value, const std::string& path, int depth) {
    // Inside of a secret an error names the whole of it, and nothing that it holds.
    const bool is_outermost = node.is_secret && !secret_path_;
    if (is_outermost) secret_path_ = path;
    check_value(node, value, path, depth);
    if (is_outermost) secret_path_.reset();
  }

  Result<Json> finish(Json value) {
    if (errors_.empty()) return value;
    Json details = errors_.front();
    std::string message = details["message"].get<std::string>();
    details.erase("message");
    if (errors_.size() > 1) {
      message += cat(" (and ", errors_.size() - 1, " more)");
      details["errors"] = errors_;
    }
    return invalid(std::move(message), std::move(details));
  }

 private:
  void check_value(const SchemaNode& node, Json& value, const std::string& path, int depth) {
    if (errors_.size() >= kMaxSchemaErrors) return;
    if (depth > kMaxJsonDepth)
      return fail(path, cat("nesting of at most ", kMaxJsonDepth), "deeper nesting");
    if (value.is_null() && node.is_nullable) return;
    switch (node.type) {
      case Type::String:
        return check_string(node, value, path);
      case Type::Integer:
      case Type::Number:
        return check_number(node, value, path);
      case Type::Boolean:
        if (!value.is_boolean()) fail(path, node, value);
        return;
      case Type::Array:
        return check_array(node, value, path, depth);
      case Type::Object:
        return check_object(node, value, path, depth);
      case Type::Map:
        return check_map(node, value, path, depth);
      case Type::Any:
        return check_depth(value, path, depth);
    }
  }

  void fail(const std::string& place, const std::string& expected, const std::string& found,
            std::string message = {}) {
    const std::string& path = secret_path_ ? *secret_path_ : place;
    const std::string& actual = secret_path_ ? "(hidden)" : found;
    if (secret_path_) message.clear();
    if (message.empty())
      message = cat(path.empty() ? "The input" : "`" + path + "`", " must be ",
                    with_article(expected), ", not ", with_article(actual), ".");
    errors_.push_back(
        Json{{"path", path}, {"expected", expected}, {"actual", actual}, {"message", message}});
  }
  void fail(const std::string& path, const SchemaNode& node, const Json& value) {
    fail(path, expected_text(node), actual_text(node, value));
  }

  static bool length_fits(const SchemaNode& node, std::size_t length) {
    return length >= node.min_length.value_or(0) && length <= node.max_length.value_or(SIZE_MAX);
  }

  void check_string(const SchemaNode& node, const Json& value, const std::string& path) {
    if (!value.is_string()) return fail(path, node, value);
    const auto& text = value.get_ref<const std::string&>();
    if (!node.allowed.empty() &&
        std::find(node.allowed.begin(), node.allowed.end(), text) == node.allowed.end())
      return fail(path, node, value);
    if (!length_fits(node, text.size()))
      fail(path, expected_text(node), cat(text.size(), " bytes"));
  }

  void check_number(const SchemaNode& node, Json& value, const std::string& path) {
    if (!value.is_number()) return fail(path, node, value);
    const auto number = value.get<double>();
    if (node.type == Type::Integer &&
        value.is_number_float()) {  // 1.0 is an integer to JSON Schema
      if (!(std::floor(number) == number) || std::abs(number) > 9e15)
        return fail(path, node, value);
      value = static_cast<std::int64_t>(number);
    }
    if (node.type == Type::Integer && value.is_number_unsigned() &&
        value.get<std::uint64_t>() >
            static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return fail(path, "integer of 64 bits", actual_text(node, value));
    if ((node.minimum && number < *node.minimum) || (node.maximum && number > *node.maximum))
      fail(path, node, value);
  }

  void check_array(const SchemaNode& node, Json& value, const std::string& path, int depth) {
    if (!value.is_array() || !length_fits(node, value.size())) return fail(path, node, value);
    std::size_t index = 0;
    for (auto& item : value) check(*node.items, item, cat(path, '[', index++, ']'), depth + 1);
  }

  void check_map(const SchemaNode& node, Json& value, const std::string& path, int depth) {
    if (!value.is_object() || !length_fits(node, value.size())) return fail(path, node, value);
    for (auto& [key, item] : value.items()) check(*node.items, item, child(path, key), depth + 1);
  }

  void check_object(const SchemaNode& node, Json& value, const std::string& path, int depth) {
    if (!value.is_object()) return fail(path, node, value);
    for (const auto& [key, item] : value.items())
      if (node.find(key) == nullptr) fail_unknown(node, path, key);
    for (const auto& property : node.properties) {
      const auto it = value.find(property.name);
      if (it != value.end()) {
        check(property.schema, *it, child(path, property.name), depth + 1);
      } else if (property.is_required) {
        fail(child(path, property.name), expected_text(property.schema), "missing",
             cat("`", child(path, property.name), "` is required: ", property.schema.description));
      } else if (!property.schema.default_value.is_null()) {
        value[property.name] = property.schema.default_value;
      }
    }
  }

  void fail_unknown(const SchemaNode& node, const std::string& path, const std::string& key) {
    if (const auto* any = any_property_of(node, key))
      return fail(
          child(path, key), "JSON text", "text that is not JSON",
          cat("`", child(path, key), "` must be JSON text, or give `", any->name, "` itself."));
    const std::string nearest = closest_key(node, key);
    std::vector<std::string> known;
    for (const auto& property : node.properties) known.push_back(property.name);
    const std::string shown(prefix_at_grapheme(key, 60));
    fail(child(path, shown), nearest.empty() ? "one of " + join(known, ", ") : nearest,
         "unknown field",
         cat("`", child(path, shown), "` is not a known field",
             nearest.empty() ? "." : cat("; did you mean `", nearest, "`?")));
  }

  void check_depth(const Json& value, const std::string& path, int depth) {
    if (depth > kMaxJsonDepth)
      return fail(path, cat("nesting of at most ", kMaxJsonDepth), "deeper nesting");
    if (!value.is_structured()) return;
    for (const auto& item : value) {
      if (item.is_structured()) check_depth(item, path, depth + 1);
      if (!errors_.empty()) return;
    }
  }

  static std::string child(const std::string& path, const std::string& key) {
    return path.empty() ? key : path + "." + key;
  }

  std::vector<Json> errors_;
  std::optional<std::string> secret_path_;  // of the secret that is being checked
};

Json base_schema(const SchemaNode& node) {
  Json schema = Json::object();
  if (node.type != Type::Any) schema["type"] = std::string(type_name(node.type));
  if (!node.description.empty()) schema["description"] = node.description;
  if (!node.allowed.empty()) schema["enum"] = node.allowed;
  const auto put_number = [&](const char* key, const std::optional<double>& value) {
    if (!value) return;
    if (std::floor(*value) == *value && std::abs(*value) < 1e15)
      schema[key] = static_cast<std::int64_t>(*value);
    else
      schema[key] = *value;
  };
  put_number("minimum", node.minimum);
  put_number("maximum", node.maximum);
  const bool is_text = node.type == Type::String;
  const bool is_list = node.type == Type::Array;
  if (node.min_length)
    schema[is_text ? "minLength" : is_list ? "minItems" : "minProperties"] = *node.min_length;
  if (node.max_length)
    schema[is_text ? "maxLength" : is_list ? "maxItems" : "maxProperties"] = *node.max_length;
  if (!node.default_value.is_null() && !node.is_secret) schema["default"] = node.default_value;
  return schema;
}

}  // namespace

const SchemaNode::Property* SchemaNode::find(std::string_view name) const {
  const auto it = std::find_if(properties.begin(), properties.end(),
                               [&](const Property& p) { return p.name == name; });
  return it == properties.end() ? nullptr : &*it;
}

Json to_json_schema(const SchemaNode& node, SchemaUse use) {
  Json schema = base_schema(node);
  if (node.is_secret) {
    schema["format"] = "password";
    if (use == SchemaUse::Input) schema["writeOnly"] = true;
  }
  if (node.is_nullable && schema.contains("type"))
    schema["type"] = Json::array({schema["type"], "null"});
  if (node.type == Type::Array) schema["items"] = to_json_schema(*node.items, use);
  if (node.type == Type::Map)
    schema["additionalProperties"] =
        node.items->type == Type::Any ? Json(true) : to_json_schema(*node.items, use);
  if (node.type != Type::Object) return schema;
  Json properties = Json::object();
  Json required = Json::array();
  for (const auto& property : node.properties) {
    properties[property.name] = to_json_schema(property.schema, use);
    if (property.is_required) required.push_back(property.name);
  }
  schema["properties"] = std::move(properties);
  if (!required.empty()) schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
  return schema;
}

namespace {

/// How deep an input is described; below that the names and types must do.
constexpr int kDescribedDepth = 2;

/// Type, words, enum and default, as far as models need them.
Json portable_base(const SchemaNode& node, int depth) {
  Json schema = {{"type", node.type == Type::Any ? "string" : std::string(type_name(node.type))}};
  if (!node.description.empty() && !node.is_plain && depth <= kDescribedDepth)
    schema["description"] = node.description;
  if (!node.allowed.empty()) schema["enum"] = node.allowed;
  const bool says_nothing = node.default_value.is_null() || node.default_value == false ||
                            node.default_value == 0 || node.is_secret || node.is_plain ||
                            node.type == Type::Any || depth >= kDescribedDepth;
  if (!says_nothing) schema["default"] = node.default_value;
  if (node.type == Type::Array && node.min_length) schema["minItems"] = *node.min_length;
  return schema;
}

std::pair<std::string, Json> portable_property(const SchemaNode::Property& property,
                                               SchemaReader reader, int depth);

Json portable_node(const SchemaNode& node, SchemaReader reader, int depth) {
  Json schema = portable_base(node, depth);
  if (node.type == Type::Array) schema["items"] = portable_node(*node.items, reader, depth);
  if (node.type == Type::Map) {
    schema["properties"] = Json::object();
    if (node.items->type != Type::Any)
      schema["additionalProperties"] = portable_node(*node.items, reader, depth + 1);
  }
  if (node.type != Type::Object) return schema;
  Json properties = Json::object();
  Json required = Json::array();
  for (const auto& property : node.properties) {
    if (!is_offered(property, reader)) continue;
    auto [name, projected] = portable_property(property, reader, depth + 1);
    if (property.is_required) required.push_back(name);
    properties[name] = std::move(projected);
  }
  schema["properties"] = std::move(properties);
  if (!required.empty()) schema["required"] = std::move(required);
  if (depth == 0) schema["additionalProperties"] = false;  // below, `validate` says it
  return schema;
}

std::pair<std::string, Json> portable_property(const SchemaNode::Property& property,
                                               SchemaReader reader, int depth) {
  Json schema = portable_node(property.schema, reader, depth);
  if (property.schema.type != Type::Any) return {property.name, std::move(schema)};
  if (schema.contains("description"))
    schema["description"] = property.schema.description + " Given as JSON text.";
  return {property.name + "_json", std::move(schema)};
}

/// An object of an output stays open: what it holds is the answer's to tell.
Json output_type(const SchemaNode& node) {
  Json schema = {{"type", node.type == Type::Any ? "string" : std::string(type_name(node.type))}};
  if (node.type == Type::Map) schema["type"] = "object";
  if (node.type == Type::Array) schema["items"] = output_type(*node.items);
  if (schema["type"] == "object") schema["properties"] = Json::object();
  return schema;
}

}  // namespace

bool is_offered(const SchemaNode::Property& property, SchemaReader reader) {
  const SchemaNode& schema = property.schema;
  return !schema.is_for_programs && !(schema.is_for_writing && reader == SchemaReader::Reader);
}

Json to_portable_schema(const SchemaNode& node, SchemaReader reader) {
  return portable_node(node, reader, 0);
}

std::pair<std::string, Json> to_portable_property(const SchemaNode::Property& property,
                                                  SchemaReader reader) {
  return portable_property(property, reader, 1);
}

Json to_portable_output(const SchemaNode& node) {
  Json properties = Json::object();
  for (const auto& property : node.properties) {
    if (!property.is_required && !property.schema.is_usual) continue;
    const bool is_any = property.schema.type == Type::Any;
    properties[is_any ? property.name + "_json" : property.name] = output_type(property.schema);
  }
  return {{"type", "object"}, {"properties", std::move(properties)}};
}

Json to_portable_value(const SchemaNode& node, Json value) {
  if (node.type == Type::Any) return value.is_string() ? value : Json(json_text(value));
  if (node.type == Type::Array && value.is_array())
    for (auto& item : value) item = to_portable_value(*node.items, std::move(item));
  if (node.type == Type::Map && value.is_object() && node.items->type != Type::Any)
    for (auto& [key, item] : value.items()) item = to_portable_value(*node.items, std::move(item));
  if (node.type != Type::Object || !value.is_object()) return value;
  Json result = Json::object();
  for (auto& [key, item] : value.items()) {
    const auto* property = node.find(key);
    if (property == nullptr)
      result[key] = std::move(item);
    else if (item.is_null())
      continue;
    else if (property->schema.type == Type::Any)
      result[key + "_json"] = json_text(item);  // JSON text, also of a string
    else
      result[key] = to_portable_value(property->schema, std::move(item));
  }
  return result;
}

Json mask_secrets(const SchemaNode& node, Json value) {
  if (node.is_secret) return "(shown once)";
  if (node.type == Type::Array && value.is_array())
    for (auto& item : value) item = mask_secrets(*node.items, std::move(item));
  if (node.type == Type::Object && value.is_object())
    for (const auto& property : node.properties)
      if (const auto it = value.find(property.name); it != value.end())
        *it = mask_secrets(property.schema, std::move(*it));
  return value;
}

namespace {

void take_below(const SchemaNode& node, Json& value, const Json::json_pointer& place, Json& taken) {
  if (value.is_null()) return;
  if (node.is_secret) {
    taken[place.to_string()] = std::exchange(value, "***");
    return;
  }
  if (node.type == Type::Array && value.is_array())
    for (std::size_t i = 0; i < value.size(); ++i)
      take_below(*node.items, value[i], place / i, taken);
  if (node.type == Type::Map && value.is_object())
    for (auto& [key, item] : value.items()) take_below(*node.items, item, place / key, taken);
  if (node.type == Type::Object && value.is_object())
    for (const auto& property : node.properties)
      if (const auto it = value.find(property.name); it != value.end())
        take_below(property.schema, *it, place / property.name, taken);
}

}  // namespace

Json take_secrets(const SchemaNode& node, Json& input) {
  Json taken = Json::object();
  take_below(node, input, Json::json_pointer(), taken);
  return taken.empty() ? Json() : taken;
}

Json with_secrets(Json input, const Json& secrets) {
  if (!secrets.is_object()) return input;
  for (const auto& [pointer, value] : secrets.items()) {
    const Json::json_pointer place(pointer);
    if (input.contains(place)) input.at(place) = value;
  }
  return input;
}

Result<Json> validate(const SchemaNode& node, const Json& value) {
  Json checked = value.is_null() && node.type == Type::Object ? Json::object() : value;
  Validator validator;
  validator.check(node, checked, "", 0);
  return validator.finish(std::move(checked));
}

}  // namespace indx
