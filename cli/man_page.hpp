#pragma once
#include "cli/commands.hpp"

#include <string>
#include <vector>

namespace indx {

/// The manual page, section 1, in the man(7) macros.
std::string man_page(const std::vector<Command>& commands);

}  // namespace indx
