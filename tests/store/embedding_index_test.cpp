#include "tests/store/embedding_fixture.hpp"

namespace indx {
namespace {

NoteFilter under(const std::string& glob) {
  NoteFilter filter;
  filter.path_glob = glob;
  return filter;
}

}  // namespace

TEST_CASE("a chunk is embedded once, and again only when it changed", "[store][A69][G23]") {
  EmbeddedIndex index;
  index.put({{"a.md", "# One\n\nalpha\n\n## Two\n\nbeta\n\n## Three\n\ngamma\n"},
             {"b.md", "# One\n\nalpha\n"}});

  CHECK(index.embed_all() == 3);
  CHECK(index.embed_all() == 0);
  index.embedder.forget();
  index.put("a.md", "# One\n\nalpha\n\n## Two\n\nbeta and more\n\n## Three\n\ngamma\n");
  CHECK(index.embed_all() == 1);
  REQUIRE(index.embedder.texts().size() == 1);
  CHECK(index.embedder.texts()[0] == "One: Two\nbeta and more");
}

TEST_CASE("a folder that moves needs no new vectors", "[store][W-03]") {
  EmbeddedIndex index;
  index.put({{"p/a.md", "one\n"}, {"p/b/c.md", "zebra\n"}});
  index.embed_all();
  CHECK(index.writer.take_unembedded(false).value());
  index.remove("p/a.md");
  index.remove("p/b/c.md");
  index.put({{"q/a.md", "one\n"}, {"q/b/c.md", "zebra\n"}});

  CHECK(index.embed_all() == 0);
  CHECK_FALSE(index.writer.take_unembedded(true).value());
  CHECK(index.near("zebra", 1) == PathList{"q/b/c.md"});
}

TEST_CASE("counts tell what is embedded, missing and left out", "[store][G24]") {
  EmbeddedIndex index;
  index.put({{"a.md", "alpha\n"}, {"b.md", "beta\n"}, {"c.md", "gamma\n"}});
  CHECK(index.rows().counts().value().pending() == 3);
  CHECK(index.rows().counts().value().model.empty());
  const auto chunks = index.rows().to_embed("", 10).value();
  REQUIRE(chunks.size() == 3);
  index.writer
      .put_embeddings("m", {{chunks[0].key, {1.0F, 0.0F}}, {chunks[1].key, std::vector<float>()}})
      .value();
  const auto counts = index.rows().counts().value();

  CHECK(counts.model == "m");
  CHECK(counts.dim == 2);
  CHECK(counts.chunks == 3);
  CHECK(counts.embedded == 1);
  CHECK(counts.left_out == 1);
  CHECK(index.rows().to_embed("", 10).value().size() == 1);
  CHECK(index.writer.forget_left_out().value() == 1);
  CHECK(index.rows().to_embed("", 10).value().size() == 2);
}

TEST_CASE("vectors of another model or size are refused until all are dropped",
          "[store][A70][R20]") {
  EmbeddedIndex index;
  index.put({{"a.md", "alpha\n"}, {"b.md", "beta\n"}});
  const auto chunks = index.rows().to_embed("", 10).value();
  index.writer.put_embeddings("m1", {{chunks[0].key, {1.0F, 0.0F}}}).value();
  const auto other = index.writer.put_embeddings("m2", {{chunks[1].key, {1.0F, 0.0F}}});
  const auto longer = index.writer.put_embeddings("m1", {{chunks[1].key, {1.0F, 0.0F, 0.0F}}});

  REQUIRE_FALSE(other.has_value());
  CHECK(other.error().reason == Reason::Conflict);
  CHECK(other.error().details["index_model"] == "m1");
  CHECK_FALSE(longer.has_value());
  CHECK(index.writer.embedding_model().value() == "m1");
  index.writer.forget_embeddings().value();
  CHECK_FALSE(index.writer.embedding_model().value().has_value());
  CHECK(index.rows().to_embed("", 10).value().size() == 2);
  CHECK(index.writer.put_embeddings("m2", {{chunks[1].key, {1.0F, 0.0F, 0.0F}}}).has_value());
  CHECK(index.rows().counts().value().dim == 3);
}

TEST_CASE("what is no vector is refused as the model's fault", "[store]") {
  EmbeddedIndex index;
  index.put("a.md", "alpha\n");
  const auto key = index.rows().to_embed("", 1).value().at(0).key;
  const auto refused = index.writer.put_embeddings("m", {{key, {1.0F, std::nanf("")}}});

  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().reason == Reason::AiProviderError);
  CHECK(index.rows().counts().value().embedded == 0);
}

