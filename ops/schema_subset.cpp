#include "ops/schema_subset.hpp"

#include "base/json_text.hpp"
#include "base/text.hpp"
#include "ops/json_schema.hpp"

#include <algorithm>
#include <functional>
#include <set>

namespace indx {
namespace {

constexpr std::size_t kMaxSchemaBytes = 64U << 10U;
constexpr std::size_t kMaxSubschemas = 5000;
constexpr std::size_t kMaxPatternBytes = 256;
constexpr std::size_t kMaxSubsetErrors = 20;
constexpr int kMaxSchemaDepth = 32;

using Names = std::set<std::string_view>;

const Names kNotes = {"title",    "description", "default",  "examples", "deprecated",
                      "readOnly", "writeOnly",   "$comment", "format",   "$defs"};
const Names kTypes = {"null", "boolean", "object", "array", "number", "integer", "string"};
/// What is said in another way since 2020-12.
const std::map<std::string_view, std::string_view> kRenamed = {
    {"definitions", "$defs"},
    {"dependencies", "dependentRequired or dependentSchemas"},
    {"additionalItems", "items beside prefixItems"}};

bool is_count(const Json& value) {
  return value.is_number_unsigned() || (value.is_number_integer() && value >= 0);
}

/// A reference's part of a JSON pointer, unescaped.
std::string pointer_part(std::string_view text) {
  return replace_all(replace_all(percent_decode(text), "~1", "/"), "~0", "~");
}

class SubsetMapper {
 public:
  explicit SubsetMapper(const Json& root) : root_(root) {}

  Json map_root() {
    Json schema = root_;
    if (const auto it = schema.find("$schema"); it != schema.end()) {
      if (*it != "https://json-schema.org/draft/2020-12/schema")
        fault("", "$schema", "Only https://json-schema.org/draft/2020-12/schema is known.");
      schema.erase("$schema");
    }
    schema.erase("$id");
    Json mapped = map(schema, "", 0);
    return mapped;
  }

  std::vector<Json> errors;
  std::map<std::string, BaseRegexp> patterns;

 private:
  void fault(const std::string& path, const std::string& keyword, const std::string& message) {
    if (errors.size() < kMaxSubsetErrors)
      errors.push_back(
          {{"path", path.empty() ? "/" : path}, {"keyword", keyword}, {"message", message}});
  }

  /// Any subschema; `path` is its JSON pointer in the caller's schema.
  Json map(const Json& schema, const std::string& path, int depth) {
    if (is_over_ || ++subschemas_ > kMaxSubschemas || depth > kMaxSchemaDepth) {
      if (!std::exchange(is_over_, true))
        fault(path, "",
              depth > kMaxSchemaDepth
                  ? cat("It is nested deeper than ", kMaxSchemaDepth, " levels.")
                  : cat("It has more than ", kMaxSubschemas, " subschemas."));
      return Json::object();
    }
    if (schema.is_boolean())
      return schema.get<bool>() ? Json::object() : Json{{"not", Json::object()}};
    if (!schema.is_object()) {
      fault(path, "", "A schema is an object, true or false.");
      return Json::object();
    }
    Json result = Json::object();
    for (const auto& [keyword, value] : schema.items())
      map_keyword(schema, keyword, value, cat(path, '/', keyword), depth, result);
    return result;
  }

  void map_keyword(const Json& schema, const std::string& keyword, const Json& value,
                   const std::string& path, int depth, Json& out) {
    if (kNotes.contains(keyword)) return map_note(keyword, value, path, depth, out);
    if (map_assertion(keyword, value, path, out)) return;
    if (map_applicator(schema, keyword, value, path, depth, out)) return;
    const auto renamed = kRenamed.find(keyword);
    fault(path, keyword,
          renamed == kRenamed.end()
              ? cat("`", keyword, "` is not supported.")
              : cat("`", keyword, "` is not supported; use ", renamed->second, "."));
  }

