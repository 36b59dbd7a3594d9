#include "ai/json_shape.hpp"

#include <catch2/catch.hpp>

namespace indx {

TEST_CASE("a value that fits the schema has no errors", "[ai]") {
  const Json schema =
      Json::parse(R"({"type": "object", "additionalProperties": false, "required": ["a"],
    "properties": {"a": {"type": "array", "items": {"type": ["string", "null"], "maxLength": 2}, "maxItems": 3},
                   "n": {"type": "integer", "minimum": 0, "maximum": 5}, "e": {"enum": ["x", 1]}}})");
  CHECK(shape_errors(Json::parse(R"({"a": ["éé", null], "n": 5.0, "e": 1})"), schema).empty());
}

TEST_CASE("each break of the schema is told with its path", "[ai]") {
  const Json schema =
      Json::parse(R"({"type": "object", "additionalProperties": false, "required": ["a", "b"],
    "properties": {"a": {"type": "array", "items": {"type": "string"}, "minItems": 2},
                   "n": {"type": "number", "minimum": 0, "maximum": 1}, "e": {"enum": ["x"]}, "i": {"type": "integer"}}})");
  const auto errors =
      shape_errors(Json::parse(R"({"a": [1], "n": 2, "e": "y", "z": 0, "i": 1.5})"), schema);
  CHECK(errors == std::vector<std::string>{"/: lacks b", "/a: is below minItems 2",
                                           "/a/0: must be string", "/n: is above maximum 1",
                                           "/e: is not one of the allowed values",
                                           "/: has the unknown member z", "/i: must be integer"});
  CHECK(shape_errors(Json(1), schema) == std::vector<std::string>{"/: must be object"});
}

TEST_CASE("JSON from outside is refused when broken or nested too deep", "[ai]") {
  CHECK(parse_untrusted_json("{\"a\": [1]}").has_value());
  CHECK_FALSE(parse_untrusted_json("{\"a\": [1}").has_value());
  CHECK_FALSE(parse_untrusted_json("\"\xFF\"").has_value());
  CHECK_FALSE(parse_untrusted_json(std::string(100000, '[')).has_value());
  CHECK_FALSE(
      parse_untrusted_json(std::string(100000, '[') + std::string(100000, ']')).has_value());
}

TEST_CASE("a whole number is an integer however large it is", "[ai]") {
  const Json schema{{"type", "integer"}};
  CHECK(shape_errors(Json(1e300), schema).empty());
  CHECK(shape_errors(Json(-1e300), schema).empty());
  CHECK_FALSE(shape_errors(Json(0.5), schema).empty());
}

}  // namespace indx
