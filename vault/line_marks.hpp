#pragma once
#include <cstddef>
#include <string_view>

namespace indx {

/// Internal to `vault/`: what a line of Markdown says of itself, whatever it stands in.

inline bool is_blank_char(char c) { return c == ' ' || c == '\t'; }
inline bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline bool is_ascii_number(char c) { return c >= '0' && c <= '9'; }
inline bool is_ascii_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
         (c >= '{' && c <= '~');
}

/// Cells of a table row; 0 when there are too many.
std::size_t count_cells(std::string_view row);
/// Whether a row can stand between the header and the body of a table.
bool is_delimiter_row(std::string_view row);
/// The id in `^id` at the end of a line: alone or after white space. Empty if there is none.
std::string_view trailing_block_id(std::string_view line);
/// Bytes that a link reference definition at the front of `text` takes, its line end included; 0 if
/// there is none.
std::size_t reference_definition_length(std::string_view text);

}  // namespace indx
