#include "ops/operations.hpp"
#include "tests/support/fake_context.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

struct BaseWorld : FakeWorld {
  BaseWorld() {
    files = {
        {"a.md", "---\nprice: 10\n---\n"},
        {"b|c.md", "---\nprice: \"x,\\\"y\"\n---\n"},
        {"q.base", "filters: 'file.ext == \"md\"'\nviews:\n  - name: T\n    order: [price]\n"}};
  }
};

TEST_CASE("base_query gives rows with cells, page by page", "[ops][A56]") {
  BaseWorld world;

  const auto first = run_operation(world, base_query(), {{"path", "q.base"}, {"limit", 1}});
  REQUIRE(first.has_value());
  CHECK((*first)["total"] == 2);
  CHECK((*first)["rows"][0] ==
        Json{{"path", "a.md"}, {"cells", {{"price", 10}}}, {"group", nullptr}});
  const auto second = run_operation(
      world, base_query(), {{"path", "q.base"}, {"limit", 1}, {"cursor", (*first)["next_cursor"]}});
  REQUIRE(second.has_value());
  CHECK((*second)["rows"][0]["path"] == "b|c.md");
  CHECK((*second)["next_cursor"].is_null());
}

TEST_CASE("base_query renders csv, Markdown and lines of JSON", "[ops][A56]") {
  BaseWorld world;
  const auto text = [&](const char* format) {
    return (*run_operation(world, base_query(), {{"path", "q.base"}, {"format", format}}))["text"]
        .get<std::string>();
  };

  CHECK(text("csv") == "path,price\r\na.md,10\r\nb|c.md,\"x,\"\"y\"\r\n");
  CHECK(text("md") == "| path | price |\n| --- | --- |\n| a.md | 10 |\n| b\\|c.md | x,\"y |\n");
  CHECK(text("ndjson").substr(0, 40) == "{\"path\":\"a.md\",\"cells\":{\"price\":10}}\n{\"p");
}

TEST_CASE("a base is given inline, hidden files stay hidden", "[ops][A56][A81]") {
  BaseWorld world;
  world.principal.path_globs = {"a*"};

  const auto answer = run_operation(world, base_query_inline(), {{"definition", "views: []"}});

  REQUIRE(answer.has_value());
  REQUIRE((*answer)["rows"].size() == 1);
  CHECK((*answer)["rows"][0]["cells"]["file.name"] == "a.md");
  CHECK(run_operation(world, base_query(), {{"path", "q.base"}}).error().reason ==
        Reason::Forbidden);
}

TEST_CASE("later pages of csv and Markdown go on without a heading", "[ops][A56]") {
  BaseWorld world;
  const std::pair<const char*, std::string> second_pages[] = {{"csv", "b|c.md,\"x,\"\"y\"\r\n"},
                                                              {"md", "| b\\|c.md | x,\"y |\n"}};
  for (const auto& [format, expected] : second_pages) {
    Json input = {{"path", "q.base"}, {"format", format}, {"limit", 1}};
    input["cursor"] = (*run_operation(world, base_query(), input))["next_cursor"];
    CHECK((*run_operation(world, base_query(), input))["text"] == expected);
  }
}

TEST_CASE("base_query runs the block of a note, with `this` that note", "[ops][A56]") {
  BaseWorld world;
  const std::string own = "```base\nfilters: 'file.name == this.file.name'\n```\n";
  world.files["one.md"] = "# One\n\n" + own;
  world.files["two.md"] = own + "\n```base\nfilters: 'price == 10'\n```\n";
  world.files["bad.md"] = "text\n\n```base\nviews: []\nfilters: 'price =='\n```\n";
  const auto ask = [&](const Json& input) { return run_operation(world, base_query(), input); };
  const auto path_of_row = [&](const Json& input) {
    const auto answer = ask(input);
    REQUIRE(answer.has_value());
    REQUIRE((*answer)["rows"].size() == 1);
    return (*answer)["rows"][0]["path"].get<std::string>();
  };

  CHECK(path_of_row({{"path", "one.md"}}) == "one.md");
  CHECK(path_of_row({{"path", "one.md"}, {"this_path", "a.md"}}) == "a.md");
  CHECK(path_of_row({{"path", "two.md"}, {"block", 1}}) == "two.md");
  CHECK(path_of_row({{"path", "two.md"}, {"block", 2}}) == "a.md");
  const auto several = ask({{"path", "two.md"}});
  CHECK(several.error().reason == Reason::Ambiguous);
  CHECK(several.error().details["lines"] == Json{1, 5});
  CHECK(ask({{"path", "two.md"}, {"block", 3}}).error().reason == Reason::TargetNotFound);
  CHECK(ask({{"path", "a.md"}}).error().reason == Reason::TargetNotFound);
  CHECK(ask({{"path", "none.md"}}).error().reason == Reason::NotFound);
  CHECK(ask({{"path", "one.md"}, {"block", 0}}).error().reason == Reason::ValidationFailed);
  const auto bad = ask({{"path", "bad.md"}});
  CHECK(bad.error().reason == Reason::ValidationFailed);
  CHECK(bad.error().details["line"] == 5);
}

TEST_CASE("base_query refuses other files, wrong filters and foreign cursors", "[ops][A56]") {
  BaseWorld world;
  const auto reason = [&](const Json& input) {
    return run_operation(world, base_query(), input).error().reason;
  };
  world.files["bad.base"] = "filters: 'nope()'\n";

  world.files["x.png"] = "";
  CHECK(reason({{"path", "x.png"}}) == Reason::ValidationFailed);
  CHECK(reason({{"path", "q.base"}, {"block", 1}}) == Reason::ValidationFailed);
  CHECK(reason({{"path", "bad.base"}}) == Reason::ValidationFailed);
  CHECK(reason({{"path", "q.base"}, {"cursor", "zzz"}}) == Reason::ValidationFailed);
  CHECK(reason({{"path", "q.base"}, {"view", "none"}}) == Reason::NotFound);
}

}  // namespace
}  // namespace indx
