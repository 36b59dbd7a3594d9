#include "ops/ai/ai_scope.hpp"
#include "ops/operations.hpp"
#include "tests/support/fake_context.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

/// A model that gives one tag, supported by the first line of the body, for each note.
Result<GenerateReply> one_tag(const std::string& tag, const std::string& quote) {
  GenerateReply reply;
  reply.structured = Json{
      {"tags",
       {{{"tag", tag}, {"confidence", 0.9}, {"rationale", "It says so."}, {"quotes", {quote}}}}}};
  reply.text = reply.structured.dump();
  reply.usage = {10, 2, 0.001, "reported"};
  return reply;
}

struct FiveNotes : FakeWorld {
  FiveNotes() {
    can_generate = true;
    for (const auto* name : {"a", "b", "c", "d", "e"})
      files[std::string(name) + ".md"] = "about gardening here\n";
    generate = [](const GenerateRequest&, const std::string&) {
      return one_tag("garden", "about gardening here");
    };
  }
};
Json glob_call(Json more = Json::object()) {
  Json input{{"scope", {{"kind", "glob"}, {"path_glob", "**"}}}};
  input.update(more);
  return input;
}
std::set<std::string> codes_of(const Json& answer) {
  std::set<std::string> codes;
  for (const auto& warning : answer["warnings"])
    codes.insert(warning.is_string() ? warning.get<std::string>()
                                     : warning["code"].get<std::string>());
  return codes;
}

TEST_CASE("suggesting writes nothing and proposes patches", "[ops][C49][C50][C51][D38][D55]") {
  FiveNotes world;

  const auto answer = run_operation(world, ai_tag(), glob_call());

  REQUIRE(answer);
  const Json& first = (*answer)["suggestions"][0];
  CHECK((*answer)["suggestions"].size() == 5);
  CHECK(first["path"] == "a.md");
  CHECK(first["etag"] == world.etag("a.md"));
  CHECK(first["tags"][0]["tag"] == "garden");
  CHECK(first["tags"][0]["is_new"] == true);
  CHECK(first["tags"][0]["evidence"][0]["line"] == 1);
  CHECK(first["tags"][0]["evidence"][0]["snippet"] == "about gardening here");
  CHECK((*answer)["citations"].size() == 5);
  CHECK((*answer)["usage"]["input_tokens"] == 50);
  CHECK((*answer)["usage"]["source"] == "reported");
  CHECK((*answer)["proposed_patches"][0]["ops"][0]["value"] == Json({"garden"}));
  CHECK((*answer)["vocabulary"]["new"] == Json({"garden"}));
  CHECK_FALSE(answer->contains("applied"));
  CHECK(world.writes.empty());
}

TEST_CASE("applying writes one patch a note in path order and tells the new etags",
          "[ops][C50][C56][C85]") {
  FiveNotes world;
  world.files["b.md"] = "---\ntags: [Old, garden2]\n---\nabout gardening here\n";

  const Json answer = *run_operation(world, ai_tag(), glob_call({{"apply", true}}));

  CHECK(world.writes == std::vector<std::string>{"a.md", "b.md", "c.md", "d.md", "e.md"});
  CHECK(world.files["b.md"] == "---\ntags: [Old, garden2, garden]\n---\nabout gardening here\n");
  CHECK(world.files["a.md"] == "---\ntags:\n  - garden\n---\nabout gardening here\n");
  CHECK(answer["applied"][1]["etag"] == world.etag("b.md"));
  CHECK(answer["applied"][1]["tags_added"] == Json({"garden"}));
  CHECK_FALSE(answer.contains("proposed_patches"));
}

