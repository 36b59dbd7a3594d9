#include "store/search_query.hpp"

#include "base/random.hpp"
#include "base/text.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

/// The tree in brackets, for comparing.
std::string shape(const QueryNode& node) {
  using Kind = QueryNode::Kind;
  std::vector<std::string> parts;
  for (const auto& child : node.children) parts.push_back(shape(child));
  switch (node.kind) {
    case Kind::Text: {
      auto text = join(node.text.words, "_") + (node.text.is_prefix ? "*" : "");
      return node.text.exact.empty() ? text : cat(text, "<", join(node.text.exact, ","), ">");
    }
    case Kind::Tag:
      return "tag=" + node.value;
    case Kind::Path:
      return "path=" + node.value;
    case Kind::File:
      return "file=" + node.value;
    case Kind::Property:
      return cat("[", node.name, node.has_value ? ":" + node.value : "", "]");
    case Kind::And:
      return cat("(", join(parts, " "), ")");
    case Kind::Or:
      return cat("(", join(parts, "|"), ")");
    case Kind::Not:
      return "-" + join(parts, " ");
    case Kind::Line:
      return cat("line(", join(parts, " "), ")");
    case Kind::Block:
      return cat("block(", join(parts, " "), ")");
    case Kind::Section:
      return cat("section(", join(parts, " "), ")");
    case Kind::Task:
      return cat("task", static_cast<int>(node.tasks), "(", join(parts, " "), ")");
    case Kind::Pattern:
      return "/~/";
  }
  return "?";
}

std::string shape_of(std::string_view q) { return shape(parse_query(q).value()); }

}  // namespace

TEST_CASE("a query is words, phrases, OR, minus and groups", "[store]") {
  CHECK(shape_of("star Wars") == "(star wars)");
  CHECK(shape_of("\"star wars\" x") == "(star_wars x)");
  CHECK(shape_of("a b OR c") == "(((a b)|(c)))");
  CHECK(shape_of("star -work") == "(star -work)");
  CHECK(shape_of("-(a OR b) c") == "(-((a)|(b)) c)");
  CHECK(shape_of("((a) (b c))") == "((a (b c)))");
  CHECK(shape_of("wor*") == "(wor*)");
}

TEST_CASE("operators are read in any case, with quotes", "[store]") {
  CHECK(shape_of("TAG:#x/y Path:\"a b\" file:z") == "(tag=#x/y path=a b file=z)");
  CHECK(shape_of("[status] [\"a b\":Done]") == "([status] [a b:done])");
  CHECK(shape_of("(tag:x OR y)") == "(((tag=x)|(y)))");
}

TEST_CASE("what is unknown or unbalanced is literal text", "[store]") {
  CHECK(shape_of("runs:") == "(runs)");
  CHECK(shape_of("title:x") == "(title_x<title:x>)");
  CHECK(shape_of("(panic) )( \"open") == "(panic open)");
  CHECK(shape_of("AND NOT NEAR near") == "(and not near near)");
  CHECK(shape_of("OR") == "(or)");
  CHECK(shape_of("a OR ") == "(a or)");
  CHECK(shape_of("tag: x") == "(tag x)");
  CHECK(shape_of("[open x") == "(open x)");
  CHECK(shape_of("zz/b:c*(") == "(zz_b_c<zz/b:c>)");
}

TEST_CASE("words keep the punctuation that means something", "[store]") {
  CHECK(shape_of("C++ c# don't, foo-bar 1.0.21. .NET $5") ==
        "(c<c++> c<c#> don_t<don't> foo_bar<foo-bar> 1_0_21<1.0.21> net<.net> 5<$5>)");
  CHECK(shape_of("cats & dogs") == "(cats dogs)");
  CHECK(shape_of("->") == "(<->>)");
}

TEST_CASE("an empty or overlong query is refused", "[store]") {
  for (const auto& q :
       {std::string(), std::string(" \t\n"), std::string(kMaxQueryBytes + 1, 'a')}) {
    const auto parsed = parse_query(q);
    REQUIRE_FALSE(parsed.has_value());
    CHECK(parsed.error().reason == Reason::ValidationFailed);
  }
  std::string many;
  for (std::size_t i = 0; i <= kMaxQueryTerms; ++i) many += cat("w", i, " ");
  CHECK_FALSE(parse_query(many).has_value());
}

TEST_CASE("any bytes give a query or a refusal, never a fault", "[store]") {
  SeededRandom random(7);
  const std::string_view alphabet = "ab \"()[]:-*\\OR tag:#\xC3\xA9\xFF\x00+";
  for (int round = 0; round < 3000; ++round) {
    std::string q;
    for (auto length = random.next() % 40; length > 0; --length)
      q += alphabet[random.next() % alphabet.size()];
    const auto parsed = parse_query(q);
    if (parsed.has_value()) CHECK_FALSE(parsed->children.empty());
  }
  CHECK(parse_query(std::string(4000, '(') + "a" + std::string(4000, ')')).has_value());
}

}  // namespace indx

namespace indx {

TEST_CASE("pieces of notes, patterns and comparisons are read, or are literal text", "[store]") {
  CHECK(shape_of("line:(a b) c") == "(line(a b) c)");
  CHECK(shape_of("Task-Done:x task:\"\"") == "(task2(x) task0())");
  CHECK(shape_of("section:(a OR -b)") == "(section(((a)|(-b))))");
  CHECK(shape_of("/a(b/ x") == "(a_b<a(b> x)");
  CHECK(shape_of("/a[0-9]+ b/ (x y)") == "(/~/ (x y))");
  CHECK(shape_of("/usr/lib") == "(usr_lib<usr/lib>)");
  CHECK(shape_of("block:/x\\/y/") == "(block(/~/))");
  CHECK(shape_of("line:(path:x)") == "(line(path_x<path:x>))");
  CHECK(shape_of("line: x") == "(line x)");
  CHECK(shape_of("[n:<5] [n:>= 7]") == "([n:5] [n:7])");
  CHECK(parse_query("[n:<5]").value().children.at(0).compare == QueryNode::Compare::Less);
  CHECK(parse_query("match-case:Ab").value().children.at(0).text.has_case);
  CHECK(parse_query("content:(a b)").value().children.at(0).children.at(1).text.is_body_only);
}

}  // namespace indx