TEST_CASE("vectors do not move the generation, and outlive a cleared index", "[store]") {
  EmbeddedIndex index;
  index.put("a.md", "alpha\n");
  const auto before = index.writer.generation().value();
  index.embed_all();
  CHECK(index.writer.generation().value() == before);
  index.writer.clear().value();
  index.put("a.md", "alpha\n");
  CHECK(index.embed_all() == 0);
}

TEST_CASE("the writer tells whether chunks without vectors came", "[store]") {
  EmbeddedIndex index;
  CHECK_FALSE(index.writer.take_unembedded(true).value());
  index.put("a.md", "alpha\n");
  CHECK(index.writer.take_unembedded(false).value());
  CHECK_FALSE(index.writer.take_unembedded(false).value());
  CHECK(index.writer.take_unembedded(true).value());
  index.embed_all();
  index.put("copy/a.md", "alpha\n");
  CHECK_FALSE(index.writer.take_unembedded(true).value());
}

TEST_CASE("the graph follows the rows, over restarts, removals and another model", "[store]") {
  EmbeddedIndex index;
  std::map<std::string, std::string> notes;
  for (int i = 0; i < 300; ++i)
    notes[cat("n/", i, ".md")] = cat("word", i, " word", i / 2, " common\n");
  index.put(notes);
  index.embed_all();
  index.build_graph();
  REQUIRE(index.cache.graph() != nullptr);
  CHECK(index.cache.graph()->size() == 300);
  CHECK(std::filesystem::exists(index.folder.str() + "/vectors.json"));
  index.put("n/new.md", "something else\n");
  index.embed_all();

  CHECK(index.cache.graph()->size() == 300);
  CHECK(index.near("something else", 1) == PathList{"n/new.md"});
  index.build_graph();
  CHECK(index.cache.graph()->size() == 301);

  VectorCache after_restart(index.folder.str(), 1);
  while (index.writer.work_on(after_restart).value()) {
  }
  CHECK(after_restart.graph()->size() == 301);

  index.writer.forget_embeddings().value();
  index.build_graph();
  CHECK(index.cache.graph() == nullptr);
  CHECK_FALSE(std::filesystem::exists(index.folder.str() + "/vectors.json"));
}

TEST_CASE("a graph with many removed vectors is built anew, and few vectors have none", "[store]") {
  EmbeddedIndex index;
  for (int i = 0; i < 100; ++i) index.put(cat(i, ".md"), cat("word", i, "\n"));
  index.embed_all();
  index.build_graph();
  std::vector<std::int64_t> gone = index.cache.graph()->labels();
  gone.resize(30);
  index.cache.remove(gone);
  CHECK(index.cache.graph()->removed() == 30);
  index.build_graph();

  CHECK(index.cache.graph()->removed() == 0);
  CHECK(index.cache.graph()->size() == 100);
  VectorCache other(index.folder.str() + "/none", 1000);
  while (index.writer.work_on(other).value()) {
  }
  CHECK(other.graph() == nullptr);
}

TEST_CASE("meaning finds what words do not, with the graph and without", "[store]") {
  EmbeddedIndex index;
  index.put({{"garage.md", "The car needs a new tyre.\n"},
             {"food.md", "Bread and butter.\n"},
             {"sky.md", "Clouds in the evening.\n"}});
  index.embed_all();

  for (const bool has_graph : {false, true}) {
    if (has_graph) index.build_graph();
    CHECK((index.cache.graph() != nullptr) == has_graph);
    CHECK(index.near("automobile", 1) == PathList{"garage.md"});
    CHECK(index.ask("automobile")->lexical(10).value().empty());
    CHECK(index.near("automobile", 10).size() == 3);
  }
  const auto chunk = index.ask("vehicle")->nearest(1).value().at(0);
  CHECK(chunk.title == "garage");
  CHECK(chunk.content == "The car needs a new tyre.");
  CHECK(chunk.line == 1);
  CHECK(chunk.similarity > 0.3);
  CHECK_FALSE(chunk.etag.empty());
}

