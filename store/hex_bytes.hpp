#pragma once
#include <string>
#include <string_view>

namespace indx {

/// The bytes of lower-case hex digits, and back: keys are half as long in a column.
inline std::string hex_bytes(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  return bytes;
}
inline std::string hex_of(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    (hex += kDigits[byte >> 4U]) += kDigits[byte & 15U];
  }
  return hex;
}

}  // namespace indx
