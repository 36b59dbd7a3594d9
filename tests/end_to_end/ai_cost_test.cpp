#include "base/http_client.hpp"
#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"
#include "tests/support/model_server.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

namespace indx {
namespace {

std::map<std::string, std::string> priced_env(const ModelServer& model,
                                              std::map<std::string, std::string> more = {}) {
  std::map<std::string, std::string> all = {{"INDX_AI_PROVIDER", "openai"},
                                            {"INDX_AI_MODEL", "gpt-4o-mini"},
                                            {"INDX_OPENAI_BASE_URL", model.base_url()},
                                            {"INDX_OPENAI_API_KEY", "k"}};
  for (auto& [name, value] : more) all.insert_or_assign(name, value);
  return all;
}

Json tag_note(const std::string& path) { return {{"scope", {{"kind", "note"}, {"path", path}}}}; }

bool is_warned_of_hit(const Json& data) {
  for (const auto& warning : data["warnings"])
    if (warning == "ai_cache_hit") return true;
  return false;
}

/// What the program keeps beside the notes, by the name of the file.
std::map<std::string, std::string> kept_files(const TempFolder& vault) {
  std::map<std::string, std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(vault.path() + "/.indx")) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    found[entry.path().filename().string()] = std::string(std::istreambuf_iterator<char>(in), {});
  }
  return found;
}

}  // namespace

TEST_CASE("an answer outlives SIGKILL word for word, and its replay is told as one",
          "[end_to_end][D51][D52][D64][D68][D69][A77]") {
  const TempFolder vault;
  vault.write("a.md", "# A\n\nCompost warms the compost heap.\n");
  ModelServer model;
  Json first;
  {
    RunningServer server(vault, {}, priced_env(model));
    first = server.call("POST", "/v1/ai/tag", tag_note("a.md")).body["data"];
    REQUIRE_FALSE(is_warned_of_hit(first));
    server.kill();
  }
  RunningServer server(vault, {}, priced_env(model));
  EventFeed feed(server, "?kinds=ai.invocation");

  const auto again = server.call("POST", "/v1/ai/tag", tag_note("a.md")).body["data"];

  CHECK(model.counts()["calls"] == 1);
  CHECK(is_warned_of_hit(again));
  CHECK(again["suggestions"] == first["suggestions"]);
  CHECK(again["citations"] == first["citations"]);
  CHECK(again["usage"]["input_tokens"] == 0);
  CHECK(again["usage"]["output_tokens"] == 0);
  CHECK(again["usage"]["cost_usd"] == 0.0);

  REQUIRE(feed.wait_for([](const EventFeed::Frame&) { return true; }));
  const auto event = feed.frames()[0].data;
  CHECK(event["cache_hit"] == true);
  CHECK(event["usage"]["cost_usd"] == 0.0);
  const auto status = server.call("GET", "/v1/vault/status").body["data"]["ai"];
  CHECK(status["invocations_today"] == 2);
  CHECK(status["cache_hits_today"] == 1);
  CHECK(status["cache_misses_today"] == 1);
  CHECK(status["spend_today_usd"].get<double>() ==
        Approx(first["usage"]["cost_usd"].get<double>()));
  server.stop();
  std::vector<Json> logged;
  for (const auto& line : audit_lines(vault))
    if (line["kind"] == "ai.invocation") logged.push_back(line);
  REQUIRE(logged.size() == 2);
}

TEST_CASE("a retry with the same key is a replay and no second call, for questions too",
          "[end_to_end][D37][D53]") {
  const TempFolder vault;
  vault.write("a.md", "# A\n\nCompost warms the compost heap.\n");
  ModelServer model;
  const Json reply = {
      {"tldr", "T"},
      {"text", "S"},
      {"key_points",
       Json::array(
           {{{"text", "Compost warms."},
             {"citations", Json::array({{{"path", "a.md"}, {"snippet", "Compost warms"}}})}}})},
      {"open_questions", Json::array()}};
  model.script({{"reply", reply}});
  RunningServer server(vault, {}, priced_env(model));
  const auto ask = [&](const Json& more) {
    Json input = tag_note("a.md");
    input["cache"] = false;  // a replay needs no cache
    input.update(more);
    return server.call("POST", "/v1/ai/summarize", input, {{"Idempotency-Key", "once"}});
  };

  const auto first = ask(Json::object());
  const auto second = ask(Json::object());
  const auto other = ask({{"length", "short"}});

  INFO(first.body.dump());
  REQUIRE(first.status == 200);
  CHECK(second.body["data"] == first.body["data"]);
  CHECK(first.headers.count("x-indx-idempotent-replay") == 0);
  CHECK(second.headers.at("x-indx-idempotent-replay") == "true");
  CHECK(other.status == 409);
  CHECK(other.body.dump().find("idempotency_key_reused") != std::string::npos);
  CHECK(model.counts()["calls"] == 1);
}