TEST_CASE("replace overwrites the property and leaves inline tags alone", "[ops][C48][C56]") {
  FiveNotes world;
  world.files = {{"a.md", "---\ntags: [old]\n---\nabout gardening here #inline\n"}};

  const Json answer =
      *run_operation(world, ai_tag(), glob_call({{"apply", true}, {"apply_mode", "replace"}}));

  CHECK(world.files["a.md"].find("old") == std::string::npos);
  CHECK(world.files["a.md"].ends_with("about gardening here #inline\n"));
  CHECK(answer["applied"][0]["tags_removed"] == Json({"old"}));
}

TEST_CASE("a second run changes nothing and says so for each note", "[ops][C84][D67]") {
  FiveNotes world;
  REQUIRE(run_operation(world, ai_tag(), glob_call({{"apply", true}})));
  world.writes.clear();

  const Json again = *run_operation(world, ai_tag(), glob_call({{"apply", true}}));

  CHECK(world.writes.empty());
  CHECK(again["applied"].empty());
  CHECK(codes_of(again).contains("apply_skipped_no_change"));
}

TEST_CASE("a stale if_match stops everything before the first write", "[ops][C83][D63][R14]") {
  FiveNotes world;

  const auto answer =
      run_operation(world, ai_tag(),
                    glob_call({{"apply", true},
                               {"if_match", {{"a.md", world.etag("a.md")}, {"c.md", "stale"}}}}));

  REQUIRE_FALSE(answer);
  CHECK(answer.error().reason == Reason::AiApplyConflict);
  CHECK(answer.error().http_status() == 409);
  CHECK(answer.error().details["failed"] ==
        Json::array({{{"path", "c.md"}, {"expected", "stale"}, {"actual", world.etag("c.md")}}}));
  CHECK(world.writes.empty());
}

TEST_CASE("if_match_mode skip leaves out the stale note only", "[ops][C83]") {
  FiveNotes world;

  const Json answer = *run_operation(
      world, ai_tag(),
      glob_call({{"apply", true}, {"if_match_mode", "skip"}, {"if_match", {{"c.md", "stale"}}}}));

  CHECK(world.writes == std::vector<std::string>{"a.md", "b.md", "d.md", "e.md"});
  CHECK(codes_of(answer).contains("etag_mismatch"));
}

TEST_CASE("a note that changes after the check ends the batch with what was applied",
          "[ops][C83][R14]") {
  FiveNotes world;
  const std::string etag = world.etag("c.md");
  world.before_write = [&](const std::string& path) {
    if (path == "c.md") world.files["c.md"] = "someone else wrote\n";
  };

  const auto answer =
      run_operation(world, ai_tag(), glob_call({{"apply", true}, {"if_match", {{"c.md", etag}}}}));

  REQUIRE_FALSE(answer);
  CHECK(answer.error().reason == Reason::AiApplyConflict);
  CHECK(answer.error().details["applied"].size() == 2);
  CHECK(world.files["c.md"] == "someone else wrote\n");
}

TEST_CASE("one note that cannot be written is a warning, the others are written", "[ops][C82]") {
  FiveNotes world;
  world.before_write = [&](const std::string& path) {
    if (path == "c.md") world.files["c.md"] = "someone else wrote\n";
  };

  const Json answer = *run_operation(world, ai_tag(), glob_call({{"apply", true}}));

  CHECK(answer["applied"].size() == 4);
  CHECK(codes_of(answer).contains("etag_mismatch"));
}

TEST_CASE("a job that starts again repeats neither model calls nor writes", "[ops][C81][E5]") {
  FiveNotes world;
  int writes_left = 2;
  world.before_write = [&](const std::string&) {
    if (writes_left-- == 0) throw std::runtime_error("crash");
  };
  const Json input = glob_call({{"apply", true}, {"if_match", {{"a.md", world.etag("a.md")}}}});
  CHECK_THROWS(run_operation(world, ai_tag(), input, true));
  CHECK(world.writes.size() == 2);
  world.before_write = nullptr;

  const auto answer = run_operation(world, ai_tag(), input, true);

  REQUIRE(answer);
  CHECK(world.requests.size() == 5);
  CHECK(world.writes == std::vector<std::string>{"a.md", "b.md", "c.md", "d.md", "e.md"});
  CHECK((*answer)["applied"].size() == 5);
}

