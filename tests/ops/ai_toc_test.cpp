#include "base/text.hpp"
#include "ops/operations.hpp"
#include "tests/support/fake_backend.hpp"
#include "tests/support/indexed_links.hpp"
#include "tests/support/word_embedder.hpp"

#include <catch2/catch.hpp>

#include <set>

namespace indx {
namespace {

/// Vectors of words, as if a model had made them.
class WordRetrieval : public NoRetrieval {
 public:
  Result<Vectors> vectors() override { return Vectors::Ready; }
  Result<std::vector<std::vector<float>>> embed(std::span<const std::string> texts) override {
    return embedder_.embed(texts, CancelToken());
  }

 private:
  WordEmbedder embedder_;
};

struct TocNotes : FakeWorld {
  explicit TocNotes(std::map<std::string, std::string> notes) {
    files = std::move(notes);
    index();
  }
  void index() {
    indexed = std::make_unique<IndexedLinks>(files);
    links = indexed.get();
  }
  /// What the text between [[ and ]] reaches.
  LinkAnswer reached(const Link& link, const std::string& source = "") const {
    return links->resolve({source, link}).value();
  }
  std::unique_ptr<IndexedLinks> indexed;
};
Result<Json> toc_of(FakeWorld& world, const std::string& path, Json more = Json::object()) {
  Json input{{"mode", "note"}, {"path", path}};
  input.update(more);
  return run_operation(world, ai_toc(), input);
}
Json moc_call(Json more = Json::object()) {
  Json input{{"mode", "moc"}, {"scope", {{"kind", "glob"}, {"path_glob", "**"}}}};
  input.update(more);
  return input;
}
std::vector<std::string> titles_of(const Json& nodes) {
  std::vector<std::string> titles;
  for (const auto& node : nodes) titles.push_back(node["title"]);
  return titles;
}
std::set<std::string> toc_codes(const Json& answer) {
  std::set<std::string> codes;
  for (const auto& warning : answer["warnings"])
    codes.insert(warning.is_string() ? warning.get<std::string>()
                                     : warning["code"].get<std::string>());
  return codes;
}
using Titles = std::vector<std::string>;

const std::string kSpec =
    "# Spec\n\nWhat the reader does.\n\n## Goals\n\nIt opens 12 files at once.\n\n### "
    "Speed\n\nFast.\n\n"
    "#### Numbers\n\nMany.\n\n## Limits\n\nIt writes nothing to disk.\n";

TocNotes garden_and_kitchen() {
  return TocNotes({{"Garden/Roses.md",
                    "---\ntags: [plants, outside]\nstatus: open\n---\n"
                    "Prune roses in early spring with sharp shears.\n"},
                   {"Garden/Compost.md",
                    "---\ntags: [outside]\nstatus: done\n---\n"
                    "Compost feeds the roses and the soil.\n"},
                   {"Kitchen/Bread.md",
                    "---\ntags: [Baking]\nstatus: open\n---\n"
                    "Sourdough bread rests for one night.\n"},
                   {"Inbox.md", "Call Ana about the shears tomorrow.\n"}});
}
/// A model that titles each group and says each text again.
GenerateReply worded(const GenerateRequest& request) {
  GenerateReply reply;
  Json groups = Json::array(), items = Json::array();
  for (const auto& line : split(request.messages[0].content, '\n')) {
    const auto row = Json::parse(line, nullptr, false);
    if (row.is_discarded() || !row.is_object()) continue;
    if (row.contains("group"))
      groups.push_back(
          {{"id", row["group"]}, {"title", "About " + row["name"].get<std::string>()}});
    else if (row.contains("text"))
      items.push_back(
          {{"id", row["item"]}, {"description", "In short: " + row["text"].get<std::string>()}});
  }
  reply.structured = Json::object();
  for (const auto& [name, schema] : request.json_schema["properties"].items())
    reply.structured[name] = name == "groups" ? groups : items;
  reply.usage = {50, 5, 0.002, "reported"};
  return reply;
}
void add_model(FakeWorld& world) {
  world.can_generate = true;
  world.generate = [](const GenerateRequest& request, const std::string&) {
    return Result<GenerateReply>(worded(request));
  };
}

}  // namespace

TEST_CASE("the headings of a note need no model and cost nothing", "[ops][C24][C27][C28][C29]") {
  TocNotes world({{"Docs/Spec.md", kSpec}});
  add_model(world);

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
  CHECK(titles_of(root["children"]) == Titles{"Goals", "Limits"});
  CHECK(root["children"][0]["children"][0]["anchor"] == "speed");
  CHECK_FALSE(root["children"][0]["children"][0].contains("children"));  // depth 3
  CHECK(answer["scope_resolved"]["paths"] == Json::array({"Docs/Spec.md"}));
  CHECK(answer["citations"].empty());
  CHECK_FALSE(answer.contains("written"));
  CHECK(*toc_of(world, "Docs/Spec.md") == answer);
  CHECK(world.writes.empty());
}

TEST_CASE("depth counts from the highest heading, within its bounds", "[ops][C24]") {
  TocNotes world({{"Spec.md", kSpec}, {"Low.md", "### A\n\n#### B\n\n##### C\n"}});

  CHECK((*toc_of(world, "Spec.md", {{"depth", 1}}))["toc_tree"].size() == 1);
  CHECK((*toc_of(world, "Spec.md", {{"depth", 4}}))["toc_markdown"].get<std::string>().find(
            "Numbers") != std::string::npos);
  const Json low = *toc_of(world, "Low.md", {{"depth", 2}});
  CHECK(titles_of(low["toc_tree"]) == Titles{"A"});
  CHECK(titles_of(low["toc_tree"][0]["children"]) == Titles{"B"});
  CHECK_FALSE(toc_of(world, "Spec.md", {{"depth", 0}}));
  CHECK_FALSE(toc_of(world, "Spec.md", {{"depth", 7}}));
  CHECK_FALSE(toc_of(world, "Spec.md", {{"style", "wide"}}));
  CHECK((*toc_of(world, "Spec.md", {{"depth", 1}, {"include_links", false}}))["toc_markdown"] ==
        "- Spec\n");
}

TEST_CASE("fields of the other mode, and missing ones, are refused", "[ops][C24][C25]") {
  auto world = garden_and_kitchen();
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
  TocNotes world({{"Odd [1] name.md", note}, {"Other.md", "x\n"}});

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
  TocNotes world({{"a.md", "# One\n\n## Example\n\nx\n\n# Two\n\n## Example\n\ny\n"}});

  const Json answer = *toc_of(world, "a.md");

  CHECK(answer["toc_markdown"].get<std::string>().find("[[a#Two#Example|Example]]") !=
        std::string::npos);
  CHECK(answer["toc_tree"][1]["children"][0]["anchor"] == "example-1");
}

TEST_CASE("ten thousand headings are all there, more are cut and said", "[ops][C27]") {
  std::string note = "# Top\n";
  for (int i = 0; i < 10500; ++i) note += cat("## Part ", i % 4000, "\n\nText of it.\n");
  TocNotes world({{"big.md", note}});

  const Json answer = *toc_of(world, "big.md", {{"include_descriptions", true}});

  CHECK(answer["toc_tree"][0]["children"].size() == 9999);
  CHECK(toc_codes(answer).contains("truncated"));
}

TEST_CASE("descriptions are the model's words for the text below, in one call", "[ops][C24]") {
  TocNotes world({{"Spec.md", kSpec}});
  const Json quoted = *toc_of(world, "Spec.md", {{"include_descriptions", true}, {"depth", 2}});
  CHECK(quoted["source"] == "extractive");
  CHECK(quoted["toc_tree"][0]["children"][0]["description"] == "It opens 12 files at once.");
  add_model(world);

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
  TocNotes world({{"Spec.md", kSpec}});
  add_model(world);
  world.generate = [](const GenerateRequest& request, const std::string&) {
    auto reply = worded(request);
    for (auto& item : reply.structured["items"]) item["description"] = "Opens 99 files.";
    return Result<GenerateReply>(reply);
  };

  const Json answer = *toc_of(world, "Spec.md", {{"include_descriptions", true}, {"depth", 2}});

  CHECK(toc_codes(answer).contains("ungrounded_dropped"));
  CHECK(answer["toc_tree"][0]["children"][0]["description"] == "It opens 12 files at once.");
}

TEST_CASE("a note that changes during the call is not cited", "[ops][D40]") {
  TocNotes world({{"Spec.md", kSpec}});
  add_model(world);
  world.generate = [&world](const GenerateRequest& request, const std::string&) {
    world.files["Spec.md"] += "\nMore.\n";
    return Result<GenerateReply>(worded(request));
  };

  const Json answer = *toc_of(world, "Spec.md", {{"include_descriptions", true}});

  CHECK(answer["citations"].empty());
  CHECK(toc_codes(answer).contains("citation_drift"));
  CHECK_FALSE(answer["toc_tree"][0].contains("description"));
}

TEST_CASE("a map groups by folder, tag and property, each note with a link", "[ops][C25][C27]") {
  auto world = garden_and_kitchen();

  const Json folders = *run_operation(world, ai_toc(), moc_call({{"group_by", "folder"}}));
  CHECK(titles_of(folders["toc_tree"]) == Titles{"Garden", "/", "Kitchen"});
  CHECK(folders["toc_tree"][0]["children"][0] ==
        Json{{"title", "Compost"}, {"path", "Garden/Compost.md"}});
  CHECK(folders["toc_markdown"] ==
        "## Garden\n\n- [[Compost|Compost]]\n- [[Roses|Roses]]\n\n## /\n\n- [[Inbox|Inbox]]\n\n"
        "## Kitchen\n\n- [[Bread|Bread]]\n");

  const Json tags = *run_operation(world, ai_toc(), moc_call({{"group_by", "tag"}}));
  CHECK(titles_of(tags["toc_tree"]) == Titles{"outside", "Baking", "plants", "Untagged"});
  CHECK(titles_of(tags["toc_tree"][0]["children"]) == Titles{"Compost", "Roses"});

  const Json states = *run_operation(
      world, ai_toc(), moc_call({{"group_by", "frontmatter"}, {"group_by_key", "status"}}));
  CHECK(titles_of(states["toc_tree"]) == Titles{"open", "done", "No status"});
  CHECK(world.requests.empty());
}

TEST_CASE("topics come from vectors, or from words where there are none", "[ops][C25]") {
  std::map<std::string, std::string> notes;
  for (int i = 0; i < 4; ++i) {
    notes[cat("r", i, ".md")] =
        cat("Rose pruning day ", i, ". Roses and rose pruning want sharp shears and compost.\n");
    notes[cat("s", i, ".md")] =
        cat("Sourdough bread day ", i, ". Flour and water make sourdough bread in the oven.\n");
  }
  TocNotes world(notes);

  const Json words = *run_operation(world, ai_toc(), moc_call({{"max_groups", 4}}));
  CHECK(toc_codes(words).contains("embeddings_unavailable"));
  WordRetrieval retrieval;
  world.retrieval = &retrieval;
  const Json vectors = *run_operation(world, ai_toc(), moc_call({{"max_groups", 4}}));
  CHECK_FALSE(toc_codes(vectors).contains("embeddings_unavailable"));

  for (const auto& answer : {words, vectors}) {
    INFO(answer["toc_markdown"].get<std::string>());
    REQUIRE(answer["toc_tree"].size() == 2);
    for (const auto& group : answer["toc_tree"]) {
      REQUIRE(group["children"].size() == 4);
      const auto first = group["children"][0]["path"].get<std::string>()[0];
      for (const auto& item : group["children"]) CHECK(item["path"].get<std::string>()[0] == first);
    }
  }
}

TEST_CASE("groups and their notes are capped, and what is left out is told", "[ops][C25][C30]") {
  std::map<std::string, std::string> notes;
  for (int i = 0; i < 30; ++i) notes[cat("f", i % 6, "/n", i, ".md")] = "x\n";
  TocNotes world(notes);

  const Json answer = *run_operation(
      world, ai_toc(), moc_call({{"group_by", "folder"}, {"max_groups", 3}, {"max_per_group", 4}}));

  CHECK(titles_of(answer["toc_tree"]) == Titles{"f0", "f1", "Other"});
  for (const auto& group : answer["toc_tree"]) CHECK(group["children"].size() == 4);
  CHECK(toc_codes(answer) == std::set<std::string>{"truncated"});
  CHECK(answer["warnings"].size() == 3);
}

TEST_CASE("a model titles groups and describes notes in one call", "[ops][C30]") {
  auto world = garden_and_kitchen();
  add_model(world);

  const Json answer = *run_operation(
      world, ai_toc(), moc_call({{"group_by", "folder"}, {"include_summaries", true}}));

  CHECK(world.requests.size() == 1);
  CHECK(answer["toc_tree"][0]["title"] == "About Garden");
  CHECK(answer["toc_tree"][0]["children"][0]["description"] ==
        "In short: Compost feeds the roses and the soil.");
  CHECK(answer["citations"].size() == 4);
  CHECK(answer["source"] == "model");
}

TEST_CASE("links name a note so that they reach it from where the map stands", "[ops][C26]") {
  TocNotes world(
      {{"a/Plan.md", "x\n"}, {"b/Plan.md", "y\n"}, {"Other.md", "z\n"}, {"c/Index.md", "w\n"}});

  const Json answer = *run_operation(
      world, ai_toc(), moc_call({{"group_by", "folder"}, {"write", {{"path", "d/Index.md"}}}}));

  const auto text = world.files.at("d/Index.md");
  CHECK(answer["written"] == Json{{"path", "d/Index.md"}, {"etag", world.etag("d/Index.md")}});
  CHECK(text == answer["toc_markdown"].get<std::string>());
  world.index();
  std::set<std::string> reached;
  for (const auto& link : parse_note(text).links)
    reached.insert(world.reached(link, "d/Index.md").path.value_or("nothing"));
  CHECK(reached == std::set<std::string>{"a/Plan.md", "b/Plan.md", "Other.md", "c/Index.md"});
}

TEST_CASE("a map is written with its properties, guarded, and never lists itself",
          "[ops][C26][C31][C32]") {
  auto world = garden_and_kitchen();
  add_model(world);
  const auto call = [&](Json write) {
    return run_operation(world, ai_toc(),
                         moc_call({{"group_by", "folder"}, {"title", "Map"}, {"write", write}}));
  };

  REQUIRE(call({{"path", "Index.md"}, {"frontmatter", {{"kind", "moc"}}}}));
  CHECK(world.files.at("Index.md").starts_with("---\nkind: moc\n---\n# Map\n\n## About Garden\n"));
  CHECK(world.writes == std::vector<std::string>{"Index.md"});
  const auto calls = world.requests.size();

  const auto exists = call({{"path", "Index.md"}, {"if_not_exists", true}});
  REQUIRE_FALSE(exists);
  CHECK(exists.error().reason == Reason::Conflict);
  const auto stale = call({{"path", "Index.md"}, {"if_match", "0000000000000000"}});
  REQUIRE_FALSE(stale);
  CHECK(stale.error().reason == Reason::EtagMismatch);
  CHECK(stale.error().details["actual"] == world.etag("Index.md"));
  CHECK(world.requests.size() == calls);  // refused before a model is asked
  CHECK(call({{"path", "Index.canvas"}}).error().reason == Reason::ValidationFailed);

  world.files["Index.md"] = "---\nkept: yes\n---\nold\n";
  world.index();
  const Json again = *call({{"path", "Index.md"}, {"if_match", world.etag("Index.md")}});
  CHECK(world.files.at("Index.md").starts_with("---\nkept: yes\n---\n# Map\n"));
  CHECK(again["toc_markdown"].get<std::string>().find("[[Index") == std::string::npos);
  CHECK(world.events.back()["data"]["applied_paths"] == Json::array({"Index.md"}));
}

TEST_CASE("a map of nothing replaces no note", "[ops][C26]") {
  auto world = garden_and_kitchen();
  const auto before = world.files;

  const Json answer = *run_operation(world, ai_toc(),
                                     {{"mode", "moc"},
                                      {"scope", {{"kind", "tag"}, {"tag", "none"}}},
                                      {"write", {{"path", "Inbox.md"}}}});

  CHECK(world.files == before);
  CHECK_FALSE(answer.contains("written"));
  CHECK(toc_codes(answer).contains("apply_skipped_no_change"));
}

TEST_CASE("a job that runs again neither asks nor writes again", "[ops][C31]") {
  auto world = garden_and_kitchen();
  add_model(world);
  const auto call = moc_call(
      {{"group_by", "folder"}, {"write", {{"path", "Index.md"}, {"if_not_exists", true}}}});

  const Json first = *run_operation(world, ai_toc(), call, true);
  const Json second = *run_operation(world, ai_toc(), call, true);

  CHECK(second == first);
  CHECK(world.requests.size() == 1);
  CHECK(world.writes.size() == 1);
}

TEST_CASE("a map may be read without the right to write, but not written", "[ops][C31]") {
  const Operation operation = ai_toc();
  CHECK(operation.scopes == std::vector{Scope::VaultRead});
  CHECK(operation.extra_scopes(moc_call()).empty());
  CHECK(operation.extra_scopes(moc_call({{"write", {{"path", "x.md"}}}})) ==
        std::vector{Scope::VaultWrite});
}

TEST_CASE("with a model for embeddings alone only plain headings are to be had", "[ops][D4]") {
  FakeBackend backend;
  backend.world.files["Spec.md"] = kSpec;
  IndexedLinks indexed(backend.world.files);
  backend.world.links = &indexed;
  backend.has_a_provider = false;
  backend.has_an_embedder = true;
  const auto dispatcher = make_dispatcher(make_registry(), backend);
  const auto ask = [&](Json input) {
    Call call;
    call.operation = dispatcher->registry().find("ai_toc");
    call.input = std::move(input);
    call.principal = backend.world.principal;
    return dispatcher->call_and_wait(std::move(call));
  };
  const Json outline{{"mode", "note"}, {"path", "Spec.md"}};

  CHECK(ask(outline).result);
  Json described = outline;
  described["include_descriptions"] = true;
  for (const auto& input : {described, moc_call(), Json{{"mode", 3}}}) {
    const auto answer = ask(input);
    REQUIRE_FALSE(answer.result);
    CHECK(answer.result.error().reason == Reason::AiUnavailable);
    CHECK(answer.result.error().details["required_role"] == "chat");
  }
  backend.has_an_embedder = false;
  CHECK(ask(outline).result.error().reason == Reason::AiUnavailable);
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

  const Json plain = *toc_of(world, "plain.md");
  INFO(plain.dump(1));
  REQUIRE(plain["toc_tree"].size() == 2);
  for (const auto& node : plain["toc_tree"]) {
    CHECK_FALSE(node["title"].get<std::string>().empty());
    CHECK_FALSE(node.contains("anchor"));
  }
  CHECK(plain["citations"].size() == 2);
  CHECK(plain["citations"][1]["snippet"].get<std::string>().starts_with("The database keeps"));
  CHECK(plain["toc_markdown"].get<std::string>().find("[[") == std::string::npos);

  const Json titled = *toc_of(world, "titled.md");
  CHECK(titled["toc_tree"].size() == 1);
  CHECK(titled["toc_tree"][0]["children"].size() == 2);
  CHECK((*toc_of(world, "titled.md", {{"depth", 1}}))["toc_tree"][0].contains("children") == false);
}

}  // namespace indx
