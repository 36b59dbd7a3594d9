#pragma once
#include "vault/base_definition.hpp"

namespace indx {

/// One summary over the values of a column (vault-rules 8.11): a builtin name without regard to
/// case, or one of the base's own.
BaseValue base_summary(BaseEvaluator& evaluator, const BaseDefinition& base,
                       const std::string& name, std::vector<BaseValue> values);

}  // namespace indx
