#pragma once
#include "base/json.hpp"

#include <string_view>

namespace indx {

/// Deepest nesting of JSON text inside other values: what copies, checks and writes them recurses,
/// and a few kilobytes of brackets would use up the stack.
inline constexpr int kMaxJsonLevels = 100;
/// Whether brackets outside of strings are open more than `levels` deep at once. O(bytes).
bool is_nested_deeper(std::string_view json, int levels);
/// Whether a zero byte is in the text, which JSON never has: the parser takes it for the end and
/// does not look at what follows.
bool holds_zero_byte(std::string_view json);
/// The value that the text is; discarded for what is no JSON, or nested deeper than
/// kMaxJsonLevels.
Json parse_shallow_json(std::string_view text);

}  // namespace indx
