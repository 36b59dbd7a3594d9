#pragma once
#include "base/json.hpp"

#include <string>
#include <string_view>

namespace indx {

/// The value as JSON in UTF-8 on one line, without blanks; bytes of strings that are not UTF-8
/// become U+FFFD. What `Json::dump` gives, but for the speed of long strings, of which most of what
/// indx says consists.
std::string json_text(const Json& value);
void append_json(std::string& out, const Json& value);
/// A string with its quotes.
void append_json_string(std::string& out, std::string_view text);

}  // namespace indx