TEST_CASE("a job that goes on with another model asks it about every note", "[ops]") {
  FiveNotes world;
  const Json input = glob_call({{"apply", true}});
  world.before_write = [](const std::string&) { throw std::runtime_error("crash"); };
  CHECK_THROWS(run_operation(world, ai_tag(), input, true));
  CHECK(world.requests.size() == 5);
  world.before_write = nullptr;
  world.model_name = "m2";

  const auto answer = run_operation(world, ai_tag(), input, true);

  REQUIRE(answer);
  CHECK(world.requests.size() == 10);
  CHECK((*answer)["applied"].size() == 5);
}

TEST_CASE("a job that is interrupted tells of its AI call when it has gone on", "[ops]") {
  for (const auto why : {CancelReason::Pause, CancelReason::Shutdown}) {
    FiveNotes world;
    world.before_write = [&](const std::string&) { world.cancel.cancel(why); };
    const Json input = glob_call({{"apply", true}});
    CHECK_FALSE(run_operation(world, ai_tag(), input, true));
    CHECK(world.events.empty());

    world.before_write = nullptr;
    world.cancel = CancelToken();
    CHECK(run_operation(world, ai_tag(), input, true));
    REQUIRE(world.events.size() == 1);
    CHECK(world.events[0]["data"]["ok"] == true);
  }
}

TEST_CASE("a cancelled call tells how far it came", "[ops][E9]") {
  FiveNotes world;
  world.before_write = [&](const std::string& path) {
    if (path == "b.md") world.cancel.cancel(CancelReason::Requested);
  };

  const auto answer = run_operation(world, ai_tag(), glob_call({{"apply", true}}), true);

  REQUIRE_FALSE(answer);
  CHECK(answer.error().reason == Reason::Cancelled);
  CHECK(answer.error().details["partial"]["done"] == 2);
  CHECK(world.writes.size() == 2);
}

TEST_CASE("notes that AI may not read never reach the provider", "[ops][C87][D16][D17][D32]") {
  FiveNotes world;
  world.config.ai.allow_globs = {"a.md", "b.md"};
  world.config.ai.deny_globs = {"b.*"};
  world.files["b.md"] = "canary\n";

  const Json answer = *run_operation(world, ai_tag(), glob_call());

  CHECK(answer["scope_resolved"]["paths"] == Json({"a.md"}));
  CHECK(codes_of(answer).contains("globs_excluded"));
  for (const auto& request : world.requests)
    for (const auto& message : request.messages)
      CHECK(message.content.find("canary") == std::string::npos);
}

TEST_CASE("a provider error on one note is a warning, on all of them an error", "[ops][C82]") {
  FiveNotes world;
  world.generate = [](const GenerateRequest&, const std::string& item) -> Result<GenerateReply> {
    if (item == "c.md") return make_error(Reason::AiProviderError, "broken");
    return one_tag("garden", "about gardening here");
  };
  CHECK(codes_of(*run_operation(world, ai_tag(), glob_call())).contains("ai_provider_error"));

  world.generate = [](const GenerateRequest&, const std::string&) -> Result<GenerateReply> {
    return make_error(Reason::AiProviderError, "broken");
  };
  CHECK(run_operation(world, ai_tag(), glob_call()).error().reason == Reason::AiProviderError);
}

TEST_CASE("a note edited during the call loses its citations, and alone it is an error",
          "[ops][D40][D41][D65]") {
  FiveNotes world;
  world.generate = [&](const GenerateRequest&, const std::string& item) {
    if (item == "c.md") world.files["c.md"] += "edit\n";
    return one_tag("garden", "about gardening here");
  };
  CHECK(codes_of(*run_operation(world, ai_tag(), glob_call())).contains("citation_drift"));

  const auto alone =
      run_operation(world, ai_tag(), Json{{"scope", {{"kind", "paths"}, {"paths", {"c.md"}}}}});

  REQUIRE_FALSE(alone);
  CHECK(alone.error().reason == Reason::AiGroundingFailed);
  CHECK(alone.error().details["dropped"].size() == 1);
}

