#include "base/json_depth.hpp"
#include "base/number_text.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "ops/schema_text.hpp"

#include <algorithm>

namespace indx {
namespace {

using SchemaType = SchemaNode::Type;

/// The JSON that `text` is, when it parses and no number in it would be rounded.
std::optional<Json> parse_json_text(std::string_view text) {
  Json value = parse_shallow_json(text);
  if (value.is_discarded() || oversized_integer(text)) return std::nullopt;
  return value;
}

/// The list or object that `text` is, told by its bracket: most texts are none, and to find that
/// out by parsing is slow.
std::optional<Json> parse_bracketed(std::string_view text, char bracket) {
  const auto begin = trim(text);
  if (begin.empty() || begin.front() != bracket) return std::nullopt;
  return parse_json_text(text);
}

bool has_type(SchemaType type, const Json& value) {
  switch (type) {
    case SchemaType::String:
      return value.is_string();
    case SchemaType::Integer:
      return value.is_number_integer();
    case SchemaType::Number:
      return value.is_number();
    case SchemaType::Boolean:
      return value.is_boolean();
    case SchemaType::Array:
      return value.is_array();
    case SchemaType::Object:
    case SchemaType::Map:
      return value.is_object();
    case SchemaType::Any:
      return true;
  }
  return false;
}

/// mcp.md section 9: hosts send what they mean as text.
class Repair {
 public:
  explicit Repair(std::vector<std::string>* repaired) : repaired_(repaired) {}

  Json apply(const SchemaNode& node, Json value, const std::string& path) {
    if (value.is_string() && node.type != SchemaType::String && node.type != SchemaType::Any) {
      auto parsed = parse_json_text(trim(value.get_ref<const std::string&>()));
      if (parsed && has_type(node.type, *parsed)) {
        value = std::move(*parsed);
        note(path);
      }
    }
    if (node.type == SchemaType::Object && value.is_object())
      return apply_object(node, std::move(value), path);
    if (node.type == SchemaType::Array && value.is_array()) {
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
        if (is_blank(item))
          note(item_path);
        else
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
    if (!item.is_string()) {
      result[any.name] = std::move(item);
      return;
    }
    const auto& text = item.get_ref<const std::string&>();
    if (auto parsed = parse_json_text(text)) {
      result[any.name] = std::move(*parsed);
    } else if (trim(text).find_first_of("{[\"") != 0) {
      result[any.name] = text;
    } else {
      result[key] = text;
    }
  }

  static bool is_blank(const Json& item) {
    return item.is_null() || (item.is_string() && trim(item.get_ref<const std::string&>()).empty());
  }

  /// Hosts fill in what they have no value for. Null is never a value here, also where it is one
  /// elsewhere: the schema that hosts see has no null.
  static bool means_absent(const SchemaNode::Property& property, const Json& item) {
    const SchemaNode& schema = property.schema;
    if (property.is_required || schema.type == SchemaType::Any) return false;
    if (item.is_null()) return true;
    const bool may_be_empty = schema.min_length.value_or(0) == 0;
    if (item.is_array()) return item.empty() && !may_be_empty;
    const bool wants_text =
        schema.type == SchemaType::String && schema.allowed.empty() && may_be_empty;
    return item.is_string() && item.get_ref<const std::string&>().empty() && !wants_text;
  }

  std::vector<std::string>* repaired_;
};

/// Text that was meant as JSON and is none: says where it breaks.
std::optional<Error> broken_json(const std::string& name, const std::string& text) {
  const auto start = text.find_first_not_of(" \t\r\n");
  if (start == text.npos || (text[start] != '{' && text[start] != '[')) return std::nullopt;
  if (is_nested_deeper(text, kMaxJsonLevels))
    return invalid(cat("`", name, "` is nested deeper than ", kMaxJsonLevels, " levels."),
                   Json{{"path", name}, {"expected", "JSON"}});
  try {
    [[maybe_unused]] const Json whole = Json::parse(text);
    const auto number = oversized_integer(text);
    return number ? std::optional(number_too_large(cat("`", name, "`"), *number)) : std::nullopt;
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
  return invalid(cat("`", name, "` must be ", with_article(expected), ", not ", actual, "."),
                 Json{{"path", name}, {"expected", expected}, {"actual", actual}});
}

Result<Json> parse_scalar(const SchemaNode& node, const std::string& name,
                          const std::string& text) {
  if (node.type == SchemaType::String) return Json(text);
  if (node.type == SchemaType::Any) return parse_json_text(text).value_or(Json(text));
  if (node.type == SchemaType::Boolean) {
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
    if (auto parsed = parse_bracketed(text, '[')) {
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
    if (auto parsed = parse_bracketed(text, '{')) {
      for (auto& [key, item] : parsed->items()) map[key] = std::move(item);
      continue;
    }
    const auto at = text.find('=');
    if (at == std::string::npos || at == 0) return text_error(node, name, text);
    map[text.substr(0, at)] = INDX_TRY(parse_scalar(*node.items, name, text.substr(at + 1)));
  }
  return map;
}

/// Its error may repeat what was given.
Result<Json> parse_shown_value(const SchemaNode& node, const std::string& name,
                               const std::vector<std::string>& values) {
  if (values.empty())
    return invalid(cat("`", name, "` needs a value."),
                   Json{{"path", name}, {"expected", expected_text(node)}});
  if (node.type == SchemaType::Array) return parse_text_list(node, name, values);
  if (node.type == SchemaType::Map) return parse_text_map(node, name, values);
  if (values.size() > 1)
    return invalid(cat("`", name, "` may be given once."),
                   Json{{"path", name},
                        {"expected", expected_text(node)},
                        {"actual", cat(values.size(), " values")}});
  if (node.is_nullable && values.front() == "null") return Json(nullptr);
  return parse_scalar(node, name, values.front());
}

}  // namespace

Json repair_arguments(const SchemaNode& node, Json value, std::vector<std::string>* repaired) {
  if (value.is_null()) value = Json::object();
  return Repair(repaired).apply(node, std::move(value), "");
}

Result<Json> parse_text_value(const SchemaNode& node, const std::string& name,
                              const std::vector<std::string>& values) {
  auto value = parse_shown_value(node, name, values);
  if (value.has_value() || !node.is_secret) return value;
  const std::string expected = expected_text(node);
  return invalid(cat("`", name, "` must be ", with_article(expected), ", not (hidden)."),
                 Json{{"path", name}, {"expected", expected}, {"actual", "(hidden)"}});
}

}  // namespace indx
