#pragma once
#include "mcp/catalog.hpp"

namespace indx {

/// The input of a group as one flat object: `action`, and the fields of all its operations. A field
/// that only some actions take says of which. What one action requires is checked when it is
/// called.
Json group_schema(const Tool& tool, SchemaReader reader);

}  // namespace indx
