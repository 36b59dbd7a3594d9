#pragma once
#include "base/json.hpp"
#include "base/result.hpp"

#include <string>

namespace indx {

/// JSON from outside: at most 100 levels deep, no key twice. `validation_failed` for anything else.
Result<Json> parse_json_body(const std::string& text);

}  // namespace indx
