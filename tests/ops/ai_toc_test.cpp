#include "tests/ops/toc_world.hpp"

#include <catch2/catch.hpp>

namespace indx {

TEST_CASE("the headings of a note need no model and cost nothing", "[ops][C24][C27][C28][C29]") {
  TocNotes world(TocFiles{{"Docs/Spec.md", kTocSpec}});
  add_toc_model(world);

  const Json answer = *toc_of(world, "Docs/Spec.md");

  CHECK(world.requests.empty());
  CHECK(answer["usage"]["cost_usd"] == 0);
  CHECK(answer["source"] == "extractive");
  CHECK(answer["toc_markdown"] ==
        "- [[Spec#Spec|Spec]]\n  - [[Spec#Goals|Goals]]\n    - [[Spec#Speed|Speed]]\n"
        "  - [[Spec#Limits|Limits]]\n");
  const auto& root = answer["toc_tree"][0];
  CHECK(root["anchor"] == "spec");
  CHECK_FALSE(root.contains("description"));
  CHECK(toc_titles(root["children"]) == TocTitles{"Goals", "Limits"});
  CHECK(root["children"][0]["children"][0]["anchor"] == "speed");
  CHECK_FALSE(root["children"][0]["children"][0].contains("children"));  // depth 3
  CHECK(answer["scope_resolved"]["paths"] == Json::array({"Docs/Spec.md"}));
  CHECK(answer["citations"].empty());
  CHECK_FALSE(answer.contains("written"));
  CHECK(*toc_of(world, "Docs/Spec.md") == answer);
  CHECK(world.writes.empty());
}

TEST_CASE("depth counts from the highest heading, within its bounds", "[ops][C24]") {
  TocNotes world(TocFiles{{"Spec.md", kTocSpec}, {"Low.md", "### A\n\n#### B\n\n##### C\n"}});

  CHECK((*toc_of(world, "Spec.md", {{"depth", 1}}))["toc_tree"].size() == 1);
  CHECK((*toc_of(world, "Spec.md", {{"depth", 4}}))["toc_markdown"].get<std::string>().find(
            "Numbers") != std::string::npos);
  const Json low = *toc_of(world, "Low.md", {{"depth", 2}});
  CHECK(toc_titles(low["toc_tree"]) == TocTitles{"A"});
  CHECK(toc_titles(low["toc_tree"][0]["children"]) == TocTitles{"B"});
  CHECK_FALSE(toc_of(world, "Spec.md", {{"depth", 0}}));
  CHECK_FALSE(toc_of(world, "Spec.md", {{"depth", 7}}));
  CHECK_FALSE(toc_of(world, "Spec.md", {{"style", "wide"}}));
  CHECK((*toc_of(world, "Spec.md", {{"depth", 1}, {"include_links", false}}))["toc_markdown"] ==
        "- Spec\n");
}

TEST_CASE("fields of the other mode, and missing ones, are refused", "[ops][C24][C25]") {
  TocNotes world(TocFiles{{"Inbox.md", "Call Ana.\n"}});
  const auto reason = [&](const Json& input) {
    const auto result = run_operation(world, ai_toc(), input);
    return result ? std::string("none") : std::string(result.error().name());
  };

  CHECK(reason({{"mode", "note"}}) == "validation_failed");
  CHECK(reason({{"mode", "moc"}}) == "validation_failed");
  CHECK(reason({{"mode", "note"}, {"path", "Inbox.md"}, {"write", {{"path", "x.md"}}}}) ==
        "validation_failed");
  CHECK(reason(moc_call({{"path", "Inbox.md"}})) == "validation_failed");
  CHECK(reason(moc_call({{"group_by", "frontmatter"}})) == "validation_failed");
  CHECK(reason(moc_call({{"max_groups", 0}})) == "validation_failed");
  CHECK(reason({{"mode", "note"}, {"path", "Missing.md"}}) == "not_found");
}

TEST_CASE("hostile headings make one item each, whose link reaches its heading", "[ops][C27]") {
  std::string note;
  const std::vector<std::string> headings = {"Plan [draft] | v2",
                                             "a]] b [[c",
                                             "See [[Other|the other]] note",
                                             "**Bold** `code`",
                                             "#tag and %% hidden",
                                             "<script>x</script>",
                                             "$5 or $6",
                                             "C:\\dir\\",
                                             "Twice",
                                             "Twice",
                                             "ends ^block-id",
                                             "- [ ] task",
                                             "1. one",
                                             "café ☕ 日本",
                                             "x::y",
                                             "&lt; &amp;",
                                             "![[embed]]",
                                             "[t](http://x.y)",
                                             "` open",
                                             "== mark ~~ gone"};
  for (const auto& heading : headings) note += cat("## ", heading, "\n\nText.\n\n");
  TocNotes world(TocFiles{{"Odd [1] name.md", note}, {"Other.md", "x\n"}});

  const Json answer = *toc_of(world, "Odd [1] name.md");

  const auto markdown = answer["toc_markdown"].get<std::string>();
  INFO(markdown);
  REQUIRE(answer["toc_tree"].size() == headings.size());
  const auto parsed = parse_note(markdown);
  CHECK(parsed.tags.empty());
  CHECK(parsed.headings.empty());
  CHECK(parsed.tasks.empty());
  CHECK(parsed.blocks.empty());
  const auto own = parse_note(note);
  const auto lines = split(markdown, '\n');
  REQUIRE(lines.size() == headings.size() + 1);  // and the end
  std::size_t links = 0;
  for (std::size_t i = 0; i < headings.size(); ++i) {
    CHECK(answer["toc_tree"][i]["anchor"] == own.headings[i].slug);
    const auto in_line = parse_note(lines[i]).links;
    REQUIRE(in_line.size() <= 1);
    if (in_line.empty()) continue;  // no wikilink can reach it
    ++links;
    const auto reached = world.reached(in_line[0]);
    INFO(lines[i]);
    CHECK(reached.path == "Odd [1] name.md");
    CHECK(reached.line == own.headings[i].line);
  }
  CHECK(links >= headings.size() - 4);
  CHECK(lines[9].find("[[") == std::string::npos);  // the second "Twice"
}

TEST_CASE("headings of one text are told apart by those above them", "[ops][C27]") {
  TocNotes world(TocFiles{{"a.md", "# One\n\n## Example\n\nx\n\n# Two\n\n## Example\n\ny\n"}});

  const Json answer = *toc_of(world, "a.md");

  CHECK(answer["toc_markdown"].get<std::string>().find("[[a#Two#Example|Example]]") !=
        std::string::npos);
  CHECK(answer["toc_tree"][1]["children"][0]["anchor"] == "example-1");
}

TEST_CASE("ten thousand headings are all there, more are cut and said", "[ops][C27]") {
  std::string note = "# Top\n";
  for (int i = 0; i < 10500; ++i) note += cat("## Part ", i % 4000, "\n\nText of it.\n");
  TocNotes world(TocFiles{{"big.md", note}});

  const Json answer = *toc_of(world, "big.md", {{"include_descriptions", true}});

  CHECK(answer["toc_tree"][0]["children"].size() == 9999);
  CHECK(toc_codes(answer).contains("truncated"));
}

TEST_CASE("descriptions are the model's words for the text below, in one call", "[ops][C24]") {
  TocNotes world(TocFiles{{"Spec.md", kTocSpec}});
  const Json quoted = *toc_of(world, "Spec.md", {{"include_descriptions", true}, {"depth", 2}});
  CHECK(quoted["source"] == "extractive");
  CHECK(quoted["toc_tree"][0]["children"][0]["description"] == "It opens 12 files at once.");
  add_toc_model(world);

  const Json answer = *toc_of(
      world, "Spec.md", {{"include_descriptions", true}, {"depth", 2}, {"style", "expanded"}});

  CHECK(world.requests.size() == 1);
  CHECK(world.requests[0].schema_name == "toc");
  CHECK_FALSE(world.requests[0].json_schema["properties"].contains("groups"));
  CHECK(answer["source"] == "model");
  CHECK(answer["usage"]["cost_usd"] == 0.002);
  CHECK(answer["toc_tree"][0]["children"][0]["description"] ==
        "In short: It opens 12 files at once.");
  CHECK(answer["toc_markdown"].get<std::string>().find(
            "  - [[Spec#Goals|Goals]]\n\n    In short: It opens 12 files at once.\n") !=
        std::string::npos);
  const auto& citation = answer["citations"][1];
  CHECK(citation["snippet"] == "It opens 12 files at once.");
  CHECK(citation["anchor"] == "goals");
  CHECK(citation["etag"] == world.etag("Spec.md"));
  CHECK((*toc_of(world, "Spec.md", {{"include_descriptions", true}, {"cite", false}}))["citations"]
            .empty());
}

TEST_CASE("what a model invents is not taken; the note's own sentence stands there", "[ops][C24]") {
  TocNotes world(TocFiles{{"Spec.md", kTocSpec}});
  add_toc_model(world);
  world.generate = [](const GenerateRequest& request, const std::string&) {
    auto reply = worded_toc(request);
    for (auto& item : reply.structured["items"]) item["description"] = "Opens 99 files.";
    return Result<GenerateReply>(reply);
  };

  const Json answer = *toc_of(world, "Spec.md", {{"include_descriptions", true}, {"depth", 2}});

  CHECK(toc_codes(answer).contains("ungrounded_dropped"));
  CHECK(answer["toc_tree"][0]["children"][0]["description"] == "It opens 12 files at once.");
}

TEST_CASE("a note that changes during the call is not cited", "[ops][D40]") {
  TocNotes world(TocFiles{{"Spec.md", kTocSpec}});
  add_toc_model(world);
  world.generate = [&world](const GenerateRequest& request, const std::string&) {
    world.files["Spec.md"] += "\nMore.\n";
    return Result<GenerateReply>(worded_toc(request));
  };

  const Json answer = *toc_of(world, "Spec.md", {{"include_descriptions", true}});

  CHECK(answer["citations"].empty());
  CHECK(toc_codes(answer).contains("citation_drift"));
  CHECK_FALSE(answer["toc_tree"][0].contains("description"));
}

TEST_CASE("a text without headings is told by what its parts are about", "[ops][C27]") {
  const std::string garden =
      "The garden wakes in spring. Roses need pruning before the buds swell, and the soil around "
      "the roses wants compost. A gardener with sharp shears prunes roses on a dry morning.\n\n"
      "Compost feeds the soil of the garden. Leaves, peelings and old roses rot into compost "
      "over the winter, and worms carry the compost into the soil of the beds.\n\n"
      "Water the garden in the evening. Soil under roses dries out in summer, and a layer of "
      "compost keeps the water in the soil of the garden beds around the roses.\n\n";
  const std::string database =
      "The database keeps rows in pages. A query reads pages through the cache, and an index on "
      "the table lets a query find rows without reading every page of the table.\n\n"
      "A transaction writes its log before the pages. After a crash the database replays the "
      "log, so that each committed transaction of a query is in the table pages again.\n\n"
      "The planner picks an index for a query. Statistics of the table say how many rows a "
      "query will read, and the database reads pages by index or scans the whole table.\n";
  TocNotes world(
      {{"plain.md", garden + database}, {"titled.md", "# Both\n\n" + garden + database}});

  const Json untitled = *toc_of(world, "plain.md");
  INFO(untitled.dump(1));
  REQUIRE(untitled["toc_tree"].size() == 2);
  for (const auto& node : untitled["toc_tree"]) {
    CHECK_FALSE(node["title"].get<std::string>().empty());
    CHECK_FALSE(node.contains("anchor"));
  }
  CHECK(untitled["citations"].size() == 2);
  CHECK(untitled["citations"][1]["snippet"].get<std::string>().starts_with("The database keeps"));
  CHECK(untitled["toc_markdown"].get<std::string>().find("[[") == std::string::npos);

  const Json titled = *toc_of(world, "titled.md");
  CHECK(titled["toc_tree"].size() == 1);
  CHECK(titled["toc_tree"][0]["children"].size() == 2);
  CHECK((*toc_of(world, "titled.md", {{"depth", 1}}))["toc_tree"][0].contains("children") == false);
}

}  // namespace indx
