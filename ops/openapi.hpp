#pragma once
#include "ops/operation.hpp"

namespace indx {

/// The OpenAPI 3.1 document of the registry; operations that need a role of AI only when there is
/// one.
Json openapi_document(const Registry& registry, const AiRoles& roles);

}  // namespace indx
