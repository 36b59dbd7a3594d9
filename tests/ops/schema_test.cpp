#include "ops/define.hpp"
#include "ops/operations.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

struct Part {
  std::string op;
  std::optional<Json> value;
  static Fields<Part> fields() {
    return {field("op", &Part::op, "What.", one_of({"set", "drop"})),
            field("value", &Part::value, "Any JSON.", nullable)};
  }
};
struct Sample {
  std::string path;
  int count = 5;
  double ratio = 0.5;
  bool flag = false;
  std::vector<std::string> names;
  std::vector<Part> parts;
  std::map<std::string, std::string> labels;
  std::optional<Json> properties;
  std::optional<int> limit;
  std::string mode = "fast";
};
Fields<Sample> sample_fields() {
  return {field("count", &Sample::count, "How many.", between(1, 20), optional),
          field("path", &Sample::path, "Where.", length(1, 10)),
          field("ratio", &Sample::ratio, "Share.", optional, between(0, 1)),
          field("flag", &Sample::flag, "Whether.", optional),
          field("names", &Sample::names, "Who.", optional, length(1, 3)),
          field("parts", &Sample::parts, "Steps.", optional),
          field("labels", &Sample::labels, "By name.", optional),
          field("properties", &Sample::properties, "An object or null.", json_object, nullable),
          field("limit", &Sample::limit, "Most."),
          field("mode", &Sample::mode, "How.", optional, one_of({"fast", "good"}))};
}
const SchemaNode kSample = schema_of(sample_fields());

Json details_of(const Json& value) {
  const auto result = validate(kSample, value);
  REQUIRE_FALSE(result);
  CHECK(result.error().reason == Reason::ValidationFailed);
  return result.error().details;
}

TEST_CASE("a valid input is completed with the defaults of the struct", "[ops]") {
  const auto value = validate(kSample, Json{{"path", "a.md"}});

  REQUIRE(value);
  CHECK(*value ==
        Json{{"path", "a.md"}, {"count", 5}, {"ratio", 0.5}, {"flag", false}, {"mode", "fast"}});
}

TEST_CASE("what is decoded is encoded again", "[ops]") {
  const Json value{{"path", "a.md"},
                   {"count", 3},
                   {"ratio", 0.25},
                   {"flag", true},
                   {"names", {"x", "y"}},
                   {"parts", {{{"op", "set"}, {"value", {1, 2}}}}},
                   {"labels", {{"k", "v"}}},
                   {"properties", nullptr},
                   {"limit", 7},
                   {"mode", "good"}};

  const Sample sample = decode_fields(sample_fields(), value);
  const Json again = encode_fields(sample_fields(), sample);

  CHECK(sample.properties.has_value());
  CHECK(sample.properties->is_null());
  CHECK(sample.parts.at(0).value == Json::array({1, 2}));
  CHECK(nlohmann::json(again) == nlohmann::json(value));  // order of keys aside
}

TEST_CASE("a wrong value is refused with path, expected and actual", "[ops][A84]") {
  CHECK(details_of(Json{{"path", "a"}, {"count", "x"}})["path"] == "count");
  CHECK(details_of(Json{{"path", "a"}, {"count", 21}})["expected"] == "integer from 1 to 20");
  CHECK(details_of(Json{{"path", "a"}, {"count", 21}})["actual"] == "21");
  CHECK(details_of(Json{{"path", "a"}, {"mode", "slow"}})["expected"] == "one of fast, good");
  CHECK(details_of(Json{{"path", "a"}, {"parts", {{{"op", "set"}}, {{"op", "x"}}}}})["path"] ==
        "parts[1].op");
  CHECK(details_of(Json::object())["actual"] == "missing");
  CHECK(details_of(Json{{"path", ""}})["path"] == "path");
  CHECK(details_of(Json{{"path", "a"}, {"names", {"a", "b", "c", "d"}}})["path"] == "names");
  CHECK(details_of(Json::array())["path"] == "");
  CHECK(details_of(Json{{"path", "a"}, {"count", 1.5}})["path"] == "count");
}

TEST_CASE("a refusal is a sentence", "[ops][A84]") {
  const auto said = [](const Json& value) { return validate(kSample, value).error().message; };

  CHECK(said({{"path", "a"}, {"count", "x"}}) ==
        "`count` must be an integer from 1 to 20, not \"x\".");
  CHECK(said({{"path", 1}}).starts_with("`path` must be a string"));
  CHECK(said(Json::array({1})) == "The input must be an object, not an array of 1 items.");
}

TEST_CASE("all mistakes of an input are named at once", "[ops]") {
  const auto result = validate(kSample, Json{{"count", 0}, {"flag", 1}});

  REQUIRE_FALSE(result);
  CHECK(result.error().details["errors"].size() == 3);
}