TEST_CASE("a filter is applied before the nearest are counted", "[store][Q-13]") {
  EmbeddedIndex index;
  std::map<std::string, std::string> notes;
  for (int i = 0; i < 500; ++i) notes[cat("big/", i, ".md")] = cat("w w w w w w w w w w ", i, "\n");
  notes["small/x.md"] = "w\n";
  notes["small/y.md"] = "---\ntags: [t]\n---\nother\n";
  index.put(notes);
  index.embed_all();

  for (const bool has_graph : {false, true}) {
    if (has_graph) index.build_graph();
    CHECK(index.near("w", 5, under("small/**")) == PathList{"small/x.md", "small/y.md"});
    CHECK(index.near("w", 5, under("none/**")).empty());
    CHECK(index.near("w tag:t", 5) == PathList{"small/y.md"});
    CHECK(index.near("w", 600).size() == 502);
    NoteFilter scoped;
    scoped.scope.any_of = {"small/y.md"};
    CHECK(index.near("w", 5, scoped) == PathList{"small/y.md"});
    scoped.scope = {{}, {"small/y.md"}};
    scoped.path_glob = "small/**";
    CHECK(index.near("w", 5, scoped) == PathList{"small/x.md"});
    NoteFilter narrowed;
    narrowed.narrower = {{"small/**"}, {"small/x.md"}};
    CHECK(index.near("w", 5, narrowed) == PathList{"small/y.md"});
    narrowed.narrower = {};
    narrowed.only = PathList{"small/x.md"};
    CHECK(index.near("w", 5, narrowed) == PathList{"small/x.md"});
    narrowed.only = PathList{};
    CHECK(index.near("w", 5, narrowed).empty());
  }
}

TEST_CASE("notes near to a note are found by its own vectors, without itself", "[store]") {
  EmbeddedIndex index;
  index.put({{"a.md", "# Cars\n\ncar tyre\n\n## More\n\nengine oil\n"},
             {"b.md", "automobile engine\n"},
             {"sub/c.md", "vehicle\n"},
             {"d.md", "bread\n"}});
  CHECK(index.reader->near_note("a.md", {}, 5, &index.cache).value().empty());
  index.embed_all();
  const auto near = [&](std::size_t notes, const NoteFilter& filter = {}) {
    PathList paths;
    const auto chunks = index.reader->near_note("a.md", filter, notes, &index.cache).value();
    for (const auto& chunk : chunks) paths.push_back(chunk.path);
    return paths;
  };

  CHECK(near(1) == PathList{"b.md"});
  CHECK(near(5).size() == 3);
  CHECK(near(5).back() == "d.md");
  CHECK(near(5, under("sub/**")) == PathList{"sub/c.md"});
  CHECK(index.reader->near_note("none.md", {}, 5, &index.cache).value().empty());
}

TEST_CASE("the words of a question that say nothing are not searched for", "[store]") {
  EmbeddedIndex index;
  index.put({{"a.md", "how do you do what is the\n"}, {"b.md", "tyres\n"}, {"c.md", "who is\n"}});

  CHECK(paths_of(index.ask("how do I change the tyres?")->lexical(10).value()) == PathList{"b.md"});
  CHECK(paths_of(index.ask("who is")->lexical(10).value()) == PathList{"c.md", "a.md"});
  CHECK(text_of_question("how do I change the tyres?").value() == "how do I change the tyres?");
  CHECK(text_of_question("tyres tag:car -old path:x").value() == "tyres");
}

