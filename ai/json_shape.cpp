#include "ai/json_shape.hpp"

#include "base/json_depth.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <cmath>

namespace indx {
namespace {

constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxErrors = 20;

bool is_of_type(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "integer")
    return value.is_number_integer() ||
           (value.is_number() && std::trunc(value.get<double>()) == value.get<double>());
  return type == "number" && value.is_number();
}

class ShapeChecker {
 public:
  std::vector<std::string> errors;

  void check(const Json& value, const Json& schema, const std::string& path) {
    if (!schema.is_object() || errors.size() >= kMaxErrors) return;
    if (!check_type(value, schema, path)) return;
    if (const auto it = schema.find("enum");
        it != schema.end() && std::find(it->begin(), it->end(), value) == it->end())
      add(path, "is not one of the allowed values");
    if (value.is_object()) check_object(value, schema, path);
    if (value.is_array()) check_array(value, schema, path);
    if (value.is_number()) check_limits(value.get<double>(), schema, "minimum", "maximum", path);
    if (value.is_string())
      check_limits(static_cast<double>(count_code_points(value.get_ref<const std::string&>())),
                   schema, "minLength", "maxLength", path);
  }

 private:
  void add(const std::string& path, const std::string& what) {
    errors.push_back(cat(path.empty() ? "/" : path, ": ", what));
  }

  bool check_type(const Json& value, const Json& schema, const std::string& path) {
    const auto it = schema.find("type");
    if (it == schema.end()) return true;
    const auto fits = [&](const Json& type) {
      return type.is_string() && is_of_type(value, type.get<std::string>());
    };
    if (it->is_array() ? std::any_of(it->begin(), it->end(), fits) : fits(*it)) return true;
    add(path, cat("must be ", it->is_string() ? it->get<std::string>() : it->dump()));
    return false;
  }

  void check_object(const Json& value, const Json& schema, const std::string& path) {
    if (const auto it = schema.find("required"); it != schema.end())
      for (const auto& name : *it)
        if (name.is_string() && !value.contains(name.get<std::string>()))
          add(path, cat("lacks ", name.get<std::string>()));
    const auto properties = schema.find("properties");
    const auto others = schema.find("additionalProperties");
    for (const auto& [name, member] : value.items()) {
      if (properties != schema.end() && properties->contains(name)) {
        check(member, (*properties)[name], cat(path, '/', name));
      } else if (others != schema.end()) {
        if (*others == false)
          add(path, cat("has the unknown member ", name));
        else
          check(member, *others, cat(path, '/', name));
      }
    }
  }

  void check_array(const Json& value, const Json& schema, const std::string& path) {
    check_limits(static_cast<double>(value.size()), schema, "minItems", "maxItems", path);
    const auto items = schema.find("items");
    if (items == schema.end()) return;
    for (std::size_t i = 0; i < value.size(); ++i) check(value[i], *items, cat(path, '/', i));
  }

  void check_limits(double actual, const Json& schema, const char* least, const char* most,
                    const std::string& path) {
    if (const auto it = schema.find(least);
        it != schema.end() && it->is_number() && actual < it->get<double>())
      add(path, cat("is below ", least, ' ', it->dump()));
    if (const auto it = schema.find(most);
        it != schema.end() && it->is_number() && actual > it->get<double>())
      add(path, cat("is above ", most, ' ', it->dump()));
  }
};

}  // namespace

std::vector<std::string> shape_errors(const Json& value, const Json& schema) {
  ShapeChecker checker;
  checker.check(value, schema, "");
  return std::move(checker.errors);
}

std::optional<Json> parse_untrusted_json(std::string_view text) {
  if (holds_zero_byte(text)) return std::nullopt;
  bool too_deep = false;
  const auto watch_depth = [&](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > kMaxDepth;
    return !too_deep;
  };
  auto value = Json::parse(text, watch_depth, false);
  if (too_deep || value.is_discarded()) return std::nullopt;
  return value;
}

}  // namespace indx
