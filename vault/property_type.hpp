#pragma once
#include "base/json.hpp"

#include <string_view>

namespace indx {

/// What a property's value looks like by rule 3.6: `text list number checkbox date datetime tags
/// aliases object empty`. The name decides for `tags` and `aliases`.
std::string_view property_type(std::string_view name, const Json& value);

}  // namespace indx
