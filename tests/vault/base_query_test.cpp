#include "tests/vault/base_fixture.hpp"

#include <catch2/catch.hpp>

#include <random>

namespace indx {
namespace {

using PathList = std::vector<std::string>;

TEST_CASE("a base without filters has every file", "[base][A57]") {
  CHECK(base_paths(ask_base("views:\n  - type: table\n    name: T\n")) ==
        PathList{"A.md", "B.md", "img.png", "notes2/D.md", "q.base", "sub/C.md"});
  CHECK(base_paths(ask_base("")).size() == 6);
}

TEST_CASE("the filters of base and view are joined by and", "[base][A57]") {
  const auto* yaml = R"(
filters:
  and:
    - 'file.ext == "md"'
    - not: ['file.name == "B.md"']
views:
  - name: Dear
    filters:
      or: ['price > 5', 'file.inFolder("notes2")']
)";

  CHECK(base_paths(ask_base(yaml)) == PathList{"A.md", "notes2/D.md", "sub/C.md"});
}

TEST_CASE("a filter needs exactly one of and, or, not", "[base][A57]") {
  const auto answer = ask_base("filters:\n  and: ['price > 1']\n  or: ['price > 2']\n");

  REQUIRE_FALSE(answer.has_value());
  CHECK(answer.error().reason == Reason::ValidationFailed);
  CHECK(answer.error().message.find("`and`, `or`") != std::string::npos);
}

TEST_CASE("a filter that cannot be read says where in the file", "[base][A57]") {
  const auto answer =
      ask_base("views:\n  - name: T\n    filters:\n      and:\n        - '1 + nope()'\n");

  REQUIRE_FALSE(answer.has_value());
  CHECK(answer.error().reason == Reason::ValidationFailed);
  CHECK(answer.error().details["where"] == "views[0].filters.and[0]");
  CHECK(answer.error().details["line"] == 5);
  CHECK(answer.error().details["column"] == 16);
  CHECK(answer.error().details["offset"] == 4);
}

TEST_CASE("errors stay in their cells and failing filters are warned of", "[base][A57]") {
  const auto* yaml = R"(
formulas:
  f: 'if(price, price.toFixed(2) + " EUR")'
  bad: 'nope('
properties:
  formula.f: {displayName: Price}
views:
  - name: T
    filters: 'price.abs() > 0 || !price'
    order: [file.name, formula.f, formula.bad]
)";

  const auto answer = ask_base(yaml);

  REQUIRE(answer.has_value());
  CHECK(base_paths(answer) == PathList{"A.md", "B.md"});
  CHECK(answer->rows[0].cells["formula.f"] == "10.00 EUR");
  CHECK(answer->rows[0].cells["formula.bad"]["error"].is_string());
  CHECK(answer->columns[1].name == "Price");
  CHECK(answer->warnings.size() == 3);
}

TEST_CASE("rows sort by type and value, empties last in both directions", "[base][A57]") {
  const auto sorted = [](const char* direction) {
    return base_paths(
        ask_base(std::string("filters: 'file.ext == \"md\"'\nviews:\n  - sort:\n      "
                             "- property: price\n        direction: ") +
                 direction + "\n"));
  };

  CHECK(sorted("ASC") == PathList{"B.md", "A.md", "sub/C.md", "notes2/D.md"});
  CHECK(sorted("DESC") == PathList{"sub/C.md", "A.md", "B.md", "notes2/D.md"});
}

TEST_CASE("limit comes after sort, summaries before limit", "[base][A57]") {
  const auto* yaml = R"(
filters: 'file.ext == "md"'
summaries:
  spread: 'values.filter(value.isType("number")).map(value * 10)'
views:
  - sort: [{property: price, direction: ASC}]
    limit: 1
    summaries: {price: Sum, file.name: Unique, age: Filled, note.price: spread, due: Latest}
)";

  const auto answer = ask_base(yaml);

  REQUIRE(answer.has_value());
  CHECK(base_paths(answer) == PathList{"B.md"});
  CHECK(answer->total == 1);
  REQUIRE(answer->summaries.size() == 5);
  CHECK(answer->summaries[0].value == 12);
  CHECK(answer->summaries[1].value == 4);
  CHECK(answer->summaries[2].value == 1);
  CHECK(answer->summaries[3].value == Json::array({100, 20}));
  CHECK(answer->summaries[4].value == "2025-01-31");
}

TEST_CASE("a list puts its file into a group for each item, none into None", "[base][A57]") {
  const auto answer = ask_base(
      "filters: 'file.ext == \"md\"'\nviews:\n  - groupBy: {property: kinds, direction: ASC}\n");

  REQUIRE(answer.has_value());
  CHECK(base_paths(answer) == PathList{"B.md", "B.md", "sub/C.md", "A.md", "notes2/D.md"});
  REQUIRE(answer->groups.size() == 3);
  CHECK(answer->groups[0].label == "x");
  CHECK(answer->groups[1].count == 2);
  CHECK(answer->groups[2].label == "None");
  CHECK(*answer->rows[1].group == "y");
}

