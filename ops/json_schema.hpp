#pragma once
#include "base/json.hpp"

#include <string>
#include <vector>

namespace indx {

/// What is wrong with `value` under a schema of JSON Schema draft 7, each as `/path: what`, at most
/// 20. Empty: it fits. The schema comes from schema_subset.hpp: without references, so that nothing
/// is fetched, and without patterns, which the library matches in time without bound. A schema that
/// the library refuses is one error `schema: …`.
std::vector<std::string> json_schema_errors(const Json& value, const Json& draft7);

}  // namespace indx
