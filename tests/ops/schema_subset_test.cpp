#include "ops/schema_subset.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

namespace indx {
namespace {

/// `path keyword` of each error that the schema is refused for.
std::vector<std::string> refusals(const Json& schema) {
  const auto compiled = RecordSchema::compile(schema);
  std::vector<std::string> all;
  if (compiled) return all;
  CHECK(compiled.error().reason == Reason::AiSchemaInvalid);
  for (const auto& error : compiled.error().details["errors"])
    all.push_back(error["path"].get<std::string>() + " " + error["keyword"].get<std::string>());
  return all;
}
bool fits(const Json& schema, const Json& value) {
  const auto compiled = RecordSchema::compile(schema);
  INFO(schema.dump());
  REQUIRE(compiled);
  return compiled->errors(value).empty();
}
using Refusals = std::vector<std::string>;

Json record(const char* text) { return Json::parse(text); }

}  // namespace

TEST_CASE("what the subset has is checked as 2020-12 says", "[ops][C73][C76]") {
  struct Row {
    const char *schema, *good, *bad;
  };
  const Row table[] = {
      {R"({"type":"object","required":["a"]})", R"({"a":1})", R"({})"},
      {R"({"type":["string","null"]})", R"(null)", R"(1)"},
      {R"({"type":"integer","minimum":1,"exclusiveMaximum":3})", R"(2)", R"(3)"},
      {R"({"enum":["a",1]})", R"(1)", R"("b")"},
      {R"({"const":{"a":[1]}})", R"({"a":[1]})", R"({"a":[2]})"},
      {R"({"const":"a","enum":["a","b"]})", R"("a")", R"("b")"},
      {R"({"enum":["a","b"],"const":"a"})", R"("a")", R"("b")"},
      {R"({"multipleOf":0.5})", R"(1.5)", R"(1.2)"},
      {R"({"minLength":2,"maxLength":3})", R"("äöü")", R"("ä")"},
      {R"({"items":{"type":"number"},"minItems":1})", R"([1])", R"(["a"])"},
      {R"({"prefixItems":[{"type":"string"},{"type":"number"}]})", R"(["a",1,true])", R"([1])"},
      {R"({"prefixItems":[{"type":"string"}],"items":{"type":"number"}})", R"(["a",1])",
       R"(["a","b"])"},
      {R"({"prefixItems":[{"type":"string"}],"items":false})", R"(["a"])", R"(["a",1])"},
      {R"({"contains":{"const":1}})", R"([2,1])", R"([2])"},
      {R"({"uniqueItems":true})", R"([1,2])", R"([1,1])"},
      {R"({"properties":{"a":{"type":"string"}},"additionalProperties":false})", R"({"a":"x"})",
       R"({"b":1})"},
      {R"({"additionalProperties":{"type":"number"}})", R"({"a":1})", R"({"a":"x"})"},
      {R"({"propertyNames":{"pattern":"^[a-z]+$"}})", R"({"ab":1})", R"({"A1":1})"},
      {R"({"minProperties":1,"maxProperties":1})", R"({"a":1})", R"({})"},
      {R"({"dependentRequired":{"card":["name"]}})", R"({"card":1,"name":"x"})", R"({"card":1})"},
      {R"({"dependentSchemas":{"card":{"required":["name"]}}})", R"({"name":1})", R"({"card":1})"},
      {R"({"allOf":[{"minimum":1},{"maximum":2}]})", R"(2)", R"(3)"},
      {R"({"anyOf":[{"type":"string"},{"minimum":5}]})", R"(5)", R"(4)"},
      {R"({"oneOf":[{"minimum":5},{"maximum":6}]})", R"(7)", R"(5)"},
      {R"({"not":{"type":"string"}})", R"(1)", R"("a")"},
      {R"({"if":{"type":"string"},"then":{"minLength":2},"else":{"minimum":1}})", R"("ab")",
       R"("a")"},
      {R"({"then":{"minLength":2}})", R"("a")", nullptr},
      {R"({"properties":{"a":true,"b":false}})", R"({"a":1})", R"({"b":1})"},
      {R"({"pattern":"^\\d+$"})", R"("12")", R"("12a")"},
      {R"({"pattern":"b"})", R"("abc")", R"("xyz")"},
      {R"({"pattern":"b"})", R"(12)", nullptr},
      {R"({"not":{"pattern":"b"}})", R"("xyz")", R"("abc")"},
      {R"({"allOf":[{"maxLength":3}],"pattern":"^a"})", R"("abc")", R"("bcd")"},
      {R"({"title":"T","description":"D","format":"date","default":1,"examples":[1]})", R"("x")",
       nullptr},
      {R"({"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"urn:x"})", R"(1)",
       nullptr}};
  for (const auto& row : table) {
    INFO(row.schema);
    CHECK(fits(record(row.schema), record(row.good)));
    if (row.bad != nullptr) CHECK_FALSE(fits(record(row.schema), record(row.bad)));
  }
}

