#pragma once
#include "vault/base_definition.hpp"
#include "vault/base_rows.hpp"

namespace indx {

/// What a view has to know of the files, without a prefilter.
BaseRowNeeds base_row_needs(const BaseDefinition& base, const BaseView& view);

}  // namespace indx
