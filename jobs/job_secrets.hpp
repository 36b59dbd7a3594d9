#pragma once
#include "base/json.hpp"
#include "base/result.hpp"

#include <string>
#include <string_view>

namespace indx {

Result<std::string> seal_secrets(const std::string& key, const Json& secrets);
Result<Json> open_secrets(const std::string& key, std::string_view sealed);

}  // namespace indx
