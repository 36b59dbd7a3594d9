#pragma once
#include "vault/base_evaluator.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// A condition: one expression, or a list of conditions joined (vault-rules 8.3).
struct BaseFilter {
  enum class Kind : std::uint8_t { Expression, And, Or, Not };
  Kind kind = Kind::Expression;
  BaseNode expression;
  std::string source;  ///< of the expression, for warnings
  std::vector<BaseFilter> children;
};

struct BaseSort {
  BaseColumn column;
  bool is_descending = false;
};

struct BaseSummary {
  BaseColumn column;
  std::string name;  ///< of a builtin summary or of one of the base's own
};

struct BaseView {
  std::string name, type = "table";
  std::optional<BaseFilter> filter;
  std::vector<BaseColumn> order;
  std::vector<BaseSort> sort;
  std::optional<BaseSort> group_by;
  std::optional<std::size_t> limit;
  std::vector<BaseSummary> summaries;
};

/// A `.base` file (vault-rules 8.1). Formulas and summaries that cannot be read are kept as Errors:
/// they spoil their cells only.
struct BaseDefinition {
  std::optional<BaseFilter> filter;
  std::map<std::string, Result<BaseNode>> formulas, summaries;  ///< by folded name
  std::map<std::string, std::string> display_names;             ///< by id of the column
  std::vector<BaseView> views;                                  ///< never empty
};

/// Fails with `validation_failed`: no YAML mapping, a part of a wrong kind, a filter that cannot be
/// read. Details: {where, line, column} in the file, for expressions also {expression, offset}.
Result<BaseDefinition> parse_base_definition(std::string_view yaml);

}  // namespace indx
