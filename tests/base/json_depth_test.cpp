#include "base/json_depth.hpp"

#include <catch2/catch.hpp>

#include <string>

namespace indx {
namespace {

std::string open_and_closed(std::size_t levels) {
  return std::string(levels, '[') + std::string(levels, ']');
}

}  // namespace

TEST_CASE("JSON inside a value is taken up to a hundred levels deep", "[json]") {
  CHECK(parse_shallow_json(open_and_closed(100)).is_array());
  CHECK(parse_shallow_json(open_and_closed(101)).is_discarded());
  CHECK(parse_shallow_json(open_and_closed(500'000)).is_discarded());
  CHECK(parse_shallow_json("{").is_discarded());
  CHECK(parse_shallow_json(R"(["[[[[\"[[[["])").is_array());
  CHECK_FALSE(is_nested_deeper(R"({"a":"\\","b":[{}]})", 3));
  CHECK(is_nested_deeper(R"({"a":"\\","b":[{}]})", 2));
}

}  // namespace indx
