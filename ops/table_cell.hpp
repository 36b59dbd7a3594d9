#pragma once
#include "base/json.hpp"
#include "base/json_text.hpp"
#include "base/text.hpp"

#include <string>
#include <vector>

namespace indx {

/// A value as people read it in a table: items with commas, an object with a `type` (a link, a
/// file) by what it shows, `{error}` as such, null as nothing. May hold line breaks.
inline std::string table_cell(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) {
    std::vector<std::string> parts;
    for (const auto& item : value) parts.push_back(table_cell(item));
    return join(parts, ", ");
  }
  if (value.is_object()) {
    if (value.contains("error") && value["error"].is_string())
      return "Error: " + value["error"].get<std::string>();
    const bool has_type = value.contains("type") && value["type"].is_string();
    for (const auto* key : {"display", "target", "path", "text"})
      if (has_type && value.contains(key) && value[key].is_string())
        return value[key].get<std::string>();
  }
  return json_text(value);
}

}  // namespace indx
