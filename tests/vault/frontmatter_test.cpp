#include "vault/frontmatter.hpp"

#include "base/text.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <random>
#include <sstream>

namespace indx {
namespace {

Json frontmatter_cases() {
  std::ifstream file(std::string(INDX_TEST_DATA) + "/frontmatter_cases.json");
  return Json::parse(file);
}

std::string property_lines(std::mt19937& random) {
  static const std::vector<std::string> kLines = {"title: 'Plan: B'   # why\n",
                                                  "tags: [ a,b ]\n",
                                                  "list:\n  - one # c\n  - two\n",
                                                  "# comment\n",
                                                  "\n",
                                                  "text: |\n  lit\n  more\n",
                                                  "nested:\n  k: v\n  l:\n    - 1\n",
                                                  "empty:\n",
                                                  "num:   3.50\n",
                                                  "\"quoted key\": x\n",
                                                  "folded: >-\n  a\n  b\n",
                                                  "plain: multi\n  line text\n",
                                                  "obj: {a: 1, b: [2]}\n"};
  std::vector<std::string> lines = kLines;
  std::shuffle(lines.begin(), lines.end(), random);
  lines.resize(1 + random() % lines.size());
  return join(lines, "");
}

}  // namespace

TEST_CASE("property blocks are read and edited byte for byte as the case file says",
          "[vault][A28][A29][A39][A40][A41]") {
  for (const Json& one : frontmatter_cases()) {
    const auto id = one["id"].get<std::string>();
    const auto before = one["before"].get<std::string>();
    INFO(id);
    const Frontmatter block = parse_frontmatter(before);
    CHECK(block.error.has_value() == one.value("invalid", false));
    if (one.contains("values")) CHECK(block.values == one["values"]);
    if (one.contains("body"))
      CHECK(before.substr(block.body_begin) == one["body"].get<std::string>());
    if (one.contains("tags"))
      CHECK(property_tags(block.values, false) == one["tags"].get<std::vector<std::string>>());
    if (!one.contains("set") && !one.contains("delete")) continue;
    const auto after =
        one.contains("set")
            ? set_frontmatter(before, one["set"][0].get<std::string>(), one["set"][1])
            : delete_frontmatter(before, one["delete"].get<std::string>());
    if (one.contains("error")) {
      REQUIRE_FALSE(after.has_value());
      CHECK(after.error().name() == one["error"].get<std::string>());
    } else {
      if (!after)
        FAIL_CHECK(after.error().message);
      else
        CHECK(*after == one["after"].get<std::string>());
    }
  }
}

TEST_CASE(
    "an edit of one property leaves every byte of the body and the value of every other property",
    "[vault][A28][A39]") {
  std::mt19937 random(7);
  const std::vector<Json> values = {
      1,    "x",      "a: b", nullptr,      Json::array({"p", "q"}), Json{{"k", "v"}},
      true, "l1\nl2", 2.5,    Json::array()};
  for (int round = 0; round < 400; ++round) {
    std::string before = "---\n" + property_lines(random) + "---\nBody --- \n---\nmore";
    if (round % 3 == 0) before = replace_all(before, "\n", "\r\n");
    const Frontmatter block = parse_frontmatter(before);
    INFO(before);
    REQUIRE_FALSE(block.error);
    std::string key = "fresh";
    if (!block.values.empty() && round % 2 == 0) {
      auto it = block.values.begin();
      std::advance(it, static_cast<long>(random() % block.values.size()));
      key = it.key();
    }
    const Json value = values[random() % values.size()];
    const auto after = set_frontmatter(before, key, value);
    REQUIRE(after.has_value());
    INFO(*after);
    const Frontmatter edited = parse_frontmatter(*after);
    REQUIRE_FALSE(edited.error);
    CHECK(after->substr(edited.body_begin) == before.substr(block.body_begin));
    for (const auto& [name, old] : block.values.items())
      if (name != key) CHECK(edited.values.at(name) == old);
    const auto gone = delete_frontmatter(*after, key);
    REQUIRE(gone.has_value());
    const Frontmatter left = parse_frontmatter(*gone);
    CHECK_FALSE(left.error);
    CHECK((!left.exists || left.values.size() + 1 == edited.values.size()));
  }
}

TEST_CASE("hostile YAML is refused in bounded time", "[vault][A39]") {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 40; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last + ", " + last +
            ", " + last + ", " + last + "]\n";
  }
  CHECK(parse_frontmatter("---\n" + bomb + "---\n").error);
  CHECK(parse_frontmatter("---\na: " + std::string(100'000, '[') + "\n---\n").error);
  CHECK(parse_frontmatter("---\na: &a [*a]\n---\n").error);
  CHECK(parse_frontmatter("---\na: \x01\n---\n").error);
  CHECK(parse_frontmatter("---\na: \xFF\n---\n").error);
  CHECK(parse_frontmatter("---\n" + std::string(2'000'000, 'x') + ": 1\n---\n").error);
  CHECK(parse_frontmatter("---\n? [a]\n: 1\n---\n").error);
  std::string deep;
  for (std::size_t i = 0; i < 500; ++i) deep += std::string(i, ' ') + "k:\n";
  CHECK(parse_frontmatter("---\n" + deep + "---\n").error);
}

TEST_CASE(
    "a block that goes on behind the end of its YAML document is refused, not edited in its middle",
    "[vault][A39]") {
  for (const std::string block : {"a: 1\n% b", "a: |\n  text\n% b\n# c", "a:\r\n  b: c\r\n%d"}) {
    const std::string note = "---\n" + block + "\n---\nbody\n";
    INFO(block);
    CHECK(parse_frontmatter(note).error);
    CHECK_FALSE(set_frontmatter(note, "count", 13));
  }
  CHECK(parse_frontmatter("---\na: \"% b\"\nc: |\n  % d\ne: f%\n---\n").values ==
        Json{{"a", "% b"}, {"c", "% d\n"}, {"e", "f%"}});
}

TEST_CASE("random bytes in a property block never break the reader or the editor", "[vault][A39]") {
  std::mt19937 random(11);
  const std::string alphabet = "abk:-# \n\r\t[]{},&*!|>'\"%@`?~0159.\xC3\xA9\xFF\\";
  for (int round = 0; round < 3000; ++round) {
    std::string content;
    for (std::size_t i = random() % 60; i > 0; --i) content += alphabet[random() % alphabet.size()];
    const std::string before = "---\n" + content + "\n---\nbody\n";
    INFO(content);
    const Frontmatter block = parse_frontmatter(before);
    CHECK(block.content_begin <= block.content_end);
    CHECK(block.body_begin <= before.size());
    const auto after = set_frontmatter(before, "key", "value");
    if (after) CHECK(parse_frontmatter(*after).values.at("key") == "value");
    const auto gone = delete_frontmatter(before, "a");
    if (gone) CHECK(find_property(parse_frontmatter(*gone).values, "a") == nullptr);
  }
}

TEST_CASE("property tags follow the rules and drop what is no tag", "[vault][A39]") {
  std::vector<std::string> invalid;

  CHECK(property_tags(Json{{"tags", "book"}}, false) == std::vector<std::string>{"book"});
  CHECK(property_tags(Json{{"tags", "a, b"}}, false, &invalid).empty());
  CHECK(invalid.size() == 1);
  CHECK(property_tags(Json{{"tags", {"#x", "X"}}}, false) == std::vector<std::string>{"x"});
  CHECK(property_tags(Json{{"Tags", {"a", 2024, nullptr, "a b"}}}, false, &invalid) ==
        std::vector<std::string>{"a"});
  CHECK(property_tags(Json{{"tag", "a"}}, false).empty());
  CHECK(property_tags(Json{{"tag", "a, b c"}}, true) == std::vector<std::string>{"a", "b", "c"});
  CHECK(property_aliases(Json{{"aliases", {"A B", 1}}}, false) == std::vector<std::string>{"A B"});
}

TEST_CASE("a rendered mapping reads back as the same values", "[vault][A28]") {
  const Json values = Json::parse(
      R"({"title":"A: b","n":1.5,"list":["a",["b",{"c":null}],{"d":"e\nf"}],"o":{"x y":true,"k:":"#"},"empty":{},"t":"2026-01-01"})");

  const std::string text = render_frontmatter(values, "\n");

  INFO(text);
  CHECK(parse_frontmatter("---\n" + text + "---\n").values == values);
}

}  // namespace indx
