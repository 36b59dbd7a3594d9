#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"
#include "tests/support/model_server.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

namespace indx {
namespace {

/// Every note has a word of its own, so that prompts tell which notes they hold.
void fill_scopes(const TempFolder& vault) {
  vault.write("work/a.md", "---\ntags: [green]\n---\n# A\n\nAlphaword gardens. [[b]]\n");
  vault.write("work/b.md", "# B\n\nBetaword gardens. [[c]]\n");
  vault.write("work/c.md", "# C\n\nGammaword gardens. #green\n");
  vault.write("private/d.md", "# D\n\nDeltaword gardens, hidden. #green [[a]]\n");
  vault.write("work/draft/e.md", "# E\n\nEpsilonword gardens, hidden. #green\n");
}

struct ScopeCase {
  Json scope;
  std::vector<std::string> paths, excluded;
};

}  // namespace

TEST_CASE("notes denied to AI reach no prompt, whatever the scope",
          "[end_to_end][D16][D17][D27][D28][D29][D30][D31][D32][C87]") {
  const TempFolder vault;
  fill_scopes(vault);
  vault.write("work/b.md", "# B\n\nBetaword gardens. [[c]] [[d]]\n");
  ModelServer model;
  RunningServer server(vault, {},
                       {{"INDX_AI_PROVIDER", "openai"},
                        {"INDX_AI_MODEL", "test"},
                        {"INDX_OPENAI_BASE_URL", model.base_url()},
                        {"INDX_OPENAI_API_KEY", "k"},
                        {"INDX_AI_ALLOW_GLOBS", "work/**"},
                        {"INDX_AI_DENY_GLOBS", "**/draft/**,secret/**"}});
  const std::vector<ScopeCase> cases = {
      {{{"kind", "paths"}, {"paths", {"work/a.md", "private/d.md"}}},
       {"work/a.md"},
       {"private/d.md"}},
      {{{"kind", "glob"}, {"path_glob", "**"}},
       {"work/a.md", "work/b.md", "work/c.md"},
       {"private/d.md", "work/draft/e.md"}},
      {{{"kind", "tag"}, {"tag", "green"}},
       {"work/a.md", "work/c.md"},
       {"private/d.md", "work/draft/e.md"}},
      {{{"kind", "query"}, {"q", "hidden"}}, {}, {"private/d.md", "work/draft/e.md"}},
      {{{"kind", "query"}, {"q", "gardens"}, {"filters", {{"tag", "green"}}}},
       {"work/a.md", "work/c.md"},
       {"private/d.md", "work/draft/e.md"}},
      {{{"kind", "note"}, {"path", "work/a.md"}}, {"work/a.md"}, {}},
      {{{"kind", "note"}, {"path", "work/a.md"}, {"include_linked", 2}},
       {"work/a.md", "work/b.md", "work/c.md"},
       {"private/d.md"}},
      {{{"kind", "note"}, {"path", "private/d.md"}}, {}, {"private/d.md"}}};

  for (const auto& one : cases) {
    INFO(one.scope.dump());
    const auto reply = server.call("POST", "/v1/ai/tag", {{"scope", one.scope}});
    INFO(reply.body.dump());
    REQUIRE(reply.status == 200);
    const auto& resolved = reply.body["data"]["scope_resolved"];
    CHECK(resolved["paths"].get<std::vector<std::string>>() == one.paths);
    CHECK(resolved["excluded"].get<std::vector<std::string>>() == one.excluded);
    CHECK((reply.body["data"]["warnings"].dump().find("globs_excluded") != std::string::npos) ==
          !one.excluded.empty());
  }

  const auto prompts = model.requests().dump();
  CHECK(prompts.find("Alphaword") != std::string::npos);
  CHECK(prompts.find("Gammaword") != std::string::npos);
  for (const std::string denied :
       {"Deltaword", "Epsilonword", "private/d.md", "draft/e.md", "hidden"})
    CHECK(prompts.find(denied) == std::string::npos);
}

TEST_CASE("linked notes are in scope hop by hop", "[end_to_end][D31][A48]") {
  const TempFolder vault;
  fill_scopes(vault);
  RunningServer server(vault, {}, {{"INDX_AI_PROVIDER", "builtin"}});
  const auto hops = [&](int count) {
    const auto reply = server.call(
        "POST", "/v1/ai/tag",
        {{"scope", {{"kind", "note"}, {"path", "work/a.md"}, {"include_linked", count}}}});
    return reply.body["data"]["scope_resolved"]["paths"].get<std::vector<std::string>>();
  };

  CHECK(hops(0) == std::vector<std::string>{"work/a.md"});
  CHECK(hops(1) == std::vector<std::string>{"work/a.md", "work/b.md"});
  CHECK(hops(2) == std::vector<std::string>{"work/a.md", "work/b.md", "work/c.md"});
  CHECK(hops(3) == hops(2));
}

TEST_CASE("the event of an AI call names the first 50 paths of 60", "[end_to_end][D68]") {
  const TempFolder vault;
  for (int i = 10; i < 70; ++i)
    vault.write(cat("n", i, ".md"),
                cat("# Note ", i, "\n\nCompost warms the compost heap ", i, ".\n"));
  RunningServer server(vault, {}, {{"INDX_AI_PROVIDER", "builtin"}});
  EventFeed feed(server, "?kinds=ai.invocation");

  const auto reply = server.call(
      "POST", "/v1/ai/tag", {{"scope", {{"kind", "glob"}, {"path_glob", "**"}}}, {"apply", true}});
  CHECK(reply.body["data"]["applied"].size() == 60);
  REQUIRE(feed.wait_for([](const EventFeed::Frame&) { return true; }));
  const auto event = feed.frames()[0].data;

  for (const std::string key : {"type", "op", "actor", "provider", "model", "usage", "cache_hit",
                                "duration_ms", "ok", "at"})
    CHECK(event.contains(key));
  CHECK(event["type"] == "ai.invocation");
  CHECK(event["op"] == "ai_tag");
  CHECK(event["ok"] == true);
  CHECK(event["scope_paths"].size() == 50);
  CHECK(event["scope_paths"][49] == "n59.md");
  CHECK(event["applied_paths"].size() == 50);
}

TEST_CASE("tagging a whole vault a second time changes nothing", "[end_to_end][C84]") {
  const TempFolder vault;
  std::filesystem::copy(
      INDX_SAMPLE_VAULT, vault.path(),
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
  std::filesystem::remove_all(vault.path() + "/.indx");
  RunningServer server(vault, {}, {{"INDX_AI_PROVIDER", "builtin"}});
  const Json tag_all = {{"scope", {{"kind", "glob"}, {"path_glob", "**"}}}, {"apply", true}};

  const auto first = server.call("POST", "/v1/ai/tag", tag_all).body["data"];
  const auto tagged = vault_files(vault);
  const auto second = server.call("POST", "/v1/ai/tag", tag_all).body["data"];

  CHECK(first["applied"].size() >= 5);
  CHECK(second["applied"].empty());
  CHECK(vault_files(vault) == tagged);
}

TEST_CASE("an applied tag is one write a note, told once, and only at the etag given",
          "[end_to_end][C55]") {
  const TempFolder vault;
  for (const std::string name : {"a", "b", "c"})
    vault.write(name + ".md", cat("# ", name, "\n\nCompost warms the compost heap.\n"));
  RunningServer server(vault, {}, {{"INDX_AI_PROVIDER", "builtin"}});
  EventFeed feed(server, "?kinds=note.*");
  const auto etag_of = [&](const std::string& path) {
    return server.call("GET", "/v1/notes/" + path).body["data"]["etag"].get<std::string>();
  };
  const Json if_match = {{"a.md", etag_of("a.md")}, {"b.md", "0000000000000000"}};

  const auto reply = server.call("POST", "/v1/ai/tag",
                                 {{"scope", {{"kind", "glob"}, {"path_glob", "**"}}},
                                  {"apply", true},
                                  {"if_match", if_match},
                                  {"if_match_mode", "skip"}});
  INFO(reply.body.dump());
  REQUIRE(feed.wait_for("note.updated", "c.md"));

  std::map<std::string, std::string> written;
  for (const auto& note : reply.body["data"]["applied"])
    written[note["path"].get<std::string>()] = note["etag"].get<std::string>();
  CHECK(written ==
        std::map<std::string, std::string>{{"a.md", etag_of("a.md")}, {"c.md", etag_of("c.md")}});
  std::map<std::string, std::string> told;
  for (const auto& frame : feed.frames())
    CHECK(told.emplace(frame.data["path"].get<std::string>(), frame.data["etag"].get<std::string>())
              .second);
  CHECK(told == written);
}

}  // namespace indx
