#include "base/json_text.hpp"

#include "base/unicode.hpp"

#include <algorithm>

namespace indx {
namespace {

bool needs_escape(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

void append_escaped(std::string& out, char c) {
  static constexpr std::string_view kDigits = "0123456789abcdef", kPlain = "\"\\\b\f\n\r\t",
                                    kLetters = "\"\\bfnrt";
  out += '\\';
  if (const auto at = kPlain.find(c); at != std::string_view::npos) {
    out += kLetters[at];
    return;
  }
  const auto byte = static_cast<unsigned char>(c);
  ((out += "u00") += kDigits[byte >> 4U]) += kDigits[byte & 15U];
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  if (!is_valid_utf8(text)) return append_json_string(out, replace_invalid_utf8(text));
  out += '"';
  for (auto at = text.begin();;) {
    const auto special = std::find_if(at, text.end(), needs_escape);
    out.append(at, special);
    if (special == text.end()) break;
    append_escaped(out, *special);
    at = special + 1;
  }
  out += '"';
}

void append_json(std::string& out, const Json& value) {
  const char* separator = "";
  switch (value.type()) {
    case Json::value_t::object:
      out += '{';
      for (const auto& [key, item] : value.get_ref<const Json::object_t&>()) {
        append_json_string(out += separator, key);
        append_json(out += ':', item);
        separator = ",";
      }
      out += '}';
      return;
    case Json::value_t::array:
      out += '[';
      for (const Json& item : value) {
        append_json(out += separator, item);
        separator = ",";
      }
      out += ']';
      return;
    case Json::value_t::string:
      return append_json_string(out, value.get_ref<const std::string&>());
    default:
      out += value.dump();
  }
}

std::string json_text(const Json& value) {
  std::string out;
  append_json(out, value);
  return out;
}

}  // namespace indx
