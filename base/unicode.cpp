#include "base/unicode.hpp"

#include "base/letter_case.hpp"

#include <utf8proc.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace indx {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

/// Length of the valid sequence at the front of `text`, 0 if it is invalid. Overlong forms and
/// surrogates are invalid.
std::size_t sequence_length(std::string_view text, char32_t* value) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return *value = first, 1;
  const std::size_t length = first >= 0xF0 && first < 0xF5   ? 4
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xC2 && first < 0xE0 ? 2
                                                             : 0;
  if (length == 0 || text.size() < length) return 0;
  char32_t c = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
    c = (c << 6U) | (byte(i) & 0x3FU);
  }
  const bool overlong = (length == 3 && c < 0x800) || (length == 4 && c < 0x10000);
  if (overlong || (c >= 0xD800 && c < 0xE000) || c > 0x10FFFF) return 0;
  *value = c;
  return length;
}

/// Bytes of ASCII at the front, which most of a text is: eight at a time.
std::size_t ascii_length(std::string_view text) {
  std::size_t i = 0;
  for (std::uint64_t word = 0; i + sizeof word <= text.size(); i += sizeof word) {
    std::memcpy(&word, text.data() + i, sizeof word);
    if ((word & 0x8080808080808080U) != 0) break;
  }
  while (i < text.size() && static_cast<unsigned char>(text[i]) < 0x80) ++i;
  return i;
}

bool is_ascii(std::string_view text) { return ascii_length(text) == text.size(); }

std::string map(std::string_view text, int options) {
  const std::string clean = replace_invalid_utf8(text);
  utf8proc_uint8_t* out = nullptr;
  const auto length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(clean.data()),
                                   static_cast<utf8proc_ssize_t>(clean.size()), &out,
                                   static_cast<utf8proc_option_t>(options));
  if (length < 0) return clean;
  std::string result(reinterpret_cast<char*>(out), static_cast<std::size_t>(length));
  std::free(out);
  return result;
}

utf8proc_category_t category(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

}  // namespace

bool is_valid_utf8(std::string_view bytes) {
  char32_t ignored = 0;
  for (std::size_t i = ascii_length(bytes); i < bytes.size(); i += ascii_length(bytes.substr(i))) {
    const auto length = sequence_length(bytes.substr(i, 4), &ignored);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

std::string replace_invalid_utf8(std::string_view bytes) {
  if (is_valid_utf8(bytes)) return std::string(bytes);
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t i = 0; i < bytes.size();) {
    const auto point = decode_at(bytes, i);
    append_utf8(out, point.value);
    i += point.length;
  }
  return out;
}

std::string to_nfc(std::string_view text) {
  if (is_ascii(text)) return std::string(text);
  return map(text, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
}

std::string to_nfkc(std::string_view text) {
  if (is_ascii(text)) return std::string(text);
  return map(text, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
}

std::string to_lower(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const auto point = decode_at(text, i);
    append_utf8(
        out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(point.value))));
    i += point.length;
  }
  return out;
}

// Simple folding keeps `ß` apart from `ss` (rule 7.3) and maps final sigma: lower(upper(c)) does
// both, but for dotless i and the sharp s, whose upper-case forms belong to other letters.
std::string fold_case(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  const std::string composed = to_nfc(text);
  for (std::size_t i = 0; i < composed.size();) {
    const auto point = decode_at(composed, i);
    i += point.length;
    auto c = static_cast<utf8proc_int32_t>(point.value);
    if (c < 128) {
      out += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
      continue;
    }
    if (c == 0x3C2)
      c = 0x3C3;  // final sigma
    else if (c == 0x1E9E)
      c = 0xDF;  // capital sharp s
    else
      c = utf8proc_tolower(c);
    append_utf8(out, static_cast<char32_t>(c));
  }
  return out;
}

