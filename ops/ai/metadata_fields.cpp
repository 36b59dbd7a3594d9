#include "ops/ai/metadata_fields.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/frontmatter.hpp"

#include <algorithm>
#include <set>

namespace indx {
namespace {

constexpr std::size_t kMaxMetadataPattern = 512;

bool is_list_property(const std::string& key) {
  const auto folded = fold_case(key);
  return folded == "tags" || folded == "aliases" || folded == "cssclasses";
}

class SpecCheck {
 public:
  SpecCheck(const MetadataFieldSpec& spec, std::size_t index) : spec_(spec), index_(index) {}

  Result<MetadataRule> run() const {
    INDX_TRY(check_key());
    INDX_TRY(check_members());
    MetadataRule rule;
    rule.field = {spec_.key,      spec_.type,    spec_.description,
                  spec_.required, spec_.allowed, spec_.list_item_type.value_or("string"),
                  spec_.min,      spec_.max};
    if (spec_.pattern) {
      auto pattern = BaseRegexp::compile(*spec_.pattern, "");
      if (!pattern) return refuse("pattern", pattern.error().message);
      rule.pattern = *pattern;
    }
    if (spec_.default_value && !spec_.default_value->is_null()) {
      std::string why;
      rule.default_value = rule.accept(*spec_.default_value, &why);
      if (!rule.default_value) return refuse("default", why);
    }
    return rule;
  }

 private:
  Error refuse(const char* member, const std::string& why) const {
    const auto path = cat("fields[", index_, "].", member);
    return invalid(cat("`", path, "` of `", spec_.key, "`: ", why),
                   Json{{"path", path}, {"expected", why}});
  }

  Status check_key() const {
    if (trim(spec_.key).empty()) return refuse("key", "A field needs a name.");
    if (auto known = check_frontmatter(Json{{spec_.key, ""}}); !known)
      return refuse("key", known.error().message);
    return {};
  }

  Status check_members() const {
    const bool is_list = spec_.type == "list";
    const auto item = spec_.list_item_type.value_or("string");
    const bool is_enum = spec_.type == "enum" || (is_list && item == "enum");
    if (spec_.list_item_type && !is_list) return refuse("list_item_type", "Only a list has items.");
    if (is_enum && spec_.allowed.empty()) return refuse("enum", "An enum needs its values.");
    if (!is_enum && !spec_.allowed.empty()) return refuse("enum", "Only an enum has values.");
    const std::set<std::string> distinct(spec_.allowed.begin(), spec_.allowed.end());
    if (distinct.size() != spec_.allowed.size()) return refuse("enum", "A value stands twice.");
    if (spec_.pattern && spec_.type != "string")
      return refuse("pattern", "Only a string has a pattern.");
    if (spec_.pattern && spec_.pattern->size() > kMaxMetadataPattern)
      return refuse("pattern", cat("It has more than ", kMaxMetadataPattern, " bytes."));
    const bool has_bounds = spec_.type == "number" || is_list;
    if (!has_bounds && (spec_.min || spec_.max))
      return refuse(spec_.min ? "min" : "max", "Only a number or a list has bounds.");
    if (spec_.min && spec_.max && *spec_.min > *spec_.max)
      return refuse("min", "It is above `max`.");
    return {};
  }

  const MetadataFieldSpec& spec_;
  const std::size_t index_;
};

/// `#` in front of a tag is how notes write it, not part of its name.
Json as_property(const std::string& key, const Json& value) {
  if (!is_list_property(key)) return value;
  Json list = value.is_array() ? value : Json::array({value});
  if (fold_case(key) != "tags") return list;
  for (auto& item : list)
    if (item.is_string() && item.get_ref<const std::string&>().starts_with('#'))
      item = item.get<std::string>().substr(1);
  return list;
}

}  // namespace

Fields<MetadataFieldSpec> MetadataFieldSpec::fields() {
  const auto types = one_of({"string", "number", "boolean", "date", "datetime", "list", "enum"});
  return {
      field("key", &MetadataFieldSpec::key, "Name of the property.", plain, length(1, 128)),
      field("type", &MetadataFieldSpec::type,
            "Type of its value; a date is written YYYY-MM-DD, a datetime in UTC.", plain, types),
      field("description", &MetadataFieldSpec::description, "What it means, for the model.",
            optional, plain, length(0, 1000)),
      field("required", &MetadataFieldSpec::required,
            "Warn with metadata_missing where there is no value.", optional, plain),
      field("enum", &MetadataFieldSpec::allowed, "enum: the values that may be given, exactly.",
            optional, length(0, 200)),
      field("list_item_type", &MetadataFieldSpec::list_item_type,
            "list: type of its items; left out: string.",
            one_of({"string", "number", "boolean", "date", "datetime", "enum"})),
      field("pattern", &MetadataFieldSpec::pattern,
            "string: a regular expression that the value must match; checked afterwards."),
      field("min", &MetadataFieldSpec::min, "number: least value; list: fewest items."),
      field("max", &MetadataFieldSpec::max, "number: greatest value; list: most items."),
      field("default", &MetadataFieldSpec::default_value, "Value where the note does not say.",
            plain)};
}

bool MetadataRule::is_list() const { return field.type == "list" || is_list_property(field.key); }

std::optional<Json> MetadataRule::accept(const Json& raw, std::string* why) const {
  auto value = checked_value(field, raw, why);
  if (value && pattern && !pattern->matches(value->get_ref<const std::string&>())) {
    *why = "It does not match the pattern.";
    return std::nullopt;
  }
  return value;
}

Result<std::vector<MetadataRule>> metadata_rules(const std::vector<MetadataFieldSpec>& specs) {
  std::vector<MetadataRule> rules;
  std::set<std::string> keys;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    MetadataRule rule = INDX_TRY(SpecCheck(specs[i], i).run());
    if (!keys.insert(fold_case(rule.field.key)).second)
      return invalid(cat("`fields[", i, "].key`: `", rule.field.key,
                         "` is asked for twice; letter case makes no difference."),
                     Json{{"path", cat("fields[", i, "].key")}, {"actual", rule.field.key}});
    rules.push_back(std::move(rule));
  }
  return rules;
}

Fields<SkippedField> SkippedField::fields() {
  return {field("key", &SkippedField::key, "The property."),
          field("reason", &SkippedField::reason, "Why it was left alone.",
                one_of({"existing_under_set_missing", "validation_failed"}))};
}

Json union_of(const Json& existing, const Json& value) {
  Json list = existing.is_null()    ? Json::array()
              : existing.is_array() ? existing
                                    : Json::array({existing});
  for (const auto& item : value)
    if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
  return list;
}

FieldPlan plan_field(const MetadataRule& rule, const Json& value, const Json& existing,
                     const std::string& mode) {
  if (value.is_null()) return {};
  const Json wanted = as_property(rule.field.key, value);
  const bool is_union = mode == "merge" && rule.is_list();
  if (!existing.is_null() && mode != "overwrite" && !is_union)
    return {std::nullopt, "existing_under_set_missing"};
  Json next = is_union ? union_of(existing, wanted) : wanted;
  if (next == existing) return {};
  return {std::move(next), ""};
}

}  // namespace indx
