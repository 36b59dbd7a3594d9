#include "ops/search/retrieval.hpp"

#include "ops/operations.hpp"
#include "tests/support/fake_context.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

namespace indx {
namespace {

NearChunk near(const std::string& path, double similarity) {
  NearChunk chunk;
  chunk.path = path;
  chunk.similarity = similarity;
  chunk.content = "near " + path;
  return chunk;
}

std::vector<std::string> order(const std::vector<RetrievedNote>& notes) {
  std::vector<std::string> paths;
  for (const auto& note : notes) paths.push_back(note.path);
  return paths;
}
using Order = std::vector<std::string>;

/// Lists given by a test.
struct FoundLists {
  std::vector<RankedPath> lexical;
  std::vector<NearChunk> near;
  std::vector<LinkedPath> links;
  std::map<std::string, double> bm25;
  std::map<std::string, NoteEvidence> evidence;
  std::vector<std::string> linked_from, looked_at;  ///< what was asked of which notes
  std::size_t lexical_depth = 0, vector_depth = 0;
};

class ListSource : public RetrievalSource {
 public:
  explicit ListSource(FoundLists& lists) : lists_(lists) {}
  Result<std::vector<RankedPath>> lexical(std::size_t most) override {
    lists_.lexical_depth = most;
    return lists_.lexical;
  }
  Result<std::vector<NearChunk>> nearest(std::size_t most) override {
    lists_.vector_depth = most;
    return lists_.near;
  }
  Result<std::vector<LinkedPath>> linked(const std::vector<std::string>& paths) override {
    lists_.linked_from = paths;
    return lists_.links;
  }
  Result<std::vector<RankedPath>> scores(const std::vector<std::string>& paths) override {
    std::vector<RankedPath> rows;
    for (const auto& path : paths) rows.push_back({path, lists_.bm25[path]});
    return rows;
  }
  Result<std::vector<NoteEvidence>> evidence(const std::vector<std::string>& paths) override {
    lists_.looked_at = paths;
    std::vector<NoteEvidence> rows;
    for (const auto& path : paths) rows.push_back(lists_.evidence[path]);
    return rows;
  }
  Result<std::vector<SearchHit>> hits(const std::vector<Shown>& shown) override {
    std::vector<SearchHit> rows;
    for (const auto& one : shown)
      rows.push_back({one.path,
                      one.path,
                      one.score,
                      one.chunk ? one.chunk->content : "words",
                      {},
                      {},
                      "none"});
    return rows;
  }

 private:
  FoundLists& lists_;
};

class ListRetrieval : public NoRetrieval {
 public:
  FoundLists lists;
  Vectors state = Vectors::Ready;
  std::optional<Error> trouble;  ///< with the model, when it is asked by meaning
  std::string model_name = "m1", index_model = "m1";
  // of the job
  std::map<std::string, ChunkToEmbed> missing;  ///< by key
  std::vector<EmbeddedChunk> kept;
  std::vector<std::size_t> batches;
  int forgotten = 0, passes_ended = 0;
  std::function<Status(std::size_t batch)> before_embed;

  Result<Vectors> vectors() override { return state; }
  Result<EmbeddingCounts> counts() override {
    EmbeddingCounts counts;
    counts.model = index_model;
    counts.dim = 2;
    counts.chunks = static_cast<std::int64_t>(missing.size() + kept.size());
    counts.embedded = static_cast<std::int64_t>(kept.size());
    return counts;
  }
  std::string model() override { return model_name; }
  Result<std::unique_ptr<RetrievalSource>> ask(const RetrievalQuestion&, bool by_meaning) override {
    if (by_meaning && trouble) return *trouble;
    return std::unique_ptr<RetrievalSource>(std::make_unique<ListSource>(lists));
  }
  Result<std::vector<NearChunk>> near_note(const NotePath&, NoteFilter, std::size_t) override {
    return lists.near;
  }
  Result<std::vector<std::vector<float>>> embed(std::span<const std::string> texts) override {
    batches.push_back(texts.size());
    if (before_embed) INDX_TRY(before_embed(batches.size()));
    for (const auto& text : texts)
      if (text == "too long") return make_error(Reason::AiInputTooLarge, "too long");
    return std::vector<std::vector<float>>(texts.size(), {1.0F, 0.0F});
  }
  Result<std::vector<ChunkToEmbed>> to_embed(const std::string& after, int limit) override {
    std::vector<ChunkToEmbed> rows;
    for (auto it = missing.upper_bound(after);
         it != missing.end() && rows.size() < static_cast<std::size_t>(limit); ++it)
      rows.push_back(it->second);
    return rows;
  }
  Status keep(const std::vector<EmbeddedChunk>& chunks) override {
    for (const auto& chunk : chunks) {
      missing.erase(chunk.key);
      kept.push_back(chunk);
    }
    return {};
  }
  Status forget_all() override {
    ++forgotten;
    state = Vectors::None;
    return {};
  }
  void end_pass() override { ++passes_ended; }

