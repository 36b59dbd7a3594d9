#pragma once
#include "vault/base_definition.hpp"

#include <string>
#include <vector>

namespace indx {

/// What the value of an expression depends on, formulas followed. Values that are links are not
/// looked at: what a link is worth depends on other files too.
struct BaseReads {
  bool is_known = true;            ///< false: on more than the rest says, other files or chance
  std::vector<std::string> names;  ///< of properties, as written
  bool folder = false, extension = false;
  bool file = false;  ///< path, size or time of change
};
BaseReads base_reads(const BaseDefinition& base, const BaseNode& expression);

}  // namespace indx