TEST_CASE("an unknown field is refused with the nearest known one", "[ops]") {
  const auto result = validate(kSample, Json{{"path", "a"}, {"cuont", 2}});

  REQUIRE_FALSE(result);
  CHECK(result.error().details["expected"] == "count");
  CHECK(result.error().message.find("did you mean `count`") != std::string::npos);
}

TEST_CASE("an integer may be written as 2.0", "[ops]") {
  const auto value = validate(kSample, Json{{"path", "a"}, {"count", 2.0}});

  REQUIRE(value);
  CHECK((*value)["count"].is_number_integer());
}

TEST_CASE("a value nested too deep is refused", "[ops]") {
  Json deep = 1;
  for (int i = 0; i < kMaxJsonDepth + 2; ++i) deep = Json::array({deep});

  CHECK_FALSE(
      validate(kSample, Json{{"path", "a"}, {"parts", {{{"op", "set"}, {"value", deep}}}}}));
}

TEST_CASE("text where hosts send text instead of values is repaired", "[ops]") {
  std::vector<std::string> repaired;
  const Json sent{{"path", "12"},
                  {"count", "7"},
                  {"flag", "true"},
                  {"names", "[\"a\"]"},
                  {"limit", nullptr},
                  {"mode", ""},
                  {"parts", {{{"op", "set"}, {"value_json", "[1, 2]"}}}}};

  const Json value = repair_arguments(kSample, sent, &repaired);

  CHECK(value == Json{{"path", "12"},
                      {"count", 7},
                      {"flag", true},
                      {"names", {"a"}},
                      {"parts", {{{"op", "set"}, {"value", {1, 2}}}}}});
  CHECK(repaired == std::vector<std::string>{"count", "flag", "names", "limit", "mode"});
}

TEST_CASE("what a host fills in where it has no value counts as left out, null everywhere",
          "[ops]") {
  std::vector<std::string> repaired;
  const Json sent{{"path", "a"},
                  {"properties", nullptr},  // a value elsewhere: the schema of hosts has no null
                  {"names", Json::array()},
                  {"parts", {{{"op", "set"}, {"value_json", " "}}}}};

  const Json value = repair_arguments(kSample, sent, &repaired);

  CHECK(value == Json{{"path", "a"}, {"parts", {{{"op", "set"}}}}});
  CHECK(repaired == std::vector<std::string>{"properties", "names", "parts[0].value_json"});
  CHECK(repair_arguments(kSample, nullptr, nullptr) == Json::object());
}

TEST_CASE("a bare word for any JSON is that word, broken JSON is refused", "[ops]") {
  const auto part = [](const char* text) {
    return Json{{"path", "a"}, {"parts", {{{"op", "set"}, {"value_json", text}}}}};
  };

  CHECK(repair_arguments(kSample, part("done"), nullptr)["parts"][0]["value"] == "done");
  CHECK_FALSE(validate(kSample, repair_arguments(kSample, part("{broken"), nullptr)));
}

TEST_CASE("text of a query string or command line becomes typed values", "[ops]") {
  const auto parse = [](const char* name, const std::vector<std::string>& values) {
    return parse_text_value(kSample.find(name)->schema, name, values);
  };

  CHECK(*parse("count", {"7"}) == 7);
  CHECK(*parse("flag", {""}) == true);
  CHECK(*parse("names", {"a", "b,c"}) == Json({"a", "b,c"}));
  CHECK(*parse("properties", {"{\"a\": 1}"}) == Json{{"a", 1}});
  CHECK(*parse("properties", {"a=1", "b=x"}) == Json{{"a", 1}, {"b", "x"}});
  CHECK(*parse("parts", {"{\"op\": \"set\"}"}) == Json::array({{{"op", "set"}}}));
  CHECK_FALSE(parse("count", {"x"}));
  CHECK_FALSE(parse("count", {"1", "2"}));
  CHECK_FALSE(parse("flag", {"maybe"}));
}

TEST_CASE("a whole number that would be rounded is refused in JSON and stays a text alone",
          "[ops]") {
  const auto& parts = kSample.find("parts")->schema;
  const auto refused = parse_text_value(
      parts, "parts", {R"([{"op":"set","value":123456789012345678901234567890}])"});

  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("123456789012345678901234567890") != std::string::npos);
  CHECK_FALSE(parse_text_value(kSample.find("count")->schema, "count", {"99999999999999999999"}));
}