TEST_CASE("the source is asked for no more than expressions look at", "[base][A57]") {
  using Others = BaseRowNeeds::Others;
  BaseRowNeeds needs;
  const auto ask = [&](const std::string& yaml) {
    REQUIRE(ask_base(yaml, {}, kBaseVault, &needs).has_value());
  };

  ask("filters: 'file.hasTag(\"#Book\") && file.inFolder(\"/sub/\")'");
  CHECK(needs.prefilter != nullptr);
  CHECK(needs.others == Others::Linked);
  CHECK(needs.tags);
  CHECK_FALSE(needs.properties);
  CHECK_FALSE(needs.links);
  CHECK_FALSE(needs.size_and_time);

  ask("filters: 'note.a > 1 || formula.f'\nformulas: {f: 'file.hasProperty(\"b\")', g: c}\n"
      "views: [{order: [d, file.mtime]}]\n");
  CHECK(needs.property_names == std::vector<std::string>{"a", "b", "d"});
  CHECK(needs.size_and_time);

  ask("filters: 'note.values().length > 1'");
  CHECK(needs.properties);
  CHECK_FALSE(needs.property_names);

  ask("filters: 'price > 1 && file.hasLink(\"A\")'");
  CHECK(needs.links);
  CHECK(needs.others == Others::Paths);

  ask("filters: 'price > 1 && file.hasLink(this.file)'");
  CHECK(needs.others == Others::Paths);

  for (const auto* filter : {"author.asFile().size > 1", "price > this.price", "file[price] == 1",
                             "file.backlinks.length > 1", "file(\"A\").size > 1"}) {
    ask(std::string("filters: {and: ['price > 1', '") + filter + "']}");
    CHECK(needs.others == Others::All);
    CHECK(needs.prefilter == nullptr);
  }
}

TEST_CASE("views are found by name, this is the embedding note", "[base][A56]") {
  const auto* yaml =
      "views:\n  - name: One\n  - name: Two\n    filters: 'file.hasLink(this.file)'\n";

  BaseQuestion question;
  question.view = "Two";
  question.this_path = "A.md";
  CHECK(base_paths(ask_base(yaml, question)) == PathList{"B.md"});
  question.view = "Three";
  REQUIRE_FALSE(ask_base(yaml, question).has_value());
  CHECK(ask_base(yaml, question).error().reason == Reason::NotFound);
}

TEST_CASE("pages joined give every row once, also while files come and go", "[base][A56]") {
  const auto* yaml =
      "views:\n  - sort: [{property: n, direction: DESC}]\n    groupBy: {property: g}\n";
  std::mt19937 random(5);
  std::map<std::string, std::string> files;
  const auto add_file = [&](const std::string& name) {
    files[name] = "---\nn: " + std::to_string(random() % 7) + "\ng: [" +
                  std::to_string(random() % 3) + ", " + std::to_string(random() % 3) + "]\n---\n";
  };
  for (int i = 0; i < 60; ++i) add_file("n" + std::to_string(i) + ".md");
  BaseQuestion question;
  question.limit = 1000;
  const auto whole = ask_base(yaml, question, files);
  REQUIRE(whole.has_value());

  std::vector<std::pair<std::string, Json>> seen;
  question.limit = 7;
  for (int page = 0;; ++page) {
    auto answer = ask_base(yaml, question, files);
    REQUIRE(answer.has_value());
    for (const auto& row : answer->rows) seen.emplace_back(row.path, *row.group);
    if (page < 3) add_file("new" + std::to_string(page) + ".md");
    if (answer->next.is_null()) break;
    question.after = answer->next;
  }

  for (const auto& row : whole->rows)
    CHECK(std::count(seen.begin(), seen.end(), std::pair(row.path, *row.group)) == 1);
  auto sorted = seen;
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first, a.second.dump()) < std::pair(b.first, b.second.dump());
  });
  CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
}

TEST_CASE("bases of a wrong shape are refused with a place", "[base][A57]") {
  for (const auto* yaml :
       {"- a\n", "filters: [a]\n", "filters: {xor: [a]}\n", "views: 3\n", "views: [3]\n",
        "views:\n  - sort: [{direction: ASC}]\n", "views:\n  - limit: many\n",
        "views:\n  - sort: [{property: a, direction: UP}]\n", "a: [\n", "a: 1\na: 2\n"}) {
    INFO(yaml);
    const auto answer = ask_base(yaml);
    REQUIRE_FALSE(answer.has_value());
    CHECK(answer.error().reason == Reason::ValidationFailed);
    CHECK(answer.error().details.contains("line"));
  }
}

}  // namespace
}  // namespace indx
