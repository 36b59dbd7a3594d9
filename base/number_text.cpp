#include "base/number_text.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <system_error>

namespace indx {
namespace {

constexpr std::size_t kFewestDigits = 19;  // of a number that may be too large

template <typename Number>
bool fits(std::string_view digits) {
  Number number = 0;
  return std::from_chars(digits.data(), digits.data() + digits.size(), number).ec == std::errc();
}

std::string significant_digits(std::string_view number) {
  std::string digits;
  for (const char c : number.substr(0, number.find('e')))
    if (c >= '0' && c <= '9') digits += c;
  return digits.substr(0, digits.find_last_not_of('0') + 1);
}

/// Whether a `double` says the same: some writers spell `1e20` with all its zeros.
bool survives_rounding(std::string_view number) {
  double rounded = 0;
  if (std::from_chars(number.data(), number.data() + number.size(), rounded).ec != std::errc())
    return false;
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), rounded, std::chars_format::scientific);
  const std::string_view shortest(text.data(), static_cast<std::size_t>(end.ptr - text.data()));
  return significant_digits(number) == significant_digits(shortest);
}

std::size_t behind_string(std::string_view json, std::size_t at) {
  while (++at < json.size() && json[at] != '"')
    if (json[at] == '\\') ++at;
  return at + 1;
}

}  // namespace

std::optional<std::string_view> oversized_integer(std::string_view json) {
  for (std::size_t at = 0; at < json.size();) {
    if (json[at] == '"') {
      at = behind_string(json, at);
      continue;
    }
    if (json[at] != '-' && (json[at] < '0' || json[at] > '9')) {
      ++at;
      continue;
    }
    const std::size_t end = std::min(json.find_first_not_of("+-.0123456789Ee", at), json.size());
    const std::string_view number = json.substr(at, end - at);
    at = end;
    if (number.size() < kFewestDigits || number.find_first_of("+.Ee") != number.npos) continue;
    const bool is_kept =
        number[0] == '-' ? fits<std::int64_t>(number) : fits<std::uint64_t>(number);
    if (!is_kept && !survives_rounding(number)) return number;
  }
  return std::nullopt;
}

Error number_too_large(std::string_view what, std::string_view number) {
  constexpr std::size_t kMostShown = 40;
  const std::string shown =
      cat(number.substr(0, kMostShown), number.size() > kMostShown ? "..." : "");
  return invalid(cat(what, " holds the number ", shown,
                     ", which has more digits than can be kept; give it as text."),
                 Json{{"expected", "a whole number of 64 bits, or a text"}, {"actual", shown}});
}

}  // namespace indx
