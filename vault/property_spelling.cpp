#include "vault/property_spelling.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/yaml_tree.hpp"

#include <algorithm>

namespace indx {
namespace {

bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether `text` has the form of `pattern`, in which `9` stands for a digit.
bool has_form(std::string_view text, std::string_view pattern) {
  if (text.size() != pattern.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (pattern[i] == '9' ? !is_ascii_digit(text[i]) : text[i] != pattern[i]) return false;
  return true;
}

bool is_date_text(std::string_view text) {
  return has_form(text, "9999-99-99") || has_form(text, "9999-99-99T99:99:99");
}

bool only_of(std::string_view text, std::string_view allowed) {
  return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

/// Whether a YAML 1.1 reader gives a plain scalar of this text another type than text. `y` and `n`
/// stay plain, as the readers in use take them for texts (case F-21).
bool is_typed_in_yaml_11(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (const std::string_view word :
       {"", "~", "null", "true", "false", "yes", "no", "on", "off", "=", "<<"})
    if (lower == word) return true;
  std::string_view body = lower;
  if (body[0] == '+' || body[0] == '-') body.remove_prefix(1);
  if (body.empty()) return false;
  if (body == ".inf" || body == ".nan") return true;
  if (body.substr(0, 2) == "0b" || body.substr(0, 2) == "0x" || body.substr(0, 2) == "0o")
    return only_of(body.substr(2), "0123456789abcdef_");
  if (!is_ascii_digit(body[0]) && !(body[0] == '.' && body.size() > 1 && is_ascii_digit(body[1])))
    return false;
  if (only_of(body, "0123456789_."))
    return std::count(body.begin(), body.end(), '.') <= 1;  // integers, octals, floats
  if (only_of(body, "0123456789_.:"))
    return std::count(body.begin(), body.end(), '.') <= 1;  // base 60
  const std::size_t exponent = body.find('e');
  if (exponent != std::string_view::npos && only_of(body.substr(0, exponent), "0123456789_.")) {
    std::string_view power = body.substr(exponent + 1);
    if (!power.empty() && (power[0] == '+' || power[0] == '-')) power.remove_prefix(1);
    if (only_of(power, "0123456789")) return true;
  }
  return body.size() >= 8 && has_form(body.substr(0, 5), "9999-") &&
         only_of(body, "0123456789-:.tz +");  // timestamps
}

/// Whether the text may stand unquoted, as far as YAML's syntax goes.
bool is_plain_safe(std::string_view text, bool in_flow) {
  if (text.empty() || text.front() == ' ' || text.back() == ' ' || text.back() == ':') return false;
  if (std::string_view("-?:,[]{}#&*!|>'\"%@`=").find(text[0]) != std::string_view::npos)
    return false;
  if (text.substr(0, 3) == "...") return false;
  if (text.find("[[") != std::string_view::npos || text.find(": ") != std::string_view::npos ||
      text.find(" #") != std::string_view::npos)
    return false;
  if (in_flow && text.find_first_of(",[]{}:\"'") != std::string_view::npos) return false;
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint point = decode_at(text, i);
    const char32_t c = point.value;
    if (c < 0x20 || (c >= 0x7F && c <= 0xA0) || c == 0x2028 || c == 0x2029 || c == 0xFEFF ||
        c == 0xFFFD)
      return false;
    i += point.length;
  }
  return true;
}

/// Double quotes with JSON escapes; what YAML counts as unprintable is escaped too.
std::string double_quoted(std::string_view text) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint point = decode_at(text, i);
    const char32_t c = point.value;
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 || c == 0xFEFF) {
      out += "\\u";
      for (const unsigned shift : {12U, 8U, 4U, 0U}) out += kHex[(c >> shift) & 15U];
    } else {
      out.append(text.substr(i, point.length));
    }
    i += point.length;
  }
  return out + '"';
}

bool fits_literal_block(std::string_view text) {
  if (text.find('\n') == std::string_view::npos || text.back() == '\n' || text.front() == '\n')
    return false;
  if (text.front() == ' ' || text.front() == '\t' || text.back() == ' ' || text.back() == '\t')
    return false;
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint point = decode_at(text, i);
    const char32_t c = point.value;
    if ((c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7F && c < 0xA0) || c == 0x2028 ||
        c == 0x2029 || c == 0xFEFF)
      return false;
    if (c == '\n' && (text[i - 1] == ' ' || text[i - 1] == '\t')) return false;
    i += point.length;
  }
  return true;
}

std::string spell_scalar(const Json& value, bool in_flow) {
  return value.is_string() ? spell_property_text(value.get_ref<const std::string&>(), in_flow)
                           : value.dump();
}

}  // namespace

std::string spell_property_text(std::string_view text, bool in_flow) {
  if (is_date_text(text)) return std::string(text);
  const bool plain = is_plain_safe(text, in_flow) && !is_typed_in_yaml_11(text) &&
                     plain_yaml_scalar(text).is_string();
  return plain ? std::string(text) : double_quoted(text);
}

std::string PropertyWriter::after_mark(const Json& value, std::size_t indent,
                                       bool under_dash) const {
  if (value.is_array() && !value.empty()) return line_end_ + items(value, indent + 2);
  if (value.is_object() && !value.empty()) {
    const std::string inner = members(value, indent + 2);
    return under_dash ? " " + inner.substr(indent + 2) : line_end_ + inner;
  }
  if (value.is_null()) return under_dash ? " null" : "";
  if (value.is_string() && fits_literal_block(value.get_ref<const std::string&>()))
    return " |-" + literal_lines(value.get_ref<const std::string&>(), indent + 2);
  return " " + spell_scalar(value, false);
}

std::string PropertyWriter::members(const Json& object, std::size_t indent) const {
  std::string out;
  for (const auto& [key, value] : object.items()) {
    if (!out.empty()) out += line_end_;
    out.append(indent, ' ')
        .append(spell_key(key))
        .append(":")
        .append(after_mark(value, indent, false));
  }
  return out;
}

std::string PropertyWriter::spell_key(const std::string& key) {
  // The spelling of a key has no type in JSON, so only the syntax matters; `: ` and ` #` are
  // covered by it.
  return is_plain_safe(key, false) && key.find(':') == std::string::npos && key != "<<" &&
                 key.size() < 128
             ? key
             : double_quoted(key);
}

std::string PropertyWriter::flow(const Json& value) {
  if (value.is_array()) {
    std::string out = "[";
    for (const Json& item : value) out.append(out.size() > 1 ? ", " : "").append(flow(item));
    return out + "]";
  }
  if (value.is_object()) {
    std::string out = "{";
    for (const auto& [key, item] : value.items())
      out.append(out.size() > 1 ? ", " : "")
          .append(double_quoted(key))
          .append(": ")
          .append(flow(item));
    return out + "}";
  }
  return spell_scalar(value, true);
}

std::string PropertyWriter::items(const Json& list, std::size_t indent) const {
  std::string out;
  for (const Json& item : list) {
    if (!out.empty()) out += line_end_;
    out.append(indent, ' ').append("-").append(after_mark(item, indent, true));
  }
  return out;
}

std::string PropertyWriter::literal_lines(const std::string& text, std::size_t indent) const {
  std::string out;
  for (const std::string& line : split(text, '\n')) {
    out += line_end_;
    if (!line.empty()) out.append(indent, ' ').append(line);
  }
  return out;
}

}  // namespace indx
