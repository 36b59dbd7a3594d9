#pragma once
#include "base/result.hpp"
#include "vault/base_regexp.hpp"

#include <map>
#include <string>
#include <vector>

namespace indx {

/// The part of JSON Schema 2020-12 that a caller may describe a record with (row C73), mapped onto
/// draft 7, which is what we can check.
///
/// Checked: `type enum const`, `multipleOf minimum maximum exclusiveMinimum exclusiveMaximum`,
/// `minLength maxLength pattern`, `items prefixItems contains minItems maxItems uniqueItems`,
/// `properties required additionalProperties propertyNames minProperties maxProperties
/// dependentRequired dependentSchemas`, `allOf anyOf oneOf not if then else`, `$ref` to a place in
/// the same schema (`#/$defs/x`), `$defs`. Kept as notes: `title description default examples
/// deprecated readOnly writeOnly $comment format`, and `$schema`, `$id` at the root. Everything
/// else is refused by its name: a check that silently does not happen is worse than none.
///
/// Bounds: 64 KiB of text, 32 levels, 5,000 subschemas once references are followed, patterns of
/// 256 bytes, which are matched in linear time. References may not go round in a circle, and none
/// leaves the schema: nothing is ever fetched.
class RecordSchema {
 public:
  /// Fails with `ai_schema_invalid` and details.errors `[{path, keyword, message}]`.
  static Result<RecordSchema> compile(const Json& schema);

  /// The schema without references and patterns, for a model's structured output.
  const Json& for_model() const { return for_model_; }
  /// The same with patterns and in draft 7, as it is checked.
  const Json& draft7() const { return draft7_; }
  /// What is wrong with a value, each as `/path: what`; empty: it fits.
  std::vector<std::string> errors(const Json& value) const;

 private:
  RecordSchema() = default;
  Json draft7_, for_model_;
  std::map<std::string, BaseRegexp> patterns_;
};

}  // namespace indx