  void map_note(const std::string& keyword, const Json& value, const std::string& path, int depth,
                Json& out) {
    if (keyword == "$defs") {
      if (!value.is_object()) return fault(path, keyword, "It is an object of schemas.");
      for (const auto& [name, schema] : value.items())  // also those that nothing refers to
        map(schema, cat(path, '/', name), depth + 1);
    } else if (keyword == "title" || keyword == "description") {
      if (value.is_string()) out[keyword] = value;
    }
  }

  bool map_assertion(const std::string& keyword, const Json& value, const std::string& path,
                     Json& out) {
    static const Names kCounts = {"minLength", "maxLength",     "minItems",
                                  "maxItems",  "minProperties", "maxProperties"};
    static const Names kNumbers = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"};
    const char* wrong = nullptr;
    if (kCounts.contains(keyword))
      wrong = is_count(value) ? nullptr : "It is a whole number from 0.";
    else if (kNumbers.contains(keyword))
      wrong = value.is_number() ? nullptr : "It is a number.";
    else if (keyword == "multipleOf")
      wrong = value.is_number() && value > 0 ? nullptr : "It is a number above 0.";
    else if (keyword == "uniqueItems")
      wrong = value.is_boolean() ? nullptr : "It is true or false.";
    else if (keyword == "type")
      wrong = is_type(value) ? nullptr : "It is a type name or a list of different ones.";
    else if (keyword == "enum")
      wrong = value.is_array() && !value.empty() ? nullptr : "It is a list of at least one value.";
    else if (keyword == "required")
      wrong = is_name_list(value) ? nullptr : "It is a list of different names.";
    else if (keyword == "pattern")
      return map_pattern(value, path, out);
    else if (keyword != "const")
      return false;
    if (wrong != nullptr)
      fault(path, keyword, wrong);
    else if (keyword == "enum" || keyword == "const")
      put_enum(keyword == "enum" ? value : Json::array({value}), out);
    else
      out[keyword] = value;
    return true;
  }

  /// `const` is an enumeration of one, which every provider knows; both may stand side by side.
  static void put_enum(const Json& values, Json& out) {
    if (out.contains("enum"))
      out["allOf"].push_back(Json{{"enum", values}});
    else
      out["enum"] = values;
  }
  static bool is_type(const Json& value) {
    const auto is_name = [](const Json& one) {
      return one.is_string() && kTypes.contains(one.get_ref<const std::string&>());
    };
    if (!value.is_array()) return is_name(value);
    const std::set<Json> distinct(value.begin(), value.end());
    return !value.empty() && distinct.size() == value.size() &&
           std::all_of(value.begin(), value.end(), is_name);
  }
  static bool is_name_list(const Json& value) {
    if (!value.is_array()) return false;
    const std::set<Json> distinct(value.begin(), value.end());
    return distinct.size() == value.size() &&
           std::all_of(value.begin(), value.end(), [](const Json& one) { return one.is_string(); });
  }

  bool map_pattern(const Json& value, const std::string& path, Json& out) {
    const auto text = value.is_string() ? value.get<std::string>() : std::string();
    if (!value.is_string() || text.size() > kMaxPatternBytes) {
      fault(path, "pattern", cat("It is a text of at most ", kMaxPatternBytes, " bytes."));
      return true;
    }
    auto pattern = BaseRegexp::compile(text, "u");
    if (!pattern)
      fault(path, "pattern", pattern.error().message);
    else
      patterns.emplace(text, *pattern);
    out["pattern"] = value;
    return true;
  }