TEST_CASE("lists of plain words may be written with commas, lists of free text may not", "[ops]") {
  const auto parse = [](const Operation& operation, const char* name,
                        const std::vector<std::string>& values) {
    return *parse_text_value(operation.input->find(name)->schema, name, values);
  };

  CHECK(parse(attachment_list(), "extensions", {"png, bin", "pdf,"}) ==
        Json({"png", "bin", "pdf"}));
  CHECK(parse(attachment_list(), "extensions", {"[\"png\"]"}) == Json({"png"}));
  CHECK(parse(vault_search(), "tag", {"a/b,c"}) == Json({"a/b", "c"}));
  CHECK(parse(note_read(), "include", {"body,tags"}) == Json({"body", "tags"}));
  CHECK(parse(note_read(), "heading_path", {"One, two"}) == Json({"One, two"}));
}

TEST_CASE("a null for none is left out of what MCP hosts see", "[ops][A26]") {
  struct Page {
    std::optional<std::string> next_cursor;
  };
  const Fields<Page> fields = {field("next_cursor", &Page::next_cursor, "More.", nullable)};

  const Json rest = encode_fields(fields, Page{});

  CHECK(rest == Json{{"next_cursor", nullptr}});
  CHECK(to_portable_value(schema_of(fields), rest) == Json::object());
}

TEST_CASE("secrets are masked", "[ops][A82]") {
  const Fields<Part> fields = {field("op", &Part::op, "Secret.", secret)};

  CHECK(mask_secrets(schema_of(fields), Json{{"op", "indx_x"}})["op"] == "(shown once)");
}

TEST_CASE("secret arguments are taken out of an input and put back", "[ops][jobs-65]") {
  struct Account {
    std::string user, password;
    static Fields<Account> fields() {
      return {field("user", &Account::user, "Who."),
              field("password", &Account::password, "Secret.", secret)};
    }
  };
  struct Login {
    std::vector<Account> accounts;
    std::map<std::string, Account> by_name;
    std::optional<std::string> token;
  };
  const Fields<Login> fields = {field("accounts", &Login::accounts, "Several."),
                                field("by_name", &Login::by_name, "The same by name."),
                                field("token", &Login::token, "Secret.", secret)};
  const SchemaNode node = schema_of(fields);
  const Json input{{"accounts", {{{"user", "a"}, {"password", "pw-a"}}}},
                   {"by_name", {{"x/y~z", {{"user", "b"}, {"password", "pw-b"}}}}},
                   {"token", "tok"}};

  Json shown = input;
  const Json secrets = take_secrets(node, shown);

  CHECK(shown["accounts"][0] == Json{{"user", "a"}, {"password", "***"}});
  CHECK(shown["by_name"]["x/y~z"]["password"] == "***");
  CHECK(shown["token"] == "***");
  CHECK(secrets.size() == 3);
  CHECK(with_secrets(shown, secrets) == input);
  CHECK(with_secrets(input, Json()) == input);
  Json without_any{{"accounts", Json::array()}, {"by_name", Json::object()}};
  CHECK(take_secrets(node, without_any).is_null());
}

TEST_CASE("a wrong secret on a command line is not repeated", "[ops][jobs-65]") {
  struct Key {
    Json value;
    std::vector<std::string> list;
  };
  const Fields<Key> fields = {field("value", &Key::value, "Secret.", secret, json_object),
                              field("list", &Key::list, "Secret.", secret)};
  const SchemaNode node = schema_of(fields);

  const auto refused =
      parse_text_value(node.find("value")->schema, "value", {"{\"pw\": \"hunter2"});

  REQUIRE_FALSE(refused);
  CHECK(refused.error().to_json().dump().find("hunter2") == std::string::npos);
  const auto wrong = validate(node, Json{{"value", Json::object()}, {"list", {"ok", 4711}}});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().to_json().dump().find("4711") == std::string::npos);
  CHECK(wrong.error().details["path"] == "list");
}

}  // namespace
TEST_CASE("text that is JSON too deep to handle stays text, whatever field it is for", "[ops]") {
  struct Deep {
    std::vector<std::string> list;
    JsonObject object;
    Json any;
  };
  const Fields<Deep> fields = {field("list", &Deep::list, "A list.", optional),
                               field("object", &Deep::object, "An object.", optional),
                               field("any", &Deep::any, "Anything.", optional)};
  const SchemaNode node = schema_of(fields);
  const std::string brackets = std::string(500'000, '[') + std::string(500'000, ']');
  std::string braces;
  for (int i = 0; i < 200'000; ++i) braces += "{\"a\":";
  braces += "1" + std::string(200'000, '}');

  for (const auto& text : {brackets, braces})
    for (const auto* name : {"list", "object", "any_json"}) {
      const Json repaired = repair_arguments(node, {{name, text}}, nullptr);
      CHECK_FALSE(validate(node, repaired));
    }
  CHECK_FALSE(parse_text_value(node.find("object")->schema, "object", {braces}));
}

}  // namespace indx
