#include "ops/schema.hpp"

#include "base/edit_distance.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace indx {
namespace {

using Type = SchemaNode::Type;

constexpr std::string_view type_name(Type type) {
  switch (type) {
    case Type::String:
      return "string";
    case Type::Integer:
      return "integer";
    case Type::Number:
      return "number";
    case Type::Boolean:
      return "boolean";
    case Type::Array:
      return "array";
    case Type::Object:
    case Type::Map:
      return "object";
    case Type::Any:
      return "any JSON";
  }
  return "";
}

std::string number_text(double value) {
  const bool whole = std::floor(value) == value && std::abs(value) < 1e15;
  return whole ? cat(static_cast<std::int64_t>(value)) : cat(value);
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
  const std::string unit = node.type == Type::String  ? " bytes"
                           : node.type == Type::Array ? " items"
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

/// `x` for the key `x_json` of a property of any JSON; nullptr otherwise.
const SchemaNode::Property* any_property_of(const SchemaNode& node, std::string_view key) {
  constexpr std::string_view suffix = "_json";
  if (!key.ends_with(suffix)) return nullptr;
  key.remove_suffix(suffix.size());
  for (const auto& property : node.properties)
    if (property.name == key && property.schema.type == Type::Any) return &property;
  return nullptr;
}

class Validator {
 public:
  /// Checks and completes `value` in place.
  void check(const SchemaNode& node, Json& value, const std::string& path, int depth) {
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
  void fail(const std::string& path, const std::string& expected, const std::string& actual,
            std::string message = {}) {
    if (message.empty())
      message = cat(path.empty() ? "The input" : "`" + path + "`", " must be ", expected, ", not ",
                    actual, ".");
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
  if (!node.default_value.is_null()) schema["default"] = node.default_value;
  return schema;
}

/// The JSON that `text` is, when it parses.
std::optional<Json> parse_json_text(std::string_view text) {
  Json value = Json::parse(text, nullptr, false);
  return value.is_discarded() ? std::nullopt : std::optional<Json>(std::move(value));
}

bool has_type(Type type, const Json& value) {
  switch (type) {
    case Type::String:
      return value.is_string();
    case Type::Integer:
      return value.is_number_integer();
    case Type::Number:
      return value.is_number();
    case Type::Boolean:
      return value.is_boolean();
    case Type::Array:
      return value.is_array();
    case Type::Object:
    case Type::Map:
      return value.is_object();
    case Type::Any:
      return true;
  }
  return false;
}

/// mcp.md section 9: hosts send what they mean as text.
class Repair {
 public:
  explicit Repair(std::vector<std::string>* repaired) : repaired_(repaired) {}

  Json apply(const SchemaNode& node, Json value, const std::string& path) {
    if (value.is_string() && node.type != Type::String && node.type != Type::Any) {
      auto parsed = parse_json_text(trim(value.get_ref<const std::string&>()));
      if (parsed && has_type(node.type, *parsed)) {
        value = std::move(*parsed);
        note(path);
      }
    }
    if (node.type == Type::Object && value.is_object())
      return apply_object(node, std::move(value), path);
    if (node.type == Type::Array && value.is_array()) {
      std::size_t index = 0;
      for (auto& item : value)
        item = apply(*node.items, std::move(item), cat(path, '[', index++, ']'));
    }
    return value;
  }

 private:
  void note(const std::string& path) {
    if (repaired_ != nullptr && !path.empty()) repaired_->push_back(path);
  }

  Json apply_object(const SchemaNode& node, Json value, const std::string& path) {
    Json result = Json::object();
    for (auto& [key, item] : value.items()) {
      const std::string item_path = path.empty() ? key : path + "." + key;
      if (const auto* any = any_property_of(node, key);
          any != nullptr && node.find(key) == nullptr) {
        put_any(result, key, *any, std::move(item));
        continue;
      }
      const auto* property = node.find(key);
      if (property == nullptr) {
        result[key] = std::move(item);
      } else if (means_absent(*property, item)) {
        note(item_path);
      } else {
        result[key] = apply(property->schema, std::move(item), item_path);
      }
    }
    return result;
  }

  /// `value_json: "[1, 2]"` is `value: [1, 2]`; a bare word is that word; broken JSON stays for
  /// `validate` to refuse.
  static void put_any(Json& result, const std::string& key, const SchemaNode::Property& any,
                      Json item) {
    if (item.is_null()) return;
    if (!item.is_string()) {
      result[any.name] = std::move(item);
      return;
    }
    const auto& text = item.get_ref<const std::string&>();
    if (auto parsed = parse_json_text(text)) {
      result[any.name] = std::move(*parsed);
    } else if (const auto start = trim(text); !start.empty() && start.find_first_of("{[\"") != 0) {
      result[any.name] = text;
    } else {
      result[key] = text;
    }
  }

  static bool means_absent(const SchemaNode::Property& property, const Json& item) {
    const SchemaNode& schema = property.schema;
    if (property.is_required || schema.type == Type::Any) return false;
    if (item.is_null()) return !schema.is_nullable;
    const bool wants_text =
        schema.type == Type::String && schema.allowed.empty() && schema.min_length.value_or(0) == 0;
    return item.is_string() && item.get_ref<const std::string&>().empty() && !wants_text;
  }

  std::vector<std::string>* repaired_;
};

/// Text that was meant as JSON and is none: says where it breaks.
std::optional<Error> broken_json(const std::string& name, const std::string& text) {
  const auto start = text.find_first_not_of(" \t\r\n");
  if (start == text.npos || (text[start] != '{' && text[start] != '[')) return std::nullopt;
  try {
    [[maybe_unused]] const Json whole = Json::parse(text);
    return std::nullopt;
  } catch (const Json::parse_error& e) {
    const std::size_t at = std::min(e.byte, text.size());
    return invalid(
        cat("`", name, "` is not valid JSON: it ",
            at >= text.size() ? "ends too early"
                              : cat("breaks at byte ", at, ", near `",
                                    prefix_at_grapheme(text.substr(at == 0 ? 0 : at - 1), 20), "`"),
            "."),
        Json{{"path", name}, {"expected", "JSON"}, {"byte", at}});
  }
}

Error text_error(const SchemaNode& node, const std::string& name, const std::string& text) {
  if (auto broken = broken_json(name, text)) return std::move(*broken);
  const std::string expected = expected_text(node);
  const std::string actual = actual_text(node, Json(text));
  return invalid(cat("`", name, "` must be ", expected, ", not ", actual, "."),
                 Json{{"path", name}, {"expected", expected}, {"actual", actual}});
}

Result<Json> parse_scalar(const SchemaNode& node, const std::string& name,
                          const std::string& text) {
  if (node.type == Type::String) return Json(text);
  if (node.type == Type::Any) return parse_json_text(text).value_or(Json(text));
  if (node.type == Type::Boolean) {
    if (text.empty() || text == "true" || text == "1" || text == "yes") return Json(true);
    if (text == "false" || text == "0" || text == "no") return Json(false);
    return text_error(node, name, text);
  }
  auto parsed = parse_json_text(text);
  if (!parsed || !has_type(node.type, *parsed)) return text_error(node, name, text);
  return std::move(*parsed);
}

Result<Json> parse_text_list(const SchemaNode& node, const std::string& name,
                             const std::vector<std::string>& values) {
  Json list = Json::array();
  for (const auto& text : values) {
    if (auto parsed = parse_json_text(text); parsed && parsed->is_array()) {
      for (auto& item : *parsed) list.push_back(std::move(item));
      continue;
    }
    // Names out of a fixed set hold no comma, so `include=body,tags` is two of them.
    const bool is_several = node.splits_commas || !node.items->allowed.empty();
    const auto parts = is_several ? split(text, ',') : std::vector<std::string>{text};
    for (const auto& part : parts) {
      const auto item = node.splits_commas ? std::string(trim(part)) : part;
      if (item.empty() && parts.size() > 1 && node.splits_commas) continue;  // `a,`
      list.push_back(INDX_TRY(parse_scalar(*node.items, name, item)));
    }
  }
  return list;
}

Result<Json> parse_text_map(const SchemaNode& node, const std::string& name,
                            const std::vector<std::string>& values) {
  Json map = Json::object();
  for (const auto& text : values) {
    if (auto parsed = parse_json_text(text); parsed && parsed->is_object()) {
      for (auto& [key, item] : parsed->items()) map[key] = std::move(item);
      continue;
    }
    const auto at = text.find('=');
    if (at == std::string::npos || at == 0) return text_error(node, name, text);
    map[text.substr(0, at)] = INDX_TRY(parse_scalar(*node.items, name, text.substr(at + 1)));
  }
  return map;
}

}  // namespace

const SchemaNode::Property* SchemaNode::find(std::string_view name) const {
  const auto it = std::find_if(properties.begin(), properties.end(),
                               [&](const Property& p) { return p.name == name; });
  return it == properties.end() ? nullptr : &*it;
}

Json to_json_schema(const SchemaNode& node) {
  Json schema = base_schema(node);
  if (node.is_nullable && schema.contains("type"))
    schema["type"] = Json::array({schema["type"], "null"});
  if (node.type == Type::Array) schema["items"] = to_json_schema(*node.items);
  if (node.type == Type::Map)
    schema["additionalProperties"] =
        node.items->type == Type::Any ? Json(true) : to_json_schema(*node.items);
  if (node.type != Type::Object) return schema;
  Json properties = Json::object();
  Json required = Json::array();
  for (const auto& property : node.properties) {
    properties[property.name] = to_json_schema(property.schema);
    if (property.is_required) required.push_back(property.name);
  }
  schema["properties"] = std::move(properties);
  if (!required.empty()) schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
  return schema;
}

Json to_portable_schema(const SchemaNode& node) {
  Json schema = base_schema(node);
  if (node.type == Type::Any)
    schema["type"] = "string";  // as JSON text; a property also gets the name `x_json`
  if (node.type == Type::Array) schema["items"] = to_portable_schema(*node.items);
  if (node.type == Type::Map && node.items->type != Type::Any)
    schema["additionalProperties"] = to_portable_schema(*node.items);
  if (node.type != Type::Object) return schema;
  Json properties = Json::object();
  Json required = Json::array();
  for (const auto& property : node.properties) {
    const bool is_any = property.schema.type == Type::Any;
    const std::string name = is_any ? property.name + "_json" : property.name;
    properties[name] = to_portable_schema(property.schema);
    if (is_any) {
      properties[name]["description"] = property.schema.description + " Given as JSON text.";
      properties[name].erase("default");
    }
    if (property.is_required) required.push_back(name);
  }
  schema["properties"] = std::move(properties);
  if (!required.empty()) schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
  return schema;
}

Json to_portable_value(const SchemaNode& node, Json value) {
  if (node.type == Type::Any) return value.is_string() ? value : Json(value.dump());
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
    else if (property->schema.type == Type::Any)
      result[key + "_json"] = item.dump();  // JSON text, also of a string
    else if (!item.is_null())
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

Result<Json> validate(const SchemaNode& node, const Json& value) {
  Json checked = value.is_null() && node.type == Type::Object ? Json::object() : value;
  Validator validator;
  validator.check(node, checked, "", 0);
  return validator.finish(std::move(checked));
}

Json repair_arguments(const SchemaNode& node, Json value, std::vector<std::string>* repaired) {
  if (value.is_null()) value = Json::object();
  return Repair(repaired).apply(node, std::move(value), "");
}

Result<Json> parse_text_value(const SchemaNode& node, const std::string& name,
                              const std::vector<std::string>& values) {
  if (values.empty())
    return invalid(cat("`", name, "` needs a value."),
                   Json{{"path", name}, {"expected", expected_text(node)}});
  if (node.type == Type::Array) return parse_text_list(node, name, values);
  if (node.type == Type::Map) return parse_text_map(node, name, values);
  if (values.size() > 1)
    return invalid(cat("`", name, "` may be given once."),
                   Json{{"path", name},
                        {"expected", expected_text(node)},
                        {"actual", cat(values.size(), " values")}});
  if (node.is_nullable && values.front() == "null") return Json(nullptr);
  return parse_scalar(node, name, values.front());
}

}  // namespace indx
