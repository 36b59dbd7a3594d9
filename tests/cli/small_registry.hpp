#pragma once
#include "ops/operation.hpp"

namespace indx {

/// Three operations with every kind of field: `note get`, `note drop` (destructive), `ai tag`
/// (nested scope).
Registry small_registry();

}  // namespace indx
