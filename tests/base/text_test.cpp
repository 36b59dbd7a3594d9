#include "base/text.hpp"

#include "base/unicode.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>
#include <sstream>

namespace indx {

TEST_CASE("parts are joined as a stream would print them", "[base]") {
  enum Plain { Three = 3 };
  const char cut[8] = "ab";
  const std::string_view with_nul("x\0y", 3);
  const auto check = [](const auto&... parts) {
    std::ostringstream stream;
    ((stream << parts), ...);
    CHECK(cat(parts...) == stream.str());
  };
  check(1, ' ', -5L, ' ', std::numeric_limits<std::uint64_t>::max());
  check(std::numeric_limits<std::int64_t>::min(), std::int16_t{-7}, std::size_t{0});
  check(true, 1.5, 1e300, Three, std::uint8_t{'c'});
  check(cut, with_nul, std::string("text"), "literal", "");
  check();
}

TEST_CASE("a glob star stays inside a segment and two stars cross segments", "[base]") {
  CHECK(glob_match("*.md", "a.md"));
  CHECK_FALSE(glob_match("*.md", "a/b.md"));
  CHECK(glob_match("**/*.md", "a.md"));
  CHECK(glob_match("**/*.md", "a/b/c.md"));
  CHECK(glob_match("Public/**", "Public/a/b.md"));
  CHECK_FALSE(glob_match("Public/**", "Publicity/a.md"));
  CHECK_FALSE(glob_match("Public/**", "Public"));
  CHECK(glob_match("Daily/", "Daily/2026/x.md"));
  CHECK(glob_match("a/{b,c}/?.md", "a/c/x.md"));
  CHECK(glob_match("[a-c]*", "beta"));
  CHECK_FALSE(glob_match("[!a-c]*", "beta"));
  CHECK(glob_match("[x", "[x"));
}

TEST_CASE("a hostile glob takes linear time in the product of the lengths", "[base]") {
  std::string pattern, path(2000, 'a');
  for (int i = 0; i < 200; ++i) pattern += "*a";
  CHECK_FALSE(glob_match(pattern + "b", path));
}

TEST_CASE("many braces in a glob cost bounded work", "[base]") {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "{a,b}";
  CHECK_FALSE(glob_match(pattern, "c"));
}

TEST_CASE("percent decoding happens once and leaves a lone percent sign", "[base]") {
  CHECK(percent_decode("a%20b%2525%zz%") == "a b%25%zz%");
  CHECK(percent_encode("a b/ü", true) == "a%20b/%C3%BC");
}

TEST_CASE("case folding keeps sharp s, joins both sigmas and composes", "[base]") {
  CHECK(fold_case("STRASSE") != fold_case("Straße"));
  CHECK(fold_case("ΣΊΣΥΦΟΣ") == fold_case("Σίσυφος"));
  CHECK(fold_case("e\xCC\x81") == fold_case("É"));
}

TEST_CASE("invalid UTF-8 is found and replaced without touching valid text", "[base]") {
  CHECK(is_valid_utf8("日本"));
  CHECK_FALSE(is_valid_utf8("\xC0\x80"));
  CHECK_FALSE(is_valid_utf8("\xED\xA0\x80"));
  CHECK(replace_invalid_utf8("a\xFF"
                             "b") ==
        "a\xEF\xBF\xBD"
        "b");
}

TEST_CASE("a prefix never cuts a grapheme", "[base]") {
  CHECK(prefix_at_grapheme("ae\xCC\x81z", 3) == "a");
  CHECK(prefix_at_grapheme("abc", 2) == "ab");
}

}  // namespace indx
