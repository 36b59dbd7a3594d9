#pragma once
#include "base/config.hpp"
#include "cli/args.hpp"

namespace indx {

/// Runs one operation where the flags say, and prints its answer. Gives the exit code.
int run_command(const Invocation& invocation, const Environment& env, const Registry& registry);

}  // namespace indx
