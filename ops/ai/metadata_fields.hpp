#pragma once
#include "ai/metadata.hpp"
#include "ops/ai/ai_apply.hpp"
#include "ops/define.hpp"
#include "vault/base_regexp.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace indx {

/// The fields that ai_metadata is asked for, and how their values are written (rows C58 to C70).

struct MetadataFieldSpec {
  std::string key, type = "string", description;
  bool required = false;
  std::vector<std::string> allowed;
  std::optional<std::string> list_item_type, pattern;
  std::optional<double> min, max;
  std::optional<Json> default_value;
  static Fields<MetadataFieldSpec> fields();
};

/// A checked field: the spec in the form that ai/ knows, and what only the vault's side does.
struct MetadataRule {
  MetadataField field;
  std::optional<BaseRegexp> pattern;
  std::optional<Json> default_value;  ///< already of the field's type
  bool is_list() const;               ///< what is written is a list (row C70)

  /// The value as it may be written; nullopt: it is not, and `*why` says why.
  std::optional<Json> accept(const Json& raw, std::string* why) const;
};
/// Fails with `validation_failed` that names `fields[i]` and the member that makes no sense.
Result<std::vector<MetadataRule>> metadata_rules(const std::vector<MetadataFieldSpec>& specs);

struct SkippedField {
  std::string key, reason;
  static Fields<SkippedField> fields();
};
/// What a value becomes in the note, by mode: `set_missing`, `overwrite` or `merge`. `existing` is
/// null where the note has none.
struct FieldPlan {
  std::optional<Json> write;
  std::string skipped;  ///< the reason; empty: it is not skipped
};
FieldPlan plan_field(const MetadataRule& rule, const Json& value, const Json& existing,
                     const std::string& mode);
/// A list property after `value` was added: existing items keep their place and spelling.
Json union_of(const Json& existing, const Json& value);

}  // namespace indx
