#pragma once
#include "actors/core.hpp"
#include "actors/messages.hpp"

#include <functional>

namespace indx {

/// What a handler leaves to be done when it has returned.
struct JobEnd {
  Lease lease;
  /// Stores how the try ended; empty: it was ended by somebody else, or is another's by now.
  std::function<Result<Json>(State&)> store = {};
  bool was_abandoned = false;  ///< another runner works in place of this one
};

/// The end of a try that took too long.
Error time_limit_passed(milliseconds limit);

/// Runs a claimed job on the calling thread.
JobEnd run_job(Core& core, const Claimed& claimed);

}  // namespace indx
