#include "vault/link_query.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>

namespace indx {

std::string link_context(std::string_view bytes, std::size_t begin, std::size_t end) {
  constexpr std::size_t kAround = 100;
  begin = std::min(begin, bytes.size());
  end = std::clamp(end, begin, bytes.size());
  std::size_t from = begin;
  while (from > 0 && bytes[from - 1] != '\n' && bytes[from - 1] != '\r') --from;
  std::size_t to = std::min(bytes.find_first_of("\r\n", end), bytes.size());
  const bool cut_front = begin - from > kAround;
  if (cut_front) {
    from = begin - kAround;
    while (from < begin && (static_cast<unsigned char>(bytes[from]) & 0xC0U) == 0x80U) ++from;
    // A mark that belongs to the character before would stand alone.
    while (from < begin && is_mark(decode_at(bytes, from).value))
      from += decode_at(bytes, from).length;
  }
  std::string_view line = bytes.substr(from, to - from);
  const std::size_t most = end - from + kAround;
  const bool cut_back = line.size() > most;
  const std::string valid = replace_invalid_utf8(line);
  line = valid;
  if (cut_back) line = prefix_at_grapheme(line, most);
  return cat(cut_front ? "…" : "", trim(line), cut_back ? "…" : "");
}

}  // namespace indx
