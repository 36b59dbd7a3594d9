#pragma once
#include "vault/base_definition.hpp"
#include "vault/base_rows.hpp"

namespace indx {

/// What a view has to know of the files, and the simple conditions at the top of its filters that
/// its source may check instead (`file.hasTag("x")`, `file.inFolder("x")`, `file.ext == "md"`,
/// joined by `and`). Without such conditions when expressions look at other files than their own.
BaseRowNeeds base_row_needs(const BaseDefinition& base, const BaseView& view);

}  // namespace indx
