#include "base/text.hpp"
#include "tests/end_to_end/ai_suite.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

namespace indx {
namespace {

/// What a run of the suite gave: the answer of each operation, then the notes as they are after it.
/// The answers are compared whole: no time, id of a job or duration is part of `data`, which leaves
/// those to the record of the job and to the events.
struct SuiteRun {
  std::vector<std::string> answers;
  std::map<std::string, std::string> files;
};

SuiteRun run_suite(const std::map<std::string, std::string>& env) {
  const TempFolder vault;
  fill_suite_vault(vault);
  RunningServer server(vault, {}, env);
  embed_suite(server);
  SuiteRun run;
  for (const auto& call : suite_calls()) {
    const auto reply = server.call("POST", call.target, call.input);
    INFO(call.name << ' ' << reply.body.dump());
    REQUIRE(reply.status == 200);
    CHECK(reply.body["data"]["source"] == "model");
    CHECK(reply.body["data"]["usage"]["output_tokens"].get<int>() > 0);
    if (call.name == "ai_ask") CHECK(reply.body["data"]["mode_used"] == "hybrid");
    run.answers.push_back(cat(call.name, ' ', reply.body["data"].dump()));
  }
  CHECK(server.stop() == 0);
  run.files = vault_files(vault);
  return run;
}

std::size_t count_fixtures(const TempFolder& folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    count += entry.path().extension() == ".json" ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("every AI operation runs from its recording without the model, twice alike",
          "[end_to_end][D21]") {
  const TempFolder fixtures;
  std::map<std::string, std::string> env = {
      {"INDX_AI_PROVIDER", "openai"},         {"INDX_AI_MODEL", "test"},
      {"INDX_EMBEDDINGS_PROVIDER", "openai"}, {"INDX_OPENAI_API_KEY", "sk-recorded"},
      {"AI_TEST_FIXTURES", fixtures.path()},  {"AI_TEST_RECORD", "1"}};
  SuiteRun recorded;
  {
    ModelServer model;
    script_suite(model);
    env["INDX_OPENAI_BASE_URL"] = model.base_url();
    recorded = run_suite(env);
    CHECK(model.counts()["calls"].get<std::size_t>() >= suite_calls().size());
  }  // from here on nobody listens at that address
  const auto count = count_fixtures(fixtures);
  CHECK(count > suite_calls().size());
  env.erase("AI_TEST_RECORD");
  env["AI_TEST_REPLAY"] = "1";

  const auto first = run_suite(env), second = run_suite(env);

  CHECK(first.answers == recorded.answers);
  CHECK(first.files == recorded.files);
  CHECK(second.answers == first.answers);
  CHECK(second.files == first.files);
  CHECK(first.files.at("Garden.md").find("owner: Ana") != std::string::npos);
  CHECK(first.files.at("Garden.md").find("- compost") != std::string::npos);
  CHECK(first.files.at("Map.md").find("## Everything") != std::string::npos);
  CHECK(count_fixtures(fixtures) == count);
}

TEST_CASE("an AI operation that was not recorded is an error that names its fixture",
          "[end_to_end][D21]") {
  const TempFolder vault, fixtures;
  fill_suite_vault(vault);
  ModelServer model;
  script_suite(model);
  RunningServer server(vault, {},
                       {{"INDX_AI_PROVIDER", "openai"},
                        {"INDX_AI_MODEL", "test"},
                        {"INDX_OPENAI_BASE_URL", model.base_url()},
                        {"INDX_OPENAI_API_KEY", "k"},
                        {"INDX_JOBS_MAX_ATTEMPTS", "1"},
                        {"AI_TEST_FIXTURES", fixtures.path()},
                        {"AI_TEST_REPLAY", "1"}});
  const auto before = vault_files(vault);

  for (const auto& call : suite_calls()) {
    const auto reply = server.call("POST", call.target, call.input);
    INFO(call.name << ' ' << reply.body.dump());
    CHECK(reply.status == 502);
    const auto& error = reply.body["error"];
    CHECK(error["code"] == "ai_provider_error");
    CHECK(error["details"]["cause"] == "replay");
    const auto fixture = error["details"].value("fixture", "");
    CHECK_FALSE(fixture.empty());
    CHECK(error["message"].get<std::string>().find(fixture) != std::string::npos);
  }

  CHECK(model.counts()["calls"] == 0);
  CHECK(vault_files(vault) == before);
}

}  // namespace indx