TEST_CASE("references within the schema are followed, keywords beside them count", "[ops][C73]") {
  const Json schema = record(
      R"({"$defs":{"name":{"type":"string"},"a/b":{"type":"number"}},
          "properties":{"who":{"$ref":"#/$defs/name","minLength":2},"n":{"$ref":"#/$defs/a~1b"},
                        "again":{"$ref":"#/properties/who"}}})");

  CHECK(fits(schema, record(R"({"who":"Ana","n":1,"again":"Bo"})")));
  CHECK_FALSE(fits(schema, record(R"({"who":"A"})")));
  CHECK_FALSE(fits(schema, record(R"({"who":12})")));
  CHECK_FALSE(fits(schema, record(R"({"n":"x"})")));
  CHECK_FALSE(fits(schema, record(R"({"again":"B"})")));
  const auto compiled = RecordSchema::compile(schema).value();
  CHECK(compiled.for_model().dump().find("$ref") == std::string::npos);
}

TEST_CASE("what is not supported is refused by its name and place", "[ops][C73][D62]") {
  CHECK(refusals(record(R"({"patternProperties":{}})")) ==
        Refusals{"/patternProperties patternProperties"});
  CHECK(refusals(record(R"({"properties":{"a":{"unevaluatedProperties":false}}})")) ==
        Refusals{"/properties/a/unevaluatedProperties unevaluatedProperties"});
  for (const std::string keyword :
       {"$anchor", "$dynamicRef", "unevaluatedItems", "minContains", "contentMediaType",
        "definitions", "dependencies", "additionalItems", "$vocabulary", "madeUp"})
    CHECK(refusals(Json{{keyword, 1}}) == Refusals{"/" + keyword + " " + keyword});
  CHECK(refusals(record(R"({"items":[{}]})")) == Refusals{"/items items"});
  CHECK(refusals(record(R"({"$schema":"http://json-schema.org/draft-07/schema#"})")) ==
        Refusals{"/ $schema"});
  CHECK(refusals(record(R"({"properties":{"a":{"$id":"x"}}})")) ==
        Refusals{"/properties/a/$id $id"});
}

TEST_CASE("a keyword with a wrong value is refused", "[ops][C73]") {
  for (const char* text :
       {R"({"type":"text"})", R"({"type":[]})", R"({"minLength":-1})", R"({"minLength":1.5})",
        R"({"minimum":"1"})", R"({"multipleOf":0})", R"({"enum":[]})", R"({"required":"a"})",
        R"({"required":["a","a"]})", R"({"properties":[]})", R"({"properties":{"a":1}})",
        R"({"anyOf":[]})", R"({"uniqueItems":1})", R"({"dependentRequired":{"a":"b"}})",
        R"({"$defs":{"a":{"type":"text"}}})", R"([])"}) {
    INFO(text);
    CHECK_FALSE(refusals(record(text)).empty());
  }
  for (const char* pattern : {"(", "(?=a)b"})
    CHECK(refusals(Json{{"pattern", pattern}}) == Refusals{"/pattern pattern"});
}

TEST_CASE("no reference leaves the schema or goes round in a circle", "[ops][C73]") {
  for (const char* text :
       {R"({"$ref":"https://example.com/schema.json"})", R"({"$ref":"other.json#/a"})",
        R"({"$ref":"file:///etc/passwd"})", R"({"$ref":"#name"})", R"({"$ref":"#/$defs/none"})",
        R"({"$ref":1})", R"({"$ref":"#"})", R"({"properties":{"a":{"$ref":"#"}}})",
        R"({"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"})",
        R"({"$defs":{"n":{"properties":{"next":{"$ref":"#/$defs/n"}}}},"$ref":"#/$defs/n"})"}) {
    INFO(text);
    CHECK_FALSE(refusals(record(text)).empty());
  }
}

TEST_CASE("depth, size, number of subschemas and length of patterns are bounded", "[ops][C73]") {
  Json deep = Json::object();
  for (int i = 0; i < 40; ++i) deep = Json{{"not", deep}};
  CHECK_FALSE(refusals(deep).empty());

  Json wide = Json::object();
  wide["description"] = std::string(70000, 'x');
  CHECK(refusals(wide) == Refusals{"/ "});

  Json doubling = record(R"({"$defs":{"d0":{"type":"string"}}})");
  for (int i = 1; i < 20; ++i) {
    const Json below{{"$ref", "#/$defs/d" + std::to_string(i - 1)}};
    doubling["$defs"]["d" + std::to_string(i)] = Json{{"allOf", {below, below}}};
  }
  CHECK_FALSE(refusals(doubling).empty());

  CHECK_FALSE(refusals(Json{{"pattern", std::string(300, 'a')}}).empty());
}

TEST_CASE("a pattern that explodes elsewhere takes no time here", "[ops][C73]") {
  CHECK_FALSE(fits(record(R"({"pattern":"^(a+)+$"})"), Json(std::string(5000, 'a') + "!")));
  CHECK(fits(record(R"({"pattern":"^(a+)+$"})"), Json(std::string(5000, 'a'))));
}

TEST_CASE("a mistake in a record is told with its place", "[ops][C76]") {
  const auto schema = RecordSchema::compile(
      record(R"({"properties":{"people":{"items":{"properties":{"age":{"type":"number"}}}}}})"));
  const auto errors = schema->errors(record(R"({"people":[{"age":1},{"age":"x"}]})"));

  REQUIRE_FALSE(errors.empty());
  CHECK(std::any_of(errors.begin(), errors.end(),
                    [](const std::string& error) { return error.starts_with("/people/1/age: "); }));
}

}  // namespace indx
