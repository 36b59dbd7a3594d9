#pragma once
#include "cli/commands.hpp"

#include <string>
#include <vector>

namespace indx {

/// The script that a shell loads to complete words and flags; empty for a shell that is not known.
std::string completion_script(const std::string& shell, const std::vector<Command>& commands);

}  // namespace indx
