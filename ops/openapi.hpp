#pragma once
#include "ops/operation.hpp"

namespace indx {

/// The OpenAPI 3.1 document of the registry; operations that need a provider only when there is
/// one.
Json openapi_document(const Registry& registry, bool has_provider);

}  // namespace indx
