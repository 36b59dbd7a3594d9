#include "base/text.hpp"
#include "tests/actors/engine_fixture.hpp"
#include "tests/support/word_embedder.hpp"

#include <algorithm>
#include <atomic>

namespace indx {
namespace {

EngineOptions embedding_with(std::shared_ptr<Embedder> embedder) {
  EngineOptions options;
  options.embedder = std::move(embedder);
  return options;
}

/// A vault that gives its notes vectors by itself.
struct EmbeddingVault {
  std::shared_ptr<WordEmbedder> embedder;
  ServedVault vault;

  explicit EmbeddingVault(const TempFolder& folder, const std::string& model = "words-1",
                          const std::function<void(WordEmbedder&)>& prepare = {})
      : embedder(std::make_shared<WordEmbedder>(
            model, std::map<std::string, std::string>{{"automobile", "car"}})),
        vault(
            folder, [](Config&) {}, make_registry(), embedding_with(prepared(prepare))) {}

  std::shared_ptr<WordEmbedder> prepared(const std::function<void(WordEmbedder&)>& prepare) const {
    if (prepare) prepare(*embedder);
    return embedder;
  }
  Json status() const { return vault.ask("vault_status", Json::object())["embeddings"]; }
  bool becomes(const std::string& state) const {
    return comes_true([&] { return status()["state"] == state; });
  }
  Json search(const std::string& q, const std::string& mode, Json more = Json::object()) const {
    more["q"] = q;
    more["mode"] = mode;
    return vault.ask("vault_search", more);
  }
};

std::vector<std::string> paths_in(const Json& found) {
  std::vector<std::string> paths;
  for (const auto& hit : found.value("results", Json::array()))
    paths.push_back(hit["path"].get<std::string>());
  return paths;
}
using FoundPaths = std::vector<std::string>;

void write_notes(const TempFolder& folder, int count) {
  for (int i = 0; i < count; ++i) folder.write(cat("n/", i, ".md"), cat("unique", i, " words\n"));
}

}  // namespace

TEST_CASE("a server gives notes their vectors by itself, and only to what changed",
          "[actors][A60][A69][slow]") {
  const TempFolder folder;
  folder.write("garage.md", "# Garage\n\nThe car is here.\n\n## Tools\n\nA hammer.\n");
  folder.write("food.md", "Bread and butter.\n");
  const EmbeddingVault served(folder);

  REQUIRE(served.becomes("ready"));
  CHECK(served.status()["chunks"] == 3);
  CHECK(served.status()["embedded"] == 3);
  CHECK(served.status()["dim"] == WordEmbedder::kDim);
  const Json role = served.vault.ask("ai_status", Json::object())["embeddings"];
  CHECK(role["model"] == "words-1");
  CHECK(role["dim"] == WordEmbedder::kDim);
  const Json found = served.search("automobile", "hybrid");
  CHECK(found["mode_used"] == "hybrid");
  CHECK(found["warnings"].empty());
  REQUIRE_FALSE(found["results"].empty());
  CHECK(found["results"][0]["path"] == "garage.md");
  CHECK(found["results"][0]["matched"] == "none");
  CHECK(paths_in(served.search("automobile", "lexical")).empty());

  served.embedder->forget();
  folder.write("garage.md", "# Garage\n\nThe car is here.\n\n## Tools\n\nA screwdriver.\n");
  REQUIRE(comes_true([&] { return !served.embedder->texts().empty(); }));
  REQUIRE(served.becomes("ready"));
  CHECK(served.embedder->texts().size() == 1);
  CHECK(served.embedder->texts()[0].find("screwdriver") != std::string::npos);
}

TEST_CASE("a folder that is moved outside makes no embedding call", "[actors][W-03][slow]") {
  const TempFolder folder;
  folder.write("p/a.md", "one\n");
  folder.write("p/b/c.md", "zebra\n");
  const EmbeddingVault served(folder);
  REQUIRE(served.becomes("ready"));
  served.embedder->forget();

  std::filesystem::rename(folder.path() + "/p", folder.path() + "/q");
  REQUIRE(comes_true(
      [&] { return paths_in(served.search("zebra", "lexical")) == FoundPaths{"q/b/c.md"}; }));
  REQUIRE_FALSE(served.vault.run_job("vault_embed", Json::object()).empty());

  CHECK(served.embedder->texts().empty());
  CHECK(served.status()["embedded"] == 2);
  CHECK(paths_in(served.search("zebra", "semantic", {{"limit", 1}})) == FoundPaths{"q/b/c.md"});
}

TEST_CASE("a filter leaves all hits that there are, by meaning too", "[actors][Q-13][slow]") {
  const TempFolder folder;
  for (int i = 0; i < 500; ++i)
    folder.write(cat("big/", i, ".md"), cat("w w w w w w w w w w ", i, "\n"));
  folder.write("small/x.md", "w\n");
  const EmbeddingVault served(folder);
  REQUIRE(served.becomes("ready"));
  const auto batches = served.embedder->batches();

  CHECK(*std::max_element(batches.begin(), batches.end()) == 32);
  for (const auto* mode : {"lexical", "semantic", "hybrid"}) {
    const Json found = served.search("w", mode, {{"path_glob", "small/**"}, {"limit", 5}});
    CHECK(found["mode_used"] == mode);
    CHECK(paths_in(found) == FoundPaths{"small/x.md"});
  }
}

TEST_CASE("vectors of another model are not used and not replaced without being asked to",
          "[actors][A70][R20][G25][slow]") {
  const TempFolder folder;
  write_notes(folder, 5);
  {
    const EmbeddingVault served(folder);
    REQUIRE(served.becomes("ready"));
  }
  const EmbeddingVault served(folder, "words-2");
  REQUIRE(comes_true([&] {
    return served.vault.ask("vault_status", Json::object())["indexing"]["state"] == "idle";
  }));

  CHECK(served.status()["state"] == "other_model");
  const Json found = served.search("unique3", "hybrid");
  CHECK(found["mode_used"] == "lexical");
  CHECK(found["warnings"] == Json::array({"embeddings_unavailable", "embedding_model_changed"}));
  CHECK(paths_in(found) == FoundPaths{"n/3.md"});
  const auto refused = served.vault.call("vault_embed", Json::object());
  REQUIRE_FALSE(refused.result.has_value());
  CHECK(refused.result.error().reason == Reason::Conflict);
  CHECK(served.embedder->texts().empty());
  const auto done = served.vault.call("vault_embed", {{"reset", true}});
  REQUIRE(done.result.has_value());
  CHECK((*done.result)["embedded"] == 5);
  CHECK(served.status()["state"] == "ready");
  CHECK(served.search("unique3", "hybrid")["mode_used"] == "hybrid");
}

TEST_CASE("embedding goes on after a restart with what is left", "[actors][G25][slow]") {
  const TempFolder folder;
  write_notes(folder, 100);
  std::atomic<int> seen = 0;
  {
    const EmbeddingVault served(folder, "words-1", [&](WordEmbedder& embedder) {
      embedder.most_batches = 2;
      embedder.before_text = [&](const std::string&) { ++seen; };
    });
    REQUIRE(comes_true([&] { return served.status()["embedded"] == 64; }));
    CHECK(served.status()["state"] == "incomplete");
    const Json found = served.search("unique3 words", "semantic");
    CHECK(found["mode_used"] == "lexical");  // the question gets no vector now
  }
  const EmbeddingVault served(folder);
  REQUIRE(served.becomes("ready"));

  CHECK(seen == 64);
  CHECK(served.embedder->texts().size() == 36);
  CHECK(served.status()["embedded"] == 100);
}

TEST_CASE("without a model nothing is embedded, and search says so", "[actors][A62]") {
  const TempFolder folder;
  folder.write("a.md", "zebra\n");
  const ServedVault vault(folder, [](Config&) {});
  REQUIRE(comes_true([&] {
    return vault.ask("vault_search", {{"q", "zebra"}})["results"].size() == 1;
  }));
  const Json found = vault.ask("vault_search", {{"q", "zebra"}, {"mode", "semantic"}});

  CHECK(found["mode_used"] == "lexical");
  CHECK(found["warnings"] == Json::array({"embeddings_unavailable"}));
  CHECK(vault.ask("vault_status", Json::object())["embeddings"]["state"] == "off");
  const auto refused = vault.call("vault_embed", Json::object());
  REQUIRE_FALSE(refused.result.has_value());
  CHECK(refused.result.error().reason == Reason::AiUnavailable);
}

}  // namespace indx
