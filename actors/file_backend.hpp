#pragma once
#include "base/config.hpp"
#include "ops/dispatch.hpp"

#include <memory>

namespace indx {

/// A backend for calls of operations that need only files (`Needs::Files`): no lock, no database,
/// no actors, and nothing is written. What a handler asks for beyond that is a bug of ours, and
/// the call fails with `internal`; so does everything that a Backend does for other operations.
/// Fails as the start of an engine does when the vault or the AI provider is wrong.
Result<std::unique_ptr<Backend>> open_file_backend(const Config& config);

}  // namespace indx
