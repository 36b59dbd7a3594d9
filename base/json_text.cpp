#include "base/json_text.hpp"

#include "base/unicode.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>

namespace indx {
namespace {

bool needs_escape(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

/// A word with `byte` in each place.
constexpr std::uint64_t spread(unsigned char byte) { return 0x0101010101010101U * byte; }
/// Whether a byte of `word` is below `limit`, at most 128. As in "Bit Twiddling Hacks" (S. E.
/// Anderson), "Determine if a word has a byte less than n".
constexpr bool has_below(std::uint64_t word, unsigned char limit) {
  return ((word - spread(limit)) & ~word & spread(0x80)) != 0;
}

/// Bytes at the front that stand for themselves, which most of a text are: eight at a time.
std::size_t plain_length(std::string_view text) {
  std::size_t i = 0;
  for (std::uint64_t word = 0; i + sizeof word <= text.size(); i += sizeof word) {
    std::memcpy(&word, text.data() + i, sizeof word);
    if (has_below(word, 0x20) || has_below(word ^ spread('"'), 1) ||
        has_below(word ^ spread('\\'), 1))
      break;
  }
  while (i < text.size() && !needs_escape(text[i])) ++i;
  return i;
}

template <typename Number>
void append_number(std::string& out, Number value) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.begin(), digits.end(), value).ptr;
  out.append(digits.begin(), end);
}

void append_escaped(std::string& out, char c) {
  static constexpr std::string_view kDigits = "0123456789abcdef", kPlain = "\"\\\b\f\n\r\t",
                                    kLetters = "\"\\bfnrt";
  out += '\\';
  if (const auto at = kPlain.find(c); at != std::string_view::npos) {
    out += kLetters[at];
    return;
  }
  const auto byte = static_cast<unsigned char>(c);
  ((out += "u00") += kDigits[byte >> 4U]) += kDigits[byte & 15U];
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  if (!is_valid_utf8(text)) return append_json_string(out, replace_invalid_utf8(text));
  out += '"';
  for (;;) {
    const std::size_t plain = plain_length(text);
    out.append(text, 0, plain);
    if (plain == text.size()) break;
    append_escaped(out, text[plain]);
    text.remove_prefix(plain + 1);
  }
  out += '"';
}

void append_json(std::string& out, const Json& value) {
  const char* separator = "";
  switch (value.type()) {
    case Json::value_t::object:
      out += '{';
      for (const auto& [key, item] : value.get_ref<const Json::object_t&>()) {
        append_json_string(out += separator, key);
        append_json(out += ':', item);
        separator = ",";
      }
      out += '}';
      return;
    case Json::value_t::array:
      out += '[';
      for (const Json& item : value) {
        append_json(out += separator, item);
        separator = ",";
      }
      out += ']';
      return;
    case Json::value_t::string:
      return append_json_string(out, value.get_ref<const std::string&>());
    case Json::value_t::number_integer:
      return append_number(out, value.get<std::int64_t>());
    case Json::value_t::number_unsigned:
      return append_number(out, value.get<std::uint64_t>());
    default:
      out += value.dump();
  }
}

std::string json_text(const Json& value) {
  std::string out;
  append_json(out, value);
  return out;
}

}  // namespace indx