TEST_CASE("links are followed one hop in both directions, inside of the filter", "[store][G19]") {
  EmbeddedIndex index;
  index.put({{"a.md", "[[b]] [[sub/c]] [[a]] [[gone]]\n"},
             {"b.md", "text\n"},
             {"sub/c.md", "text\n"},
             {"d.md", "[[a]]\n"}});
  const auto reached = [&](const NoteFilter& filter) {
    PathList paths;
    const auto pairs = index.ask("text", filter)->linked({"a.md", "not-there.md"}).value();
    for (const auto& [from, to] : pairs) paths.push_back(from + ">" + to);
    return paths;
  };

  CHECK(reached({}) == PathList{"a.md>b.md", "a.md>d.md", "a.md>sub/c.md"});
  CHECK(reached(under("sub/**")) == PathList{"a.md>sub/c.md"});
}

TEST_CASE("hits say which of the words were found, and show the near chunk where none was",
          "[store]") {
  EmbeddedIndex index;
  index.put({{"all.md", "car tyre\n"},
             {"some.md", "car\n"},
             {"none.md", "---\nk: v\n---\n\n# Top\n\nText of it.\n"}});
  index.embed_all();
  const auto run = index.ask("car tyre");
  const auto chunks = run->nearest(3).value();
  const auto none = std::find_if(chunks.begin(), chunks.end(),
                                 [](const auto& chunk) { return chunk.path == "none.md"; });
  REQUIRE(none != chunks.end());
  const auto hits =
      run->hits({{"all.md", 3}, {"some.md", 2}, {"none.md", 1, &*none}, {"gone.md", 0}}).value();

  REQUIRE(hits.size() == 3);
  CHECK(hits[0].matched == "all");
  CHECK(hits[0].snippet == "**car** **tyre**");
  CHECK(hits[1].matched == "some");
  CHECK(hits[2].matched == "none");
  CHECK(hits[2].matched_in.empty());
  CHECK(hits[2].line == 5);
  CHECK(hits[2].heading == "Top");
  CHECK(hits[2].snippet.find("Text of it.") != std::string::npos);
  CHECK(hits[2].score == 1);
  const auto scores = run->scores({"some.md", "none.md", "gone.md"}).value();
  CHECK(scores[0].score > 0);
  CHECK(scores[1].score == 0);
  CHECK(scores[2].score == 0);
}

TEST_CASE("a look at a note tells its best passage, its nearest chunk and the mean of all",
          "[store][G20]") {
  EmbeddedIndex index;
  const std::string far(2000, 'x');
  index.put({{"apart.md", cat("# A\n\ncar ", far, "\n\n# B\n\ntyre ", far, "\n")},
             {"together.md", cat("# A\n\ncars tyre ", far, "\n\n# B\n\nword ", far, "\n")},
             {"neither.md", "word\n"}});
  index.embed_all();
  const auto run = index.ask("car tyre");
  const auto rows = run->evidence({"apart.md", "together.md", "neither.md", "gone.md"}).value();

  REQUIRE(rows.size() == 4);
  CHECK(rows[0].path == "apart.md");
  CHECK(rows[1].passage_words > rows[0].passage_words);
  CHECK(rows[0].passage_words > 0);
  CHECK(rows[2].passage_words == 0);
  CHECK(rows[1].nearest.value() > rows[1].mean.value());
  CHECK(rows[2].nearest.value() == rows[2].mean.value());
  CHECK_FALSE(rows[3].nearest.has_value());
  for (const auto& chunk : run->nearest(1).value())
    CHECK(chunk.similarity <= std::max(rows[0].nearest.value(), rows[1].nearest.value()) + 1e-9);
}

TEST_CASE("vectors of chunks that are gone are dropped once they are many", "[store]") {
  EmbeddedIndex index;
  std::map<std::string, std::string> notes;
  for (int i = 0; i < 1200; ++i) notes[cat(i, ".md")] = cat("word", i, "\n");
  index.put(notes);
  index.embed_all();
  CHECK(index.writer.prune_embeddings(index.cache).value() == 0);
  index.writer.begin().value();
  for (const auto& [path, text] : notes) index.writer.remove(path).value();
  index.writer.commit().value();

  CHECK(index.near("word1", 5).empty());
  CHECK(index.writer.prune_embeddings(index.cache).value() == 200);
  CHECK(index.writer.prune_embeddings(index.cache).value() == 0);
}

}  // namespace indx
