#include "http/json_body.hpp"

#include <catch2/catch.hpp>

using namespace indx;

TEST_CASE("a JSON body may be nested 100 levels deep and no deeper", "[http]") {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };

  CHECK(parse_json_body(nested(100)).has_value());
  CHECK_FALSE(parse_json_body(nested(101)).has_value());
  CHECK_FALSE(parse_json_body(std::string(1 << 20, '[')).has_value());
}

TEST_CASE("a JSON body with a key twice is refused by name", "[http]") {
  const auto twice = parse_json_body(R"({"a":1,"b":{"a":2},"a":3})");

  REQUIRE_FALSE(twice.has_value());
  CHECK(twice.error().reason == Reason::ValidationFailed);
  CHECK(twice.error().message.find("`a`") != std::string::npos);
  CHECK(parse_json_body(R"([{"a":1},{"a":2}])").has_value());
}

TEST_CASE("a JSON body with a whole number that would be rounded is refused", "[http]") {
  const auto rounded = parse_json_body(R"({"value":123456789012345678901234567890})");

  REQUIRE_FALSE(rounded.has_value());
  CHECK(rounded.error().reason == Reason::ValidationFailed);
  CHECK(rounded.error().message.find("123456789012345678901234567890") != std::string::npos);
  CHECK(parse_json_body(R"({"value":18446744073709551615,"text":"99999999999999999999"})"));
}

TEST_CASE("what is not JSON is validation_failed", "[http][A84]") {
  for (const auto* text : {"{", "nul", "{\"a\":1e999}", "\"\xff\"", "{} {}"}) {
    const auto parsed = parse_json_body(text);
    REQUIRE_FALSE(parsed.has_value());
    CHECK(parsed.error().reason == Reason::ValidationFailed);
  }
}
