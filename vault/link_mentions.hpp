#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// A place in a note's body; line and column are 1-based and count bytes in the whole file.
struct TextPlace {
  std::size_t begin = 0, end = 0;
  int line = 0, column = 0;
};

/// Where the body of a note holds one of the names as words of its own, whatever the case, outside
/// of code, math, comments in HTML and links (vault-rules 5.6). Where two overlap, the longer that
/// begins first counts.
std::vector<TextPlace> find_mentions(std::string_view bytes, const std::vector<std::string>& names);

}  // namespace indx
