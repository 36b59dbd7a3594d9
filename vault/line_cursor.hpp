#pragma once
#include "vault/block_scanner.hpp"

#include <algorithm>
#include <cstring>

namespace indx {

/// Internal to `vault/`: a line of a note and how far the marks of its containers were read.
/// Columns count from 0, a tab goes on to the next multiple of four.
struct LineCursor {
  LineCursor(std::string_view text, std::size_t at, int first_line)
      : bytes(text),
        next(at),
        number(first_line - 1),
        has_cr(text.find('\r') != std::string_view::npos) {}

  std::string_view bytes;
  std::size_t next;  ///< where the next line begins
  int number;
  bool has_cr;
  std::size_t begin = 0, end = 0;
  std::size_t pos = 0, column = 0;  ///< behind the marks of the containers
  std::size_t first = 0;            ///< the first byte from `pos` on that is not blank
  std::size_t indent = 0;           ///< columns from `pos` to there
  bool blank = false;

  /// False: there is no further line.
  bool read() {
    if (next >= bytes.size()) return false;
    begin = next;
    ++number;
    const char* from = bytes.data() + begin;
    const void* found = std::memchr(from, '\n', bytes.size() - begin);
    end = found == nullptr
              ? bytes.size()
              : begin + static_cast<std::size_t>(static_cast<const char*>(found) - from);
    next = std::min(end + 1, bytes.size());
    if (has_cr) {
      if (const void* cr = std::memchr(from, '\r', end - begin)) {
        end = begin + static_cast<std::size_t>(static_cast<const char*>(cr) - from);
        next = end + (bytes.substr(end, 2) == "\r\n" ? 2 : 1);
      }
    }
    pos = begin;
    column = 0;
    return true;
  }

  void find_first() {
    first = pos;
    std::size_t at = column;
    for (; first < end; ++first) {
      if (bytes[first] == ' ')
        ++at;
      else if (bytes[first] == '\t')
        at += 4 - at % 4;
      else
        break;
    }
    indent = at - column;
    blank = first >= end;
  }

  void advance_columns(std::size_t count) {
    while (count > 0 && pos < end) {
      const std::size_t width = bytes[pos] == '\t' ? 4 - column % 4 : 1;
      const std::size_t step = std::min(width, count);
      column += step;
      if (step == width) ++pos;
      count -= step;
    }
  }
  void advance_to_first() { advance_columns(indent); }
  /// Over a mark of as many bytes, none of them a tab.
  void skip_mark(std::size_t length) {
    pos += length;
    column += length;
  }

  std::string_view rest() const { return bytes.substr(first, end - first); }
  BlockLine from(std::size_t at) const { return {at, end, begin, number}; }
};

}  // namespace indx
