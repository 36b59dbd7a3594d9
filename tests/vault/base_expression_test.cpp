#include "tests/vault/base_fixture.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>

namespace indx {
namespace {

/// The value of an expression for B.md as JSON text; `E:` and the message for errors.
std::string value_of(const std::string& source, const std::string& path = "B.md") {
  const BaseFiles files(base_rows_of(kBaseVault));
  std::map<std::string, Result<BaseNode>> formulas;
  formulas.emplace("twice", parse_base_expression("price * 2"));
  formulas.emplace("four", parse_base_expression("formula.twice * 2"));
  formulas.emplace("loop", parse_base_expression("formula.pool"));
  formulas.emplace("pool", parse_base_expression("1 + formula.loop"));
  const BaseEnvironment environment{files, base_test_clock(), formulas, files.find("A.md"), 7};
  BaseEvaluator evaluator(environment);
  evaluator.set_row(*files.find(path));
  const auto node = parse_base_expression(source);
  if (!node.has_value()) return "S: " + node.error().message;
  const auto value = evaluator.evaluate(*node);
  if (value.is_error()) return "E: " + value.failure().message;
  return evaluator.to_json(value).dump();
}

struct ExpressionCase {
  const char* source;
  const char* value;
};

TEST_CASE("expressions of bases have the values of the table", "[base][A58]") {
  const auto row = GENERATE(values<ExpressionCase>({
      // arithmetic and order
      {"1 + 2 * 3", "7"},
      {"(1 + 2) * 3", "9"},
      {"10 / 5 / 2", "1"},
      {"10 - 5 - 2", "3"},
      {"7 % 4", "3"},
      {"-7 % 4", "-3"},
      {"-2 - -3", "1"},
      {"1 / 0", "E: Division by zero."},
      {"0.1 + 0.2", "0.30000000000000004"},
      {"1e3 + .5", "1000.5"},
      {"\"a\" + 1", "\"a1\""},
      {"1 + \"a\"", "\"1a\""},
      {"\"text\" * 2", "E: `*` does not work on a string and a number."},
      {"\"3\" * 2", "6"},
      {"[1] + [2, 3]", "[1,2,3]"},
      {"[1] + 2", "[1,2]"},
      {"true + 1", "2"},
      {"null + 1", "1"},
      // comparison
      {"1 < 2", "true"},
      {"2 <= 2", "true"},
      {"\"a\" < \"b\"", "true"},
      {"null < 1", "false"},
      {"null > 1", "false"},
      {"null == null", "true"},
      {"missing == null", "true"},
      {"missing != 4", "true"},
      {"1 == \"1\"", "true"},
      {"\"a\" == \"A\"", "false"},
      {"[1, 2] == [1, 2]", "true"},
      {"true == 1", "false"},
      // logic
      {"!missing", "true"},
      {"!0", "true"},
      {"!\"\"", "true"},
      {"![]", "true"},
      {"!\"x\"", "false"},
      {"1 && 2", "2"},
      {"missing || \"none\"", "\"none\""},
      {"false && nothing.foo", "false"},
      {"if(price > 1, \"much\", \"little\")", "\"much\""},
      {"if(missing, 1)", "null"},
      {"if(true, 1, 1 / 0)", "1"},
      // names
      {"price", "2"},
      {"PRICE", "2"},
      {"note.price", "2"},
      {"note[\"price\"]", "2"},
      {"formula.twice", "4"},
      {"formula[\"four\"]", "8"},
      {"formula.nope", "E: There is no formula `nope`."},
      {"formula.loop", "E: The formula `loop` uses itself."},
      {"this.price", "10"},
      {"this.file.name", "\"A.md\""},
      {"file.name", "\"B.md\""},
      {"file.basename", "\"B\""},
      {"file.path", "\"B.md\""},
      {"file.folder", "\"/\""},
      {"file.ext", "\"md\""},
      {"file.size > 0", "true"},
      {"file.tags", "[\"book/sub\"]"},
      {"file.mtime", "\"2025-03-12T13:00:00\""},
      {"file.ctime.day", "11"},
      {"file.file.name", "\"B.md\""},
      {"file.properties.price", "2"},
      {"file.links.length", "2"},
      {"file.embeds.length", "0"},
      {"file.links[0].linksTo(file(\"A.md\"))", "true"},
      {"file(\"A\").backlinks.map(value.name)", "[\"B.md\"]"},
      {"file.nope", "E: A file has no field `nope`."},
      {"цена == null", "true"},
      // text
      {"\"Hello\".contains(\"ELL\")", "true"},
      {"\"Hello\".containsAll(\"h\", \"O\")", "true"},
      {"\"Hello\".containsAny(\"z\", \"O\")", "true"},
      {"\"Hello\".startsWith(\"He\")", "true"},
      {"\"Hello\".endsWith(\"LO\")", "false"},
      {"\"\".isEmpty()", "true"},
      {"\"HeLLo\".lower()", "\"hello\""},
      {"\"a-b-c\".replace(\"-\", \"+\")", "\"a+b+c\""},
      {"\"a-b-c\".replace(/-/, \"+\")", "\"a+b-c\""},
      {"\"a-b-c\".replace(/-(.)/g, \"<$1>\")", "\"a<b><c>\""},
      {"\"ab\".repeat(3)", "\"ababab\""},
      {"\"aß日\".reverse()", "\"日ßa\""},
      {"\"hello\".slice(1, 3)", "\"el\""},
      {"\"hello\".slice(-3)", "\"llo\""},
      {"\"a,b,c\".split(\",\")", "[\"a\",\"b\",\"c\"]"},
      {"\"a,b,c\".split(\",\", 2)", "[\"a\",\"b\"]"},
      {"\"hello big world\".title()", "\"Hello Big World\""},
      {"\"  x \".trim()", "\"x\""},
      {"\"日本\".length", "2"},
      {"\"hello\"[1]", "\"e\""},
      {"escapeHTML(\"<a & 'b'>\")", "\"&lt;a &amp; &#39;b&#39;&gt;\""},
      {"\"9\".toFixed(2)", "E: A string has no function `toFixed`."},
      {"\"x\\u00e9\\n\\\"\"", "\"xé\\n\\\"\""},
      // numbers
      {"(-2).abs()", "2"},
      {"2.1.ceil()", "3"},
      {"2.9.floor()", "2"},
      {"(2.5).round()", "3"},
      {"(-2.5).round()", "-2"},
      {"2.345.round(1)", "2.3"},
      {"price.toFixed(2)", "\"2.00\""},
      {"max(1, 3, 2)", "3"},
      {"min(4, 2)", "2"},
      {"number(\"12.5\")", "12.5"},
      {"number(\"x\")", "E: `x` is no number."},
      {"number(true)", "1"},
      {"number(date(\"1970-01-02\"))", "82800000"},
      {"random() < 1", "true"},
      // lists
      {"[\"a\", \"b\"].contains(\"B\")", "true"},
      {"file.tags.contains(\"book\")", "true"},
      {"file.tags.contains(\"boo\")", "false"},
      {"tags.contains(\"#BOOK\")", "true"},
      {"[1, 2, 3].containsAll(1, 3)", "true"},
      {"[1, 2, 3].containsAny(5, 3)", "true"},
      {"[1, 2, 3].filter(value > 1)", "[2,3]"},
      {"[1, 2, 3].map(value * index)", "[0,2,6]"},
      {"[1, 2, 3].reduce(acc + value, 0)", "6"},
      {"[[1], [2, [3]]].flat()", "[1,2,[3]]"},
      {"[1, 2].join(\"-\")", "\"1-2\""},
      {"[3, 1, 2].sort()", "[1,2,3]"},
      {"[\"a10\", \"A2\", 5, null].sort()", "[5,\"A2\",\"a10\",null]"},
      {"[1, 2].reverse()", "[2,1]"},
      {"[1, 2, 3, 4].slice(1, -1)", "[2,3]"},
      {"[1, 1, 2].unique()", "[1,2]"},
      {"[1, 2, 6].mean()", "3"},
      {"[5, 1, 2].median()", "2"},
      {"[2, 4].stddev()", "1"},
      {"[].isEmpty()", "true"},
      {"[1, 2].length", "2"},
      {"[1, 2][5]", "null"},
      {"list(1)", "[1]"},
      {"list([1])", "[1]"},
      {"[1, 2].nope()", "S: No type has a function `nope`."},
      // dates
      {"date(\"2025-01-31\") + \"1M\"", "\"2025-02-28\""},
      {"date(\"2025-01-31\") + \"1M\" + \"1d\"", "\"2025-03-01\""},
      {"date(\"2025-01-01 10:00:00\") + \"90m\"", "\"2025-01-01T11:30:00\""},
      {"date(\"2024-02-29\") - \"1 year\"", "\"2023-02-28\""},
      {"date(\"20250131\")", "\"2025-01-31\""},
      {"date(\"202501311530\")", "\"2025-01-31T15:30:00\""},
      {"date(\"2025-01-31T10:00:00Z\")", "\"2025-01-31T11:00:00\""},
      {"date(\"2025-02-30\")", "E: `2025-02-30` is no date."},
      {"(date(\"2025-01-02\") - date(\"2025-01-01\")).days", "1"},
      {"(date(\"2025-01-02\") - date(\"2025-01-01\")) == 86400000", "true"},
      {"date(\"2025-01-31\") == date(\"2025-01-31 13:00:00\")", "true"},
      {"date(\"2025-01-31\") > \"2025-01-01\"", "true"},
      {"date(\"2025-01-31 13:05:09\").time()", "\"13:05:09\""},
      {"date(\"2025-01-31 13:05:09\").date()", "\"2025-01-31\""},
      {"date(\"2025-01-31\").format(\"DD.MM.YYYY\")", "\"31.01.2025\""},
      {"date(\"2025-01-31\").month", "1"},
      {"now()", "\"2025-03-14T11:30:00\""},
      {"today()", "\"2025-03-14\""},
      {"(today() - \"3d\").relative()", "\"3 days ago\""},
      {"(now() + \"2h\").relative()", "\"in 2 hours\""},
      {"date(\"2025-01-01\").isEmpty()", "false"},
      {"duration(\"1d 2h\").hours", "26"},
      {"duration(\"1h\") * 2 == duration(\"2h\")", "true"},
      {"date(\"2025-01-01\") + \"soon\"", "E: `soon` is no duration."},
      {"date(\"9999-12-31\") + \"1d\"", "E: The date is out of range."},
      // links, files, objects, regular expressions
      {"author == link(\"A\")", "true"},
      {"author == file(\"A.md\")", "true"},
      {"author == \"[[A]]\"", "true"},
      {"author.asFile().price", "E: A file has no field `price`."},
      {"author.asFile().properties.price", "10"},
      {"link(\"nowhere\") == link(\"nowhere\")", "true"},
      {"link(\"nowhere\") == link(\"elsewhere\")", "false"},
      {"link(\"A\", \"show\")",
       "{\"type\":\"link\",\"target\":\"A\",\"display\":\"show\",\"path\":\"A.md\"}"},
      {"file.hasLink(\"A\")", "true"},
      {"file.hasLink(file(\"sub/C\"))", "false"},
      {"file.hasTag(\"BOOK\")", "true"},
      {"file.hasTag(\"#book/sub\")", "true"},
      {"file.hasTag(\"book/su\")", "false"},
      {"file.hasProperty(\"Price\")", "true"},
      {"file.inFolder(\"sub\")", "false"},
      {"file.asLink() == file", "true"},
      {"{\"a\": 1}.keys()", "[\"a\"]"},
      {"{a: 1, b: 2}.values()", "[1,2]"},
      {"{}.isEmpty()", "true"},
      {"{a: {b: 3}}.a.b", "3"},
      {"/^h.+o$/i.matches(\"HELLO\")", "true"},
      {"/\\d+/.matches(\"none\")", "false"},
      {"html(\"<b>\")", "{\"type\":\"html\",\"text\":\"<b>\"}"},
      {"price.isType(\"number\")", "true"},
      {"missing.isEmpty()", "true"},
      {"missing.contains(\"x\")", "E: A null has no function `contains`."},
      {"price.toString() + \"!\"", "\"2!\""},
      {"missing.deeper", "null"},
      {"if(1)", "E: `if` takes 2 to 3 arguments, not 1."},
      // what cannot be read
      {"nope()", "S: There is no function `nope`."},
      {"1 +", "S: The expression ends too early."},
      {"(1", "S: Expected `)` here."},
      {"\"open", "S: The text has no closing quote."},
      {"1 = 2", "S: Unexpected `=`."},
      {"price + 1  ", "3"},
  }));
  INFO(row.source);

  CHECK(value_of(row.source) == row.value);
}

TEST_CASE("an expression that cannot be read says where", "[base][A58]") {
  const auto node = parse_base_expression("1 +\n  nope(2)");

  REQUIRE_FALSE(node.has_value());
  CHECK(node.error().details["offset"] == 6);
  CHECK(node.error().details["line"] == 2);
  CHECK(node.error().details["column"] == 3);
}

TEST_CASE("expressions are bounded in depth, work and size", "[base][A58]") {
  std::string parentheses(20'000, '('), fields = "a", chain = "1";
  for (int i = 0; i < 5000; ++i) {
    fields += ".b";
    chain += "+1";
  }

  for (const auto& source : {parentheses, fields, chain, std::string(70'000, ' '),
                             std::string(20'000, '!'), std::string(20'000, '[')})
    CHECK_FALSE(parse_base_expression(source).has_value());
  for (const auto* source :
       {"\"x\".repeat(1e9)", "\"abcdefgh\".repeat(99999).replace(/./g, \"yyyyyyyyyyyyyyyyyyyy\")",
        "\"a\".repeat(5000).split(\"\").map(\"a\".repeat(5000).split(\"\").map(value))",
        "\"a\".repeat(99).split(\"\").reduce(acc + acc, \"aaaaaaaa\")",
        "\"a\".repeat(99).split(\"\").reduce(acc + acc, [1])"})
    CHECK(value_of(source).substr(0, 2) == "E:");
}

TEST_CASE("look-around in a regular expression is a clear error", "[base][A58]") {
  const auto node = parse_base_expression("/(?=x)/.matches(\"x\")");

  REQUIRE_FALSE(node.has_value());
  CHECK(node.error().message.find("not supported") != std::string::npos);
}

// ---- properties

class RandomExpression {
 public:
  explicit RandomExpression(unsigned seed) : random_(seed) {}

  BaseNode node(int depth) {
    using Kind = BaseNode::Kind;
    BaseNode made;
    switch (depth <= 0 ? pick(5) : pick(12)) {
      case 0:
        made.kind = Kind::Number;
        made.number = pick(2) == 0 ? pick(1000) : std::ldexp(pick(1'000'000) + 1, pick(200) - 100);
        break;
      case 1:
        made.kind = Kind::Text;
        made.text = one_of({"", "a", "x\"y\\", "line\nline", "é日", "2025-01-31", "1d", "12"});
        break;
      case 2:
        made.kind = Kind::Name;
        made.text = one_of({"price", "file", "note", "this", "kinds", "missing", "value", "tags"});
        break;
      case 3:
        made.kind = Kind::Boolean;
        made.number = pick(2);
        break;
      case 4:
        made.kind = Kind::Null;
        break;
      case 5:
        made.kind = Kind::Unary;
        made.text = one_of({"!", "-"});
        made.children = {node(depth - 1)};
        break;
      case 6:
      case 7:
        made.kind = Kind::Binary;
        made.text = one_of({"+", "-", "*", "/", "%", "==", "!=", "<", ">", "<=", ">=", "&&", "||"});
        made.children = {node(depth - 1), node(depth - 1)};
        break;
      case 8:
        made.kind = Kind::Member;
        made.text = one_of({"length", "name", "tags", "price", "year", "links", "folder"});
        made.children = {node(depth - 1)};
        break;
      case 9:
        made.kind = pick(2) == 0 ? Kind::Index : Kind::List;
        made.children = {node(depth - 1), node(depth - 1)};
        break;
      case 10:
        made.kind = Kind::Object;
        made.keys = {"a", "b c"};
        made.children = {node(depth - 1), node(depth - 1)};
        break;
      default:
        made.kind = Kind::Call;
        made.is_method = pick(3) > 0;
        made.text =
            made.is_method
                ? one_of({"contains", "map", "filter", "reduce", "slice", "round", "format",
                          "toString", "hasTag", "asFile", "sort", "join", "split", "replace",
                          "isEmpty", "unique", "flat", "repeat", "hasLink"})
                : one_of({"if", "date", "duration", "link", "list", "max", "number", "now"});
        for (int i = pick(3) + (made.is_method ? 1 : 0); i > 0; --i)
          made.children.push_back(node(depth - 1));
    }
    return made;
  }
  int pick(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
  std::string one_of(const std::vector<const char*>& choices) {
    return choices[static_cast<std::size_t>(pick(static_cast<int>(choices.size())))];
  }

 private:
  std::mt19937 random_;
};

TEST_CASE("a printed expression reads as the same expression", "[base][A58]") {
  RandomExpression random(20250314);
  for (int i = 0; i < 3000; ++i) {
    const auto node = random.node(5);
    const auto source = print_base_expression(node);
    INFO(source);

    const auto read = parse_base_expression(source);

    REQUIRE(read.has_value());
    REQUIRE(*read == node);
  }
}

TEST_CASE("random expressions and broken ones never crash", "[base][A58]") {
  RandomExpression random(99);
  for (int i = 0; i < 800; ++i) {
    auto source = print_base_expression(random.node(5));
    CHECK_FALSE(value_of(source, "sub/C.md").empty());
    for (int j = 0; j < 3 && !source.empty(); ++j) {
      const auto at = static_cast<std::size_t>(random.pick(static_cast<int>(source.size())));
      if (random.pick(2) == 0)
        source.erase(at, 1);
      else
        source.insert(at, random.one_of({"(", ")", "/", "\"", ".", "[", "-", "\\", "\xff", "#"}));
    }
    CHECK_FALSE(value_of(source).empty());
  }
}

}  // namespace
}  // namespace indx
