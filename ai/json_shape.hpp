#pragma once
#include "base/json.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// What is wrong with `value` under the portable part of JSON Schema (type, enum, properties,
/// required, additionalProperties, items, minItems, maxItems, minimum, maximum, minLength,
/// maxLength), each as `/path: what`. Empty: it fits.
std::vector<std::string> shape_errors(const Json& value, const Json& schema);

/// JSON that came from outside: nullopt when it is broken or nested deeper than 64 levels.
std::optional<Json> parse_untrusted_json(std::string_view text);

}  // namespace indx
