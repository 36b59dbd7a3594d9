#include "base/json_depth.hpp"

namespace indx {

bool is_nested_deeper(std::string_view json, int levels) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > levels) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

bool holds_zero_byte(std::string_view json) { return json.find('\0') != std::string_view::npos; }

Json parse_shallow_json(std::string_view text) {
  if (holds_zero_byte(text) || is_nested_deeper(text, kMaxJsonLevels))
    return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, false);
}

}  // namespace indx
