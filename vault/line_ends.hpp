#pragma once
#include <algorithm>
#include <string>
#include <string_view>

namespace indx {

/// Lines end at `\n`, `\r\n` or a lone `\r` (rule 2.3). Internal to `vault/`.

/// Where the line that holds `at` begins.
inline std::size_t line_begin_of(std::string_view bytes, std::size_t at) {
  while (at > 0 && bytes[at - 1] != '\n' && bytes[at - 1] != '\r') --at;
  return at;
}

/// Where the line that holds `at` ends, before its line end.
inline std::size_t line_end_of(std::string_view bytes, std::size_t at) {
  while (at < bytes.size() && bytes[at] != '\n' && bytes[at] != '\r') ++at;
  return at;
}

/// The first byte after the line end that stands at `end`.
inline std::size_t next_line_of(std::string_view bytes, std::size_t end) {
  if (end >= bytes.size()) return bytes.size();
  return end + (bytes[end] == '\r' && end + 1 < bytes.size() && bytes[end + 1] == '\n' ? 2 : 1);
}

/// The line end that most lines use; `\n` for a text without any.
inline std::string_view dominant_line_end(std::string_view bytes) {
  std::size_t lf = 0, crlf = 0, cr = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == '\n') {
      ++lf;
    } else if (bytes[i] == '\r') {
      if (i + 1 < bytes.size() && bytes[i + 1] == '\n') {
        ++crlf;
        ++i;
      } else {
        ++cr;
      }
    }
  }
  if (crlf > lf && crlf >= cr) return "\r\n";
  return cr > lf ? "\r" : "\n";
}

}  // namespace indx