TEST_CASE("an answer cut by its limit is a warning", "[ops][D66]") {
  FiveNotes world;
  world.generate = [](const GenerateRequest&, const std::string&) {
    auto reply = one_tag("garden", "about gardening here");
    reply->finish_reason = FinishReason::Length;
    return reply;
  };

  CHECK(codes_of(*run_operation(world, ai_tag(), glob_call())).contains("truncated"));
}

TEST_CASE("seed, token limit and the vault's tags reach the model", "[ops][C48][C52][D35]") {
  FiveNotes world;
  world.files["b.md"] = "---\ntags: [Botany]\n---\nabout gardening here\n";

  REQUIRE(run_operation(world, ai_tag(), glob_call({{"seed", 7}, {"max_tokens", 99}})));

  CHECK(world.requests[0].seed == 7);
  CHECK(world.requests[0].max_output_tokens == 99);
  CHECK((world.requests[0].system + world.requests[0].messages[0].content).find("Botany") !=
        std::string::npos);
}

TEST_CASE("one event tells of each call, without content", "[ops][C86][D68]") {
  FiveNotes world;
  for (int i = 100; i < 160; ++i) world.files[std::to_string(i) + ".md"] = "about gardening here\n";
  REQUIRE(run_operation(world, ai_tag(), glob_call({{"apply", true}})));

  REQUIRE(world.events.size() == 1);
  const Json data = world.events[0]["data"];
  CHECK(world.events[0]["kind"] == "ai.invocation");
  CHECK(data["scope_paths"].size() == 50);
  CHECK(data["applied_paths"].size() == 50);
  CHECK(data["ok"] == true);
  CHECK(data["op"] == "ai_tag");
  CHECK(data["provider"] == "openai");
  CHECK(data["usage"]["input_tokens"] == 650);
  CHECK(data.contains("duration_ms"));
  CHECK(data.dump().find("gardening") == std::string::npos);

  CHECK_FALSE(
      run_operation(world, ai_tag(), Json{{"scope", {{"kind", "paths"}, {"paths", {"gone.md"}}}}}));
  REQUIRE(world.events.size() == 2);
  CHECK(world.events[1]["data"]["ok"] == false);
  CHECK(world.events[1]["data"]["error_code"] == "not_found");
}

TEST_CASE("without a model, tags come from the notes themselves", "[ops][C49]") {
  FiveNotes world;
  world.can_generate = false;
  world.files["b.md"] = "---\ntags: [Gardening]\n---\nabout gardening here\n";

  const Json answer =
      *run_operation(world, ai_tag(), glob_call({{"vocabulary", {{"min_confidence", 0}}}}));

  CHECK(answer["source"] == "extractive");
  CHECK(world.requests.empty());
  CHECK(run_operation(world, ai_tag(), glob_call({{"vocabulary", {{"min_confidence", 0}}}}))
            .value() == answer);
}

TEST_CASE("only applying needs the right to write, and only more than one note a job",
          "[ops][C57]") {
  FiveNotes world;
  const Operation operation = ai_tag();
  FakeContext context(world);
  const auto size = [&](const Json& scope) {
    return *operation.size(context, *validate(operation.input, Json{{"scope", scope}}));
  };

  CHECK(operation.extra_scopes(glob_call()).empty());
  CHECK(operation.extra_scopes(glob_call({{"apply", true}})) == std::vector{Scope::VaultWrite});
  CHECK(size({{"kind", "note"}, {"path", "a.md"}}) <= operation.inline_limit);
  CHECK(size({{"kind", "glob"}, {"path_glob", "**"}}) > operation.inline_limit);
}

