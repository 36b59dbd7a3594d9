#pragma once
#include <cstddef>
#include <string>

namespace indx {

/// Quotes for one thing that are looked for in a note; each costs a pass over it.
inline constexpr std::size_t kMaxReplyQuotes = 10;

/// A piece of a note that supports a claim, and where it stands.
struct Evidence {
  std::string quote;   ///< text of the note, verbatim
  int line = 0;        ///< 1-based in the file; 0 when it is the title from the file name
  std::string anchor;  ///< slug of the heading above, empty before the first
  std::size_t begin = 0, end = 0;  ///< byte span of the quote in the file
};

}  // namespace indx
