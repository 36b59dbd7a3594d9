#include "tests/ops/toc_world.hpp"
#include "tests/support/fake_backend.hpp"
#include "tests/support/word_embedder.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

/// Vectors of words, as if a model had made them.
class TocRetrieval : public NoRetrieval {
 public:
  Result<Vectors> vectors() override { return Vectors::Ready; }
  Result<std::vector<std::vector<float>>> embed(std::span<const std::string> texts) override {
    return embedder_.embed(texts, CancelToken());
  }

 private:
  WordEmbedder embedder_;
};

TocNotes garden_and_kitchen() {
  return TocNotes(TocFiles{{"Garden/Roses.md",
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
}  // namespace

TEST_CASE("a map groups by folder, tag and property, each note with a link", "[ops][C25][C27]") {
  auto world = garden_and_kitchen();

  const Json folders = *run_operation(world, ai_toc(), moc_call({{"group_by", "folder"}}));
  CHECK(toc_titles(folders["toc_tree"]) == TocTitles{"Garden", "/", "Kitchen"});
  CHECK(folders["toc_tree"][0]["children"][0] ==
        Json{{"title", "Compost"}, {"path", "Garden/Compost.md"}});
  CHECK(folders["toc_markdown"] ==
        "## Garden\n\n- [[Compost|Compost]]\n- [[Roses|Roses]]\n\n## /\n\n- [[Inbox|Inbox]]\n\n"
        "## Kitchen\n\n- [[Bread|Bread]]\n");

  const Json tags = *run_operation(world, ai_toc(), moc_call({{"group_by", "tag"}}));
  CHECK(toc_titles(tags["toc_tree"]) == TocTitles{"outside", "Baking", "plants", "Untagged"});
  CHECK(toc_titles(tags["toc_tree"][0]["children"]) == TocTitles{"Compost", "Roses"});

  const Json states = *run_operation(
      world, ai_toc(), moc_call({{"group_by", "frontmatter"}, {"group_by_key", "status"}}));
  CHECK(toc_titles(states["toc_tree"]) == TocTitles{"open", "done", "No status"});
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
  TocRetrieval retrieval;
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

  CHECK(toc_titles(answer["toc_tree"]) == TocTitles{"f0", "f1", "Other"});
  for (const auto& group : answer["toc_tree"]) CHECK(group["children"].size() == 4);
  CHECK(toc_codes(answer) == std::set<std::string>{"truncated"});
  CHECK(answer["warnings"].size() == 3);
}

TEST_CASE("a model titles groups and describes notes in one call", "[ops][C30]") {
  auto world = garden_and_kitchen();
  add_toc_model(world);

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
  add_toc_model(world);
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
  add_toc_model(world);
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
  backend.world.files["Spec.md"] = kTocSpec;
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

}  // namespace indx