TEST_CASE("each kind of scope finds its notes", "[ops][D27][D28][D29][D30][D31]") {
  FakeWorld world;
  world.files = {{"a.md", "#t word [[b]]\n"},
                 {"b.md", "[[c]] [[a]]\n"},
                 {"c.md", "[[d]]\n"},
                 {"d.md", "#t/sub\n"},
                 {"x.png", "word"}};
  FakeContext context(world);
  const auto paths = [&](AiScope scope) { return scope_paths(context, scope)->paths; };
  using Paths = std::vector<std::string>;
  AiScope scope;

  scope.kind = "paths";
  scope.paths = {"b.md", "/a.md", "b.md"};
  CHECK(paths(scope) == Paths{"a.md", "b.md"});
  scope.paths = {"x.png"};
  CHECK(scope_paths(context, scope).error().reason == Reason::ValidationFailed);
  scope = {};
  scope.kind = "glob";
  CHECK(scope_paths(context, scope).error().details["path"] == "scope.path_glob");
  scope.path_glob = "[ab]*";
  CHECK(paths(scope) == Paths{"a.md", "b.md"});
  scope = {};
  scope.kind = "tag";
  scope.tag = "#t";
  CHECK(paths(scope) == Paths{"a.md", "d.md"});
  scope = {};
  scope.kind = "query";
  scope.q = "word";
  CHECK(paths(scope) == Paths{"a.md"});
  scope = {};
  scope.kind = "note";
  scope.path = "a.md";
  CHECK(paths(scope) == Paths{"a.md"});
  scope.include_linked = 2;
  CHECK(paths(scope) == Paths{"a.md", "b.md", "c.md"});
}

TEST_CASE("a scope never leaves the paths of the caller", "[ops][A81][D32]") {
  FakeWorld world;
  world.files = {{"Public/a.md", "#t\n"}, {"Secret/b.md", "#t\n"}};
  world.principal.path_globs = {"Public/**"};
  FakeContext context(world);
  AiScope scope;

  scope.kind = "glob";
  scope.path_glob = "**";
  CHECK(scope_paths(context, scope)->paths == std::vector<std::string>{"Public/a.md"});
  scope.kind = "paths";
  scope.paths = {"Secret/b.md"};
  CHECK(scope_paths(context, scope).error().reason == Reason::Forbidden);
}

}  // namespace
TEST_CASE("tags of notes that AI may not read reach no model and no answer",
          "[ops][C52][C87][D17]") {
  FiveNotes world;
  world.config.ai.deny_globs = {"e.md"};
  world.files["d.md"] = "about gardening here #open\n";
  world.files["e.md"] = "about gardening here #canary #open\n";

  SECTION("with a model") {
    REQUIRE(run_operation(world, ai_tag(), glob_call()));
    for (const auto& request : world.requests)
      CHECK(request.messages[0].content.find("canary") == std::string::npos);
    CHECK(world.requests[0].messages[0].content.find("open") != std::string::npos);
  }
  SECTION("without one") {
    world.can_generate = false;
    const Json answer = *run_operation(
        world, ai_tag(), glob_call({{"vocabulary", {{"min_confidence", 0}}}, {"cite", false}}));
    CHECK(answer.dump().find("canary") == std::string::npos);
    for (const auto& note : answer["suggestions"])
      CHECK(note.dump().find("e.md") == note.dump().npos);
  }
}

TEST_CASE("a token limit above that of the configuration counts as it", "[ops][C48][D13]") {
  FiveNotes world;
  world.config.ai.max_output_tokens = 500;

  const Json answer = *run_operation(world, ai_tag(), glob_call({{"max_tokens", 9000}}));

  CHECK(world.requests[0].max_output_tokens == 500);
  CHECK(answer["scope_resolved"]["total_tokens"].get<int>() > 0);
}

}  // namespace indx