TEST_CASE("over the limit of the day every surface says when to come back, and commands end with 7",
          "[end_to_end][D15][D54][D58][A99]") {
  const TempFolder vault;
  vault.write("a.md", "# A\n\nCompost warms the compost heap.\n");
  ModelServer model;
  const auto env = priced_env(model, {{"INDX_AI_DAILY_COST_USD", "0.0000001"}});
  {
    RunningServer server(vault, {}, env);
    const auto refused = server.call("POST", "/v1/ai/tag", tag_note("a.md"));
    CHECK(refused.status == 429);
    const auto& error = refused.body["error"];
    CHECK(error["code"] == "ai_quota_exceeded");
    CHECK(error["details"]["reset_at"].get<std::string>().ends_with("T00:00:00.000Z"));
    CHECK(refused.headers.at("retry-after") == error["details"]["retry_after_s"].dump());
    CHECK(error["details"]["retry_after_s"].get<int>() <= 86400);
  }
  const auto command =
      run_indx({"--vault", vault.path(), "ai", "tag", "--scope-paths", "a.md"}, env);
  INFO(command.out << command.err);
  CHECK(command.code == 7);
  CHECK(model.counts()["calls"] == 0);
}

TEST_CASE("commands end with 6 without a provider and with 8 when it fails", "[end_to_end][A99]") {
  const TempFolder vault;
  vault.write("a.md", "# A\n\nCompost warms the compost heap.\n");
  ModelServer model;
  model.script({{"fault", "status"}, {"status", 400}, {"message", "No."}});
  const std::vector<std::string> command = {"--vault", vault.path(),    "ai",
                                            "tag",     "--scope-paths", "a.md"};

  CHECK(run_indx(command).code == 6);
  CHECK(run_indx(command, priced_env(model)).code == 8);
}

TEST_CASE("what notes, prompts and keys hold is told nowhere", "[end_to_end][D70][D76]") {
  constexpr const char* kInNote = "canarynote7391";
  constexpr const char* kInAnswer = "canaryanswer7392";
  constexpr const char* kKey = "sk-canarykey7394";
  const TempFolder vault;
  for (const auto* name : {"a.md", "b.md", "c.md"})
    vault.write(name, cat("# Heap\n\nCompost warms ", kInNote, ".\n"));
  ModelServer model;
  model.script(
      {{"reply",
        {{"tags", Json::array({{{"tag", kInAnswer},
                                {"confidence", 0.9},
                                {"rationale", kInAnswer},
                                {"quotes", Json::array({cat("Compost warms ", kInNote)})}}})}}}});
  model.script({{"fault", "status"},
                {"status", 400},
                {"message", cat("Bad request with ", kKey, ": Compost warms ", kInNote, ".")}});
  RunningServer server(vault, {},
                       priced_env(model, {{"INDX_OPENAI_API_KEY", kKey},
                                          {"INDX_LOG_LEVEL", "debug"},
                                          {"INDX_JOBS_LANES_PER_JOB", "1"}}));
  EventFeed feed(server);

  const auto good = server.call("POST", "/v1/ai/tag", tag_note("a.md"));
  REQUIRE(good.status == 200);
  const auto bad = server.call("POST", "/v1/ai/tag", tag_note("b.md"));
  CHECK(bad.status == 502);
  const auto job = server.start_job(
      "/v1/ai/tag", {{"scope", {{"kind", "glob"}, {"path_glob", "**"}}}, {"cache", false}});
  REQUIRE_FALSE(server.wait_for_job(job).is_null());

  std::string told = bad.body.dump();
  for (const auto& target :
       {cat("/v1/jobs"), cat("/v1/jobs/", job, "/history"), cat("/v1/ai/status"),
        cat("/v1/vault/status"), cat("/v1/vault/config"), cat("/v1/queue")})
    told += server.call("GET", target).body.dump();
  for (const auto& frame : feed.frames()) told += frame.data.dump();
  HttpClientRequest metrics;
  metrics.url = server.url() + "/metrics";
  const auto page = http_exchange(metrics, {});
  REQUIRE(page);
  CHECK(page->body.find("indx_ai_tokens_total") != std::string::npos);
  told += page->body;
  server.stop();
  told += server.process().out() + server.process().err();
  const auto files = kept_files(vault);
  REQUIRE(files.contains("events.log"));
  REQUIRE(files.contains("ai-cache.db"));
  told += files.at("events.log");

  CHECK(told.find(kInNote) == std::string::npos);
  CHECK(told.find(kKey) == std::string::npos);
  CHECK(told.find(kInAnswer) == std::string::npos);
  for (const auto& [name, bytes] : files) {
    INFO(name);
    CHECK(bytes.find(kKey) == std::string::npos);
    if (!name.starts_with("state.db") && !name.starts_with("index.db") &&
        !name.starts_with("ai-cache.db"))
      CHECK(bytes.find(kInNote) == std::string::npos);
  }
}

}  // namespace indx
