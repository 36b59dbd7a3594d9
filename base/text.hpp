#pragma once
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// Everything streamed into one string: the stand-in for std::format, which GCC 12 lacks.
template <typename... Parts>
std::string cat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
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