  bool map_applicator(const Json& schema, const std::string& keyword, const Json& value,
                      const std::string& path, int depth, Json& out) {
    if (keyword == "$ref") return map_reference(value, path, depth, out);
    if (keyword == "not" || keyword == "contains" || keyword == "propertyNames" ||
        keyword == "if" || keyword == "then" || keyword == "else") {
      const bool has_if = schema.contains("if");  // alone, `then` and `else` say nothing
      Json mapped = map(value, path, depth + 1);
      if ((keyword != "then" && keyword != "else") || has_if) out[keyword] = std::move(mapped);
      return true;
    }
    if (keyword == "additionalProperties") {
      out[keyword] = value.is_boolean() ? value : map(value, path, depth + 1);
      return true;
    }
    if (keyword == "properties") return map_named(value, path, keyword, depth, out[keyword]);
    if (keyword == "dependentSchemas") {
      Json all = Json::object();
      map_named(value, path, keyword, depth, all);
      out["allOf"].push_back(Json{{"dependencies", std::move(all)}});
      return true;
    }
    if (keyword == "dependentRequired") {
      if (!value.is_object() || !std::all_of(value.begin(), value.end(), is_name_list))
        fault(path, keyword, "It is an object of lists of names.");
      else
        out["dependencies"] = value;
      return true;
    }
    if (keyword == "allOf" || keyword == "anyOf" || keyword == "oneOf")
      return map_alternatives(value, path, keyword, depth, out);
    if (keyword == "prefixItems") {
      Json list = map_list(value, path, keyword, depth);
      out["items"] = std::move(list);
      if (const auto rest = schema.find("items"); rest != schema.end())
        out["additionalItems"] =
            rest->is_boolean()
                ? *rest
                : map(*rest, cat(path.substr(0, path.rfind('/')), "/items"), depth + 1);
      return true;
    }
    if (keyword != "items") return false;
    if (value.is_array())
      fault(path, keyword, "A list of schemas is called `prefixItems`.");
    else if (!schema.contains("prefixItems"))
      out[keyword] = map(value, path, depth + 1);
    return true;
  }

  bool map_named(const Json& value, const std::string& path, const std::string& keyword, int depth,
                 Json& out) {
    out = Json::object();
    if (!value.is_object()) {
      fault(path, keyword, "It is an object of schemas.");
      return true;
    }
    for (const auto& [name, schema] : value.items())
      out[name] = map(schema, cat(path, '/', name), depth + 1);
    return true;
  }

  Json map_list(const Json& value, const std::string& path, const std::string& keyword, int depth) {
    Json list = Json::array();
    if (!value.is_array() || value.empty()) {
      fault(path, keyword, "It is a list of at least one schema.");
      return list;
    }
    for (std::size_t i = 0; i < value.size(); ++i)
      list.push_back(map(value[i], cat(path, '/', i), depth + 1));
    return list;
  }

  bool map_alternatives(const Json& value, const std::string& path, const std::string& keyword,
                        int depth, Json& out) {
    Json list = map_list(value, path, keyword, depth);
    if (keyword != "allOf") {
      out[keyword] = std::move(list);
      return true;
    }
    for (auto& one : list) out["allOf"].push_back(std::move(one));
    return true;
  }

  /// Beside a reference other keywords count too, so it becomes one part of an `allOf`.
  bool map_reference(const Json& value, const std::string& path, int depth, Json& out) {
    const auto refuse = [&](const std::string& why) {
      fault(path, "$ref", why);
      return true;
    };
    const auto text = value.is_string() ? value.get<std::string>() : std::string();
    if (!text.starts_with('#')) return refuse("Only a place in the same schema, as `#/$defs/x`.");
    if (text.size() > 1 && text[1] != '/')
      return refuse("An anchor is not supported; name the place.");
    const auto* target = &root_;
    std::string place;
    const auto parts = split(text, '/');
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const auto part = pointer_part(parts[i]);
      place += "/" + part;
      const bool is_index = target->is_array() && !part.empty() && part.size() < 6 &&
                            part.find_first_not_of("0123456789") == std::string::npos &&
                            std::stoul(part) < target->size();
      if (is_index)
        target = &(*target)[std::stoul(part)];
      else if (target->is_object() && target->contains(part))
        target = &(*target)[part];
      else
        return refuse(cat("`", text, "` names nothing."));
    }
    if (!open_.insert(place).second || place.empty())
      return refuse("References go round in a circle, which is not supported.");
    out["allOf"].push_back(map(*target, place, depth + 1));
    open_.erase(place);
    return true;
  }

