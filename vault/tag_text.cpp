#include "vault/tag_text.hpp"

#include "base/unicode.hpp"
#include "vault/line_marks.hpp"
#include "vault/markdown.hpp"

namespace indx {
namespace {

/// The length of the tag character at `at`, 0 if there is none.
std::size_t tag_char_length(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x80) {
    const char c = text[at];
    return is_ascii_letter(c) || is_ascii_number(c) || c == '_' || c == '-' || c == '/' ? 1 : 0;
  }
  const CodePoint point = decode_at(text, at);
  const char32_t c = point.value;
  if (c == 0xFFFD && point.length == 1) return 0;  // no UTF-8
  if ((c >= 0x2000 && c <= 0x206F) || (c >= 0x2E00 && c <= 0x2E7F) || c == 0xFEFF || c < 0xA0 ||
      is_space(c))
    return 0;
  return point.length;
}

}  // namespace

std::size_t tag_end(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size()) {
    const std::size_t length = tag_char_length(text, end);
    if (length == 0) break;
    end += length;
  }
  while (end > begin && text[end - 1] == '/') --end;
  if (end == begin || text[begin] == '/') return begin;
  for (std::size_t i = begin; i < end; ++i)
    if (!is_ascii_number(text[i])) return end;
  return begin;
}

bool white_space_before(std::string_view text, std::size_t at) {
  if (at == 0) return true;
  const char last = text[at - 1];
  if (static_cast<unsigned char>(last) < 0x80)
    return is_blank_char(last) || last == '\n' || last == '\r' || last == '\v' || last == '\f';
  std::size_t begin = at - 1;
  while (begin > 0 && at - begin < 4 && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U)
    --begin;
  const CodePoint point = decode_at(text, begin);
  return begin + point.length == at && is_space(point.value);
}

bool is_valid_tag(std::string_view tag) {
  return !tag.empty() && tag.back() != '/' && tag_end(tag, 0) == tag.size();
}

}  // namespace indx