  void add_missing(int count, const std::string& folder = "") {
    for (int i = 0; i < count; ++i) {
      const auto key = cat(folder, 1000 + i);
      missing[key] = {key, {cat(folder, "n", i, ".md")}, cat("text ", i)};
    }
  }
};

Json hybrid(FakeWorld& world, Json input = Json::object()) {
  input["q"] = "question";
  if (!input.contains("mode")) input["mode"] = "hybrid";
  const auto found = run_operation(world, vault_search(), input);
  return found.has_value() ? *found : found.error().to_json();
}

}  // namespace

TEST_CASE("two lists are fused by rank, ties by path", "[ops][G18]") {
  const auto notes =
      fuse({{"a.md", 9}, {"b.md", 8}, {"c.md", 7}},
           {near("c.md", 0.9), near("b.md", 0.8), near("c.md", 0.7), near("d.md", 0.6)});

  CHECK(order(notes) == Order{"c.md", "b.md", "a.md", "d.md"});  // c: 3 and 1, b: 2 and 2
  CHECK(notes[0].fused_score == Approx(1.0 / 63 + 1.0 / 61));
  CHECK(notes[1].fused_score == Approx(1.0 / 62 + 1.0 / 62));
  CHECK(notes[2].fused_score == Approx(1.0 / 61));
  CHECK(notes[3].vector_rank == 3);
  CHECK(notes[3].fused_rank == 4);
  CHECK(notes[0].chunks.size() == 2);
  CHECK(notes[0].similarity == 0.9);
  CHECK(order(fuse({{"y.md", 1}}, {near("x.md", 1)})) == Order{"x.md", "y.md"});
}

TEST_CASE("linked notes join once, and those without any of the words go again",
          "[ops][G19][G20]") {
  auto notes = fuse({{"b.md", 8}}, {near("a.md", 0.9), near("c.md", 0.3)});
  add_linked(notes, {{"a.md", "b.md"}, {"a.md", "x.md"}, {"b.md", "x.md"}, {"a.md", "y.md"}});
  CHECK(order(notes) == Order{"a.md", "b.md", "c.md", "x.md", "y.md"});
  CHECK(notes[3].linked_from == Order{"a.md", "b.md"});
  CHECK(notes[1].linked_from == Order{"a.md"});

  add_bm25(notes, {{"a.md", 0}, {"b.md", 8}, {"c.md", 0}, {"x.md", 1}, {"y.md", 0}});
  rerank(notes);

  CHECK(order(notes) == Order{"a.md", "b.md", "x.md", "c.md"});
  CHECK(notes[0].score == Approx(0.9));
  CHECK(notes[1].bm25_rank == 1);
  CHECK(notes[1].score == Approx(0.3 + 0.025 * 16));  // as near as the least near one
  CHECK(notes[2].score == Approx(0.3 + 0.025 * 2));
}

TEST_CASE("words and nearness add up as they are, so that the side that is sure decides",
          "[ops][G20]") {
  const std::vector<NearChunk> alike = {near("a.md", 0.52), near("b.md", 0.51), near("c.md", 0.3)};
  auto by_words = fuse({{"b.md", 20}, {"a.md", 4}}, alike);
  add_bm25(by_words, {{"a.md", 4}, {"b.md", 20}, {"c.md", 0}});
  rerank(by_words);
  CHECK(order(by_words) == Order{"b.md", "a.md", "c.md"});

  auto by_meaning = fuse({{"b.md", 5.1}, {"a.md", 5}},
                         {near("a.md", 0.9), near("b.md", 0.31), near("c.md", 0.3)});
  add_bm25(by_meaning, {{"a.md", 5}, {"b.md", 5.1}, {"c.md", 0}});
  rerank(by_meaning);
  CHECK(order(by_meaning) == Order{"a.md", "b.md", "c.md"});
}

TEST_CASE(
    "the best passage and the mean of all chunks order notes that the lists cannot tell apart",
    "[ops][G20]") {
  const auto ranked = [](NoteEvidence a, NoteEvidence b) {
    auto notes = fuse({{"a.md", 5}, {"b.md", 5}}, {near("a.md", 0.5), near("b.md", 0.5)});
    add_bm25(notes, {{"a.md", 5}, {"b.md", 5}});
    notes[0].evidence = std::move(a);
    notes[1].evidence = std::move(b);
    rerank(notes);
    return order(notes);
  };

  CHECK(ranked({"a.md", 4, 0.5, 0.4}, {"b.md", 8, 0.5, 0.4}) == Order{"b.md", "a.md"});
  CHECK(ranked({"a.md", 4, 0.5, 0.3}, {"b.md", 4, 0.5, 0.4}) == Order{"b.md", "a.md"});
  CHECK(ranked({"a.md", 4, 0.5, 0.4}, {"b.md", 4, {}, {}}) == Order{"a.md", "b.md"});
}

TEST_CASE("hybrid search joins words and meaning, and explains every stage",
          "[ops][A60][A61][R21]") {
  FakeWorld world;
  ListRetrieval retrieval;
  world.retrieval = &retrieval;
  for (int i = 0; i < 12; ++i)
    retrieval.lists.lexical.push_back({cat("w", 10 + i, ".md"), 20.0 - i});
  retrieval.lists.near = {near("w11.md", 0.9), near("m.md", 0.8)};
  retrieval.lists.links = {{"w11.md", "x.md"}};
  retrieval.lists.bm25 = {{"x.md", 3.0}, {"w10.md", 20.0}, {"w11.md", 19.0}};
  retrieval.lists.evidence["w11.md"] = {"w11.md", 9.0, 0.9, 0.5};
  const Json found = hybrid(world, {{"explain", true}, {"limit", 3}});

  CHECK(found["mode_used"] == "hybrid");
  CHECK(found["warnings"].empty());
  CHECK(retrieval.lists.lexical_depth == 50);  // the twenty of the row and more: 50 find more
  CHECK(retrieval.lists.vector_depth == 50);
  CHECK(retrieval.lists.linked_from.size() == 10);
  CHECK(retrieval.lists.linked_from.front() == "w11.md");
  REQUIRE(found["results"].size() == 3);
  CHECK(found["results"][0]["path"] == "w11.md");
  CHECK(found["results"][0]["matched"] == "none");
  const Json& stages = found["results"][0]["explain"];
  CHECK(stages["lexical"] == Json{{"rank", 2}, {"score", 19.0}});
  CHECK(stages["vector"]["rank"] == 1);
  CHECK(stages["vector"]["similarity"] == 0.9);
  CHECK(stages["fusion"]["rank"] == 1);
  CHECK(stages["fusion"]["k"] == 60);
  CHECK(stages["links"].is_null());
  CHECK(stages["rerank"]["rank"] == 2);
  CHECK(stages["rerank"]["passage"] == 9.0);
  CHECK(stages["rerank"]["words"] == Approx(0.025 * 28));
  CHECK(stages["rerank"]["meaning"] == Approx(0.7));
  CHECK(retrieval.lists.looked_at.size() == 4);  // the rest has no words
  CHECK(stages["score"] == found["results"][0]["score"]);
  const Json all = hybrid(world, {{"explain", true}, {"limit", 100}});
  const auto& rows = all["results"];
  const auto linked =
      std::find_if(rows.begin(), rows.end(), [](const Json& row) { return row["path"] == "x.md"; });
  REQUIRE(linked != rows.end());
  CHECK((*linked)["explain"]["links"] == Json{{"from", {"w11.md"}}});
  CHECK((*linked)["explain"]["lexical"].is_null());
  CHECK(retrieval.lists.lexical_depth == 100);
}

TEST_CASE("semantic search orders by similarity alone", "[ops][A60]") {
  FakeWorld world;
  ListRetrieval retrieval;
  world.retrieval = &retrieval;
  retrieval.lists.lexical = {{"w.md", 9}};
  retrieval.lists.near = {near("b.md", 0.9), near("a.md", 0.5), near("b.md", 0.4)};
  const Json found = hybrid(world, {{"mode", "semantic"}});

  CHECK(found["mode_used"] == "semantic");
  REQUIRE(found["results"].size() == 2);
  CHECK(found["results"][0]["path"] == "b.md");
  CHECK(found["results"][0]["score"] == 0.9);
  CHECK(found["results"][0]["snippet"] == "near b.md");
  CHECK_FALSE(found["results"][0].contains("explain"));
}

TEST_CASE("a search that cannot go by meaning goes by words and says why",
          "[ops][A62][R18][R20][D64]") {
  FakeWorld world;
  ListRetrieval retrieval;
  world.retrieval = &retrieval;
  world.files["a.md"] = "a question";
  const auto warnings = [&](Vectors state) {
    retrieval.state = state;
    const Json found = hybrid(world);
    CHECK(found["mode_used"] == "lexical");
    CHECK(found["results"].size() == 1);
    return found["warnings"];
  };

  CHECK(warnings(Vectors::Off) == Json::array({"embeddings_unavailable"}));
  CHECK(warnings(Vectors::None) == Json::array({"embeddings_unavailable"}));
  CHECK(warnings(Vectors::OtherModel) ==
        Json::array({"embeddings_unavailable", "embedding_model_changed"}));
  retrieval.trouble = make_error(Reason::AiProviderError, "down");
  CHECK(warnings(Vectors::Ready) == Json::array({"embeddings_unavailable"}));
  retrieval.trouble = make_error(Reason::RateLimited, "the minute is full");
  CHECK(warnings(Vectors::Ready) == Json::array({"embeddings_unavailable"}));
  retrieval.trouble = invalid("no such query");
  CHECK(hybrid(world)["code"] == "validation_failed");
  retrieval.trouble.reset();
  retrieval.state = Vectors::Incomplete;
  const Json found = hybrid(world);
  CHECK(found["mode_used"] == "hybrid");
  CHECK(found["warnings"] == Json::array({"embeddings_incomplete"}));
  FakeContext ctx(world);
  retrieval.state = Vectors::Off;
  retrieval.lists.lexical = {{"w.md", 2}};
  const auto retrieved = retrieve(ctx, {{"question", {}}, "hybrid", 8});
  CHECK(retrieved->mode_used == "lexical");
  CHECK(order(retrieved->notes) == Order{"w.md"});
  CHECK(retrieved->notes[0].score == 2);
}

TEST_CASE("vault_embed gives chunks their vectors in batches, and tells how far it is",
          "[ops][G23][G25]") {
  FakeWorld world;
  ListRetrieval retrieval;
  world.retrieval = &retrieval;
  retrieval.state = Vectors::None;
  retrieval.add_missing(70);
  const Json done = *run_operation(world, vault_embed(), Json::object(), true);

  CHECK(done["embedded"] == 70);
  CHECK(done["left_out"] == 0);
  CHECK(done["model"] == "m1");
  CHECK(retrieval.batches == std::vector<std::size_t>{32, 32, 6});
  CHECK(retrieval.passes_ended == 1);
  REQUIRE_FALSE(world.progress.empty());
  CHECK(world.progress.back().done == 70);
  CHECK(world.progress.back().total == 70);
  CHECK(world.progress.back().unit == "chunks");
}

TEST_CASE("a try that fails is gone on from where it stopped", "[ops][G25]") {
  FakeWorld world;
  ListRetrieval retrieval;
  world.retrieval = &retrieval;
  retrieval.state = Vectors::OtherModel;
  retrieval.index_model = "m0";
  retrieval.add_missing(70);
  retrieval.before_embed = [](std::size_t batch) -> Status {
    if (batch == 2) return make_error(Reason::AiProviderError, "down");
    return {};
  };
  const auto failed = run_operation(world, vault_embed(), {{"reset", true}}, true);
  const auto rest = run_operation(world, vault_embed(), {{"reset", true}}, true);

  CHECK(failed.error().reason == Reason::AiProviderError);
  REQUIRE(rest.has_value());
  CHECK((*rest)["embedded"] == 38);
  CHECK(retrieval.forgotten == 1);  // not again by the second try
  CHECK(retrieval.kept.size() == 70);
}

TEST_CASE("vault_embed refuses another model without reset, and no model at all",
          "[ops][A70][R20][D57]") {
  FakeWorld world;
  ListRetrieval retrieval;
  world.retrieval = &retrieval;
  retrieval.state = Vectors::OtherModel;
  retrieval.index_model = "m0";
  const auto other = run_operation(world, vault_embed(), Json::object(), true);
  retrieval.state = Vectors::Off;
  const auto none = run_operation(world, vault_embed(), Json::object(), true);

  REQUIRE_FALSE(other.has_value());
  CHECK(other.error().reason == Reason::Conflict);
  CHECK(other.error().details["index_model"] == "m0");
  CHECK(other.error().message.find("reset") != std::string::npos);
  CHECK(none.error().reason == Reason::AiUnavailable);
  CHECK(none.error().details["required_role"] == "embeddings");
}

TEST_CASE("what AI may not read and what is too large is left out, the rest is embedded",
          "[ops][D57]") {
  FakeWorld world;
  ListRetrieval retrieval;
  world.retrieval = &retrieval;
  world.config.ai.deny_globs = {"private/**"};
  retrieval.add_missing(2, "private/");
  retrieval.add_missing(3);
  retrieval.missing["0500"] = {"0500", {"private/n0.md", "shared.md"}, "in both"};
  retrieval.missing["0501"] = {"0501", {"long.md"}, "too long"};
  const Json done = *run_operation(world, vault_embed(), Json::object(), true);

  CHECK(done["embedded"] == 4);
  CHECK(done["left_out"] == 3);
  for (const auto& chunk : retrieval.kept) {
    INFO(chunk.key);
    CHECK(chunk.vector.empty() == (chunk.key == "0501" || chunk.key.starts_with("private/")));
  }
}

TEST_CASE("note_similar shows each note once, by its nearest section", "[ops]") {
  FakeWorld world;
  ListRetrieval retrieval;
  world.retrieval = &retrieval;
  retrieval.lists.near = {near("b.md", 0.9), near("b.md", 0.8), near("c.md", 0.5)};
  retrieval.lists.near[0].heading_path = {"Top", "Part"};
  retrieval.lists.near[0].content = "two\nlines";
  const Json found = *run_operation(world, note_similar(), {{"path", "a.md"}});
  retrieval.state = Vectors::Off;
  retrieval.lists.near.clear();
  const Json none = *run_operation(world, note_similar(), {{"path", "a.md"}});

  REQUIRE(found["notes"].size() == 2);
  CHECK(found["notes"][0]["path"] == "b.md");
  CHECK(found["notes"][0]["similarity"] == 0.9);
  CHECK(found["notes"][0]["heading"] == "Part");
  CHECK(found["notes"][0]["snippet"] == "two lines");
  CHECK(found["notes"][1]["path"] == "c.md");
  CHECK(found["warnings"].empty());
  CHECK(none["notes"].empty());
  CHECK(none["warnings"] == Json::array({"embeddings_unavailable"}));
}

TEST_CASE("a command that indexes is told of another model, a server is not", "[ops][A70][R20]") {
  FakeWorld world;
  ListRetrieval retrieval;
  world.retrieval = &retrieval;
  retrieval.state = Vectors::OtherModel;
  CHECK(run_operation(world, vault_reindex(), Json::object(), true).has_value());
  world.principal.surface = Surface::Cli;
  world.steps.clear();
  const auto refused = run_operation(world, vault_reindex(), Json::object(), true);

  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().exit_code() == 4);
  CHECK(refused.error().message.find("--reset-db") != std::string::npos);
  CHECK(run_operation(world, vault_reindex(), {{"reset_db", true}}, true).has_value());
}

TEST_CASE("vault_status tells of vectors, and no numbers to who sees only a part", "[ops][A76]") {
  FakeWorld world;
  CHECK((*run_operation(world, vault_status(), Json::object()))["embeddings"]["state"] == "off");
  ListRetrieval retrieval;
  world.retrieval = &retrieval;
  retrieval.state = Vectors::OtherModel;
  retrieval.index_model = "m0";
  retrieval.add_missing(3);
  const Json status = *run_operation(world, vault_status(), Json::object());

  CHECK(status["embeddings"]["state"] == "other_model");
  CHECK(status["embeddings"]["model"] == "m1");
  CHECK(status["embeddings"]["chunks"] == 3);
  CHECK(status["embeddings"]["embedded"] == 0);
  CHECK(status["warnings"].dump().find("embedding_model_changed") != std::string::npos);
  world.principal.path_globs = {"x/**"};
  const Json part = *run_operation(world, vault_status(), Json::object());
  CHECK_FALSE(part["embeddings"].contains("chunks"));
}

}  // namespace indx
