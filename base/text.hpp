#pragma once
#include <array>
#include <charconv>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace indx {

/// Appends what a stream would print. Texts and integers, which nearly all are, go without one: to
/// make a stream costs more than all the rest.
template <typename Part>
void append_printed(std::string& out, const Part& part) {
  if constexpr (std::is_same_v<Part, std::string> || std::is_same_v<Part, std::string_view> ||
                std::is_convertible_v<const Part&, const char*>) {
    out += part;
  } else if constexpr (std::is_same_v<Part, char>) {
    out += part;
  } else if constexpr (std::is_integral_v<Part> && sizeof(Part) > 1) {
    std::array<char, 24> digits{};
    out.append(digits.data(), std::to_chars(digits.begin(), digits.end(), part).ptr);
  } else {
    std::ostringstream stream;
    stream << part;
    out += stream.str();
  }
}

/// Everything printed into one string: the stand-in for std::format, which GCC 12 lacks.
template <typename... Parts>
std::string cat(const Parts&... parts) {
  std::string out;
  (append_printed(out, parts), ...);
  return out;
}

std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
/// Without leading and trailing ASCII white space.
std::string_view trim(std::string_view text);
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

/// Whether `path` matches the glob: `*` and `?` stay inside a segment, `**` crosses them, `[a-z]`
/// and `{a,b}` work. A pattern that ends in `/` or names a folder prefix with `/**` matches
/// everything below. Time is bounded by pattern length x path length.
bool glob_match(std::string_view pattern, std::string_view path);
/// A glob for the paths that begin so. Characters that mean something in a glob stand for any one,
/// so a caller looks at the matches again.
std::string glob_of_prefix(std::string_view prefix);

/// Percent-decoding, once; a lone `%` is literal.
std::string percent_decode(std::string_view text);
/// Encodes everything but unreserved characters (RFC 3986); `/` too unless `keep_slash`.
std::string percent_encode(std::string_view text, bool keep_slash = false);

}  // namespace indx
