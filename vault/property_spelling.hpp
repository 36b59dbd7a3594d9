#pragma once
#include "base/json.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace indx {

/// Internal to `vault/`: how values are written as YAML (rule 3.9).

/// A text as it stands in a property: plain where every reader takes it for this text, else in
/// double quotes.
std::string spell_property_text(std::string_view text, bool in_flow);

/// Writes properties in block style, their lines ended by `line_end`.
class PropertyWriter {
 public:
  explicit PropertyWriter(std::string_view line_end) : line_end_(line_end) {}

  /// What follows `key:` or a list dash that stands `indent` columns in; no line end at the end.
  std::string after_mark(const Json& value, std::size_t indent, bool under_dash) const;
  std::string members(const Json& object, std::size_t indent) const;
  /// The value on one line, between brackets where it has parts.
  static std::string flow(const Json& value);

 private:
  static std::string spell_key(const std::string& key);
  std::string items(const Json& list, std::size_t indent) const;
  std::string literal_lines(const std::string& text, std::size_t indent) const;

  std::string line_end_;
};

}  // namespace indx