  const Json& root_;
  std::set<std::string> open_;  ///< references that are being followed
  std::size_t subschemas_ = 0;
  bool is_over_ = false;
};

/// Calls `visit` for every schema in the mapped tree; names of properties are no keywords.
void visit_schemas(Json& schema, const std::function<void(Json&)>& visit) {
  if (!schema.is_object()) return;
  for (const auto* name : {"properties", "dependencies"})
    if (schema.contains(name))
      for (auto& child : schema[name]) visit_schemas(child, visit);
  for (const auto* name : {"not", "contains", "propertyNames", "if", "then", "else", "items",
                           "additionalItems", "additionalProperties", "allOf", "anyOf", "oneOf"}) {
    if (!schema.contains(name)) continue;
    Json& child = schema[name];
    if (child.is_array())
      for (auto& one : child) visit_schemas(one, visit);
    else
      visit_schemas(child, visit);
  }
  visit(schema);
}

void collect_texts(const Json& value, std::set<std::string>& texts) {
  if (value.is_string()) texts.insert(value.get<std::string>());
  if (!value.is_structured()) return;
  for (const auto& [key, item] : value.items()) {
    if (value.is_object()) texts.insert(key);
    collect_texts(item, texts);
  }
}

}  // namespace

Result<RecordSchema> RecordSchema::compile(const Json& schema) {
  const auto refuse = [](std::vector<Json> errors) {
    const auto& first = errors.front();
    return make_error(Reason::AiSchemaInvalid,
                      cat("The schema cannot be used: ", first.value("path", ""), ": ",
                          first.value("message", "")),
                      Json{{"errors", errors}});
  };
  const auto whole = [](const std::string& message) {
    return std::vector<Json>{{{"path", "/"}, {"keyword", ""}, {"message", message}}};
  };
  if (!schema.is_object()) return refuse(whole("The schema of a record is an object."));
  if (json_text(schema).size() > kMaxSchemaBytes)
    return refuse(whole(cat("It is larger than ", kMaxSchemaBytes, " bytes.")));
  SubsetMapper mapper(schema);
  RecordSchema compiled;
  compiled.draft7_ = mapper.map_root();
  if (!mapper.errors.empty()) return refuse(std::move(mapper.errors));
  compiled.patterns_ = std::move(mapper.patterns);
  compiled.for_model_ = compiled.draft7_;
  visit_schemas(compiled.for_model_, [](Json& one) { one.erase("pattern"); });
  // What the library refuses to read would refuse every record.
  for (const auto& error : compiled.errors(Json()))
    if (error.starts_with("schema: ")) return refuse(whole(error));
  return compiled;
}

std::vector<std::string> RecordSchema::errors(const Json& value) const {
  if (patterns_.empty()) return json_schema_errors(value, draft7_);
  // A pattern becomes the list of the value's own texts that match it, so that the matching is ours
  // and takes linear time.
  std::set<std::string> texts;
  collect_texts(value, texts);
  Json schema = draft7_;
  visit_schemas(schema, [&](Json& one) {
    const auto it = one.find("pattern");
    if (it == one.end()) return;
    const auto& pattern = patterns_.at(it->get<std::string>());
    Json matching = Json::array();
    for (const auto& text : texts)
      if (pattern.matches(text)) matching.push_back(text);
    one.erase("pattern");
    Json other{{"not", {{"type", "string"}}}};
    if (matching.empty())
      one["allOf"].push_back(std::move(other));
    else
      one["allOf"].push_back(
          Json{{"anyOf", Json::array({std::move(other), Json{{"enum", std::move(matching)}}})}});
  });
  return json_schema_errors(value, schema);
}

}  // namespace indx
