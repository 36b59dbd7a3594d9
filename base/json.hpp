#pragma once
#include <nlohmann/json.hpp>

namespace indx {

/// The JSON value used everywhere inside indx; objects keep the order of insertion.
using Json = nlohmann::ordered_json;

}  // namespace indx