CodePoint decode_at(std::string_view text, std::size_t at) {
  if (at >= text.size()) return {0, 0};
  char32_t value = 0;
  const auto length = sequence_length(text.substr(at, 4), &value);
  return length == 0 ? CodePoint{kReplacement, 1} : CodePoint{value, length};
}

void append_utf8(std::string& out, char32_t code_point) {
  utf8proc_uint8_t buffer[4];
  const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code_point), buffer);
  out.append(reinterpret_cast<char*>(buffer), static_cast<std::size_t>(length));
}

bool is_letter(char32_t c) {
  if (c < 128) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  const auto kind = category(c);
  return kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO;
}
bool is_digit(char32_t c) {
  return c < 128 ? c >= '0' && c <= '9' : category(c) == UTF8PROC_CATEGORY_ND;
}
bool is_mark(char32_t c) {
  if (c < 128) return false;
  const auto kind = category(c);
  return kind >= UTF8PROC_CATEGORY_MN && kind <= UTF8PROC_CATEGORY_ME;
}
bool is_space(char32_t c) {
  if (c < 128) return c == ' ' || (c >= '\t' && c <= '\r');
  return c == 0x85 || category(c) == UTF8PROC_CATEGORY_ZS || c == 0x2028 || c == 0x2029;
}
bool is_upper(char32_t c) {
  return c < 128 ? c >= 'A' && c <= 'Z'
                 : category(c) == UTF8PROC_CATEGORY_LU || category(c) == UTF8PROC_CATEGORY_LT;
}
bool is_emoji_or_symbol(char32_t c) {
  if (c < 128) return false;
  return category(c) == UTF8PROC_CATEGORY_SO || category(c) == UTF8PROC_CATEGORY_SK ||
         c == 0xFE0F || c == 0x200D;
}
bool is_unspaced_script(char32_t c) {
  return (c >= 0x0E00 && c <= 0x0EFF) || (c >= 0x1000 && c <= 0x109F) ||
         (c >= 0x1780 && c <= 0x17FF) || (c >= 0x1100 && c <= 0x11FF) ||
         (c >= 0x3005 && c <= 0x3007) || (c >= 0x3040 && c <= 0x30FF) ||
         (c >= 0x3100 && c <= 0x312F) || (c >= 0x31F0 && c <= 0x31FF) ||
         (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x4E00 && c <= 0x9FFF) ||
         (c >= 0xA960 && c <= 0xA97F) || (c >= 0xAC00 && c <= 0xD7FF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFF66 && c <= 0xFF9D) ||
         (c >= 0x20000 && c <= 0x3FFFF);
}

bool is_word_character(char32_t c) {
  const auto kind = category(c);
  return (kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO) ||
         (kind >= UTF8PROC_CATEGORY_ND && kind <= UTF8PROC_CATEGORY_NO) ||
         kind == UTF8PROC_CATEGORY_CO;
}

char32_t search_letter(char32_t c) {
  if (c >= 0xAC00 && c <= 0xD7A3) return c;
  utf8proc_int32_t parts[16];
  int boundary = 0;
  const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts, 16,
                                             UTF8PROC_DECOMPOSE, &boundary);
  const auto base = count > 0 && count <= 16 ? parts[0] : static_cast<utf8proc_int32_t>(c);
  return base == 0x3C2 ? 0x3C3 : static_cast<char32_t>(utf8proc_tolower(base));
}

std::string_view prefix_at_grapheme(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  utf8proc_int32_t state = 0;
  std::size_t border = 0;
  char32_t previous = 0;
  for (std::size_t i = 0; i <= max_bytes;) {
    const auto point = decode_at(text, i);
    if (i == 0 ||
        utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(previous),
                                         static_cast<utf8proc_int32_t>(point.value), &state))
      border = i;
    previous = point.value;
    i += point.length;
  }
  return text.substr(0, border);
}

std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
  return count;
}

char32_t upper_letter(char32_t c) {
  return static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c)));
}

}  // namespace indx
