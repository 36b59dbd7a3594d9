#include "base/number_text.hpp"

#include <catch2/catch.hpp>

using namespace indx;

TEST_CASE("a whole number that would be rounded is found in JSON, and nothing else", "[base]") {
  CHECK(oversized_integer(R"({"a":[1,18446744073709551616]})") == "18446744073709551616");
  CHECK(oversized_integer("99999999999999999999") == "99999999999999999999");
  CHECK(oversized_integer("-9223372036854775809") == "-9223372036854775809");
  CHECK(oversized_integer(R"({"a":1,"b":123456789012345678901234567890})") ==
        "123456789012345678901234567890");

  for (const auto* kept :
       {"18446744073709551615", "100000000000000000000", "-123456789012345680000",
        "-9223372036854775808", "1234567890123456789.5", "12345678901234567890e2",
        R"({"123456789012345678901":"123456789012345678901"})",
        R"(["\\", "\"123456789012345678901"])", "", "\"", "\"\\"})
    CHECK_FALSE(oversized_integer(kept).has_value());
}
