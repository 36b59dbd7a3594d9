#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"
#include "tests/support/model_server.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>

namespace indx {
namespace {

using AiEnv = std::map<std::string, std::string>;

AiEnv cli_model_env(const ModelServer& model) {
  return {{"INDX_AI_PROVIDER", "openai"},
          {"INDX_AI_MODEL", "test"},
          {"INDX_OPENAI_BASE_URL", model.base_url()},
          {"INDX_OPENAI_API_KEY", "k"}};
}

/// What a person sees of `indx ai …` on a terminal of 80 columns; empty: there are no terminals.
std::string ai_on_terminal(const TempFolder& vault, const std::string& rest, AiEnv env) {
  if (!std::filesystem::exists("/usr/bin/script")) return "";
  env.try_emplace("TERM", "xterm");
  ProcessSpec spec;
  spec.program = "/usr/bin/script";
  spec.args = {"-qec",
               cat("stty cols 80; '", INDX_PROGRAM, "' --vault '", vault.path(), "' ai ", rest),
               "/dev/null"};
  spec.env = std::move(env);
  spec.input = "";
  return run_process(spec, std::chrono::seconds(60)).out;
}
bool ai_shows(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Json everywhere() { return {{"kind", "glob"}, {"path_glob", "**"}}; }

Json items_reply(const std::string& task, int hours) {
  return {{"data", Json::array({{{"task", task}, {"hours", hours}}})},
          {"confidence", 0.9},
          {"citations", Json::array({{{"field", "/0/task"}, {"quote", task}}})}};
}

}  // namespace

TEST_CASE("an estimate on the command line and over REST asks no model and writes nothing",
          "[end_to_end][estimate]") {
  const TempFolder vault;
  fill_vault(vault);
  const auto before = vault_files(vault);
  ModelServer model;

  const auto run = run_indx(
      {"--vault", vault.path(), "ai", "tag", "--scope-glob", "**", "--apply", "--estimate"},
      cli_model_env(model));

  INFO(run.err);
  REQUIRE(run.code == 0);
  const Json estimate = Json::parse(run.out, nullptr, false).value("estimate", Json());
  REQUIRE(estimate.is_object());
  CHECK(estimate["notes"] == 3);
  CHECK(estimate["calls"] == 3);
  CHECK(estimate["input_tokens"] > 0);
  CHECK(estimate["output_tokens"] > 0);
  CHECK(estimate["cost_usd"].is_null());  // nobody knows the price of a model named `test`

  RunningServer server(vault, {}, cli_model_env(model));
  const auto reply =
      server.call("POST", "/v1/ai/summarize", {{"scope", everywhere()}, {"estimate", true}});
  INFO(reply.body.dump());
  REQUIRE(reply.status == 200);  // no job, though there are three notes
  CHECK(reply.body["data"]["estimate"]["notes"] == 3);
  CHECK(reply.body["data"]["estimate"]["calls"] == 1);
  CHECK(server.stop() == 0);

  CHECK(model.counts()["calls"] == 0);
  CHECK(vault_files(vault) == before);
  const auto audit = audit_lines(vault);
  CHECK(std::none_of(audit.begin(), audit.end(),
                     [](const Json& line) { return line.value("kind", "") == "ai.invocation"; }));
}

TEST_CASE("an estimate without a model costs nothing", "[end_to_end][estimate]") {
  const TempFolder vault;
  fill_vault(vault);

  const auto run =
      run_indx({"--vault", vault.path(), "ai", "summarize", "--scope-glob", "**", "--estimate"},
               {{"INDX_AI_PROVIDER", "builtin"}});

  INFO(run.err);
  REQUIRE(run.code == 0);
  const Json estimate = Json::parse(run.out, nullptr, false).value("estimate", Json());
  CHECK(estimate["calls"] == 0);
  CHECK(estimate["cost_usd"] == 0);
}

TEST_CASE("an AI answer is a text on a terminal and JSON elsewhere", "[end_to_end][D75]") {
  const TempFolder vault;
  vault.write("a.md",
              "# Launch\n\nWe ship the reader in spring.\n\n"
              "The \x1b]0;owned\x07 team waits for the audit of the reader.\n");
  const AiEnv builtin = {{"INDX_AI_PROVIDER", "builtin"}};
  const std::string call = "summarize --scope-note a.md --length long";

  const auto text = ai_on_terminal(vault, call, builtin);
  if (text.empty()) {
    WARN("skipped: no /usr/bin/script here, so nothing can be a terminal");
    return;
  }
  INFO(text);
  CHECK(ai_shows(text, "Sources"));
  CHECK(ai_shows(text, "a.md:3"));
  CHECK(ai_shows(text, "1 note · no model asked"));
  CHECK(ai_shows(text, "\x1b[1mSources\x1b[0m"));
  CHECK_FALSE(ai_shows(text, "\"citations\""));
  CHECK_FALSE(ai_shows(text, "\x1b]0;"));
  auto plain = builtin;
  plain["NO_COLOR"] = "1";
  const auto uncoloured = ai_on_terminal(vault, call, plain);
  CHECK(ai_shows(uncoloured, "Sources"));
  CHECK_FALSE(ai_shows(uncoloured, "\x1b[1m"));
  CHECK(ai_shows(ai_on_terminal(vault, call + " --json", builtin), "\"citations\""));
  const auto piped =
      run_indx({"--vault", vault.path(), "ai", "summarize", "--scope-note", "a.md"}, builtin);
  CHECK(Json::parse(piped.out, nullptr, false)["source"] == "extractive");
}

TEST_CASE("a run over many notes shows a bar while it works", "[end_to_end]") {
  const TempFolder vault;
  vault.write("a.md", "# A\n\nAlphaword gardens grow.\n");
  vault.write("b.md", "# B\n\nBetaword gardens grow.\n");
  vault.write("c.md", "# C\n\nGammaword gardens grow.\n");
  ModelServer model(0, milliseconds(300));

  const auto text = ai_on_terminal(vault, "tag --scope-glob '**'", cli_model_env(model));

  if (text.empty()) {
    WARN("skipped: no /usr/bin/script here, so nothing can be a terminal");
    return;
  }
  INFO(text);
  CHECK(ai_shows(text, "/3 suggest"));
  CHECK(ai_shows(text, "Suggestions"));
  CHECK(ai_shows(text, "price unknown"));
}

TEST_CASE("a list that ai extract wrote into properties is what a base filters on",
          "[end_to_end][A59]") {
  const TempFolder vault;
  vault.write("a.md", "# Monday\n\nAna will call the printer.\n");
  vault.write("b.md", "# Tuesday\n\nWe take a nap.\n");
  vault.write("c.md", "# Not asked\n");
  vault.write("long.base",
              "filters:\n  and:\n    - 'action_items'\n"
              "    - 'action_items.filter(value.hours > 2).length == 1'\n"
              "views:\n  - type: table\n    name: T\n    order: [file.name, action_items]\n");
  vault.write("schema.json",
              R"({"type":"array","items":{"type":"object","required":["task"],"properties":
                  {"task":{"type":"string"},"hours":{"type":"integer"}}}})");
  ModelServer model;
  model.script({{"reply", items_reply("call the printer", 3)}, {"if_contains", "printer"}});
  model.script({{"reply", items_reply("take a nap", 1)}, {"if_contains", "nap"}});

  const auto run = run_indx({"--vault", vault.path(), "ai", "extract", "--scope-paths", "a.md,b.md",
                             "--schema-file", vault.path() + "/schema.json", "--destination",
                             "frontmatter", "--destination-key", "action_items", "--apply"},
                            cli_model_env(model));
  const auto found = run_indx({"--vault", vault.path(), "base", "query", "long.base"});

  INFO(run.out << run.err << found.out << found.err);
  REQUIRE(run.code == 0);
  CHECK(Json::parse(run.out, nullptr, false)["applied"].size() == 2);
  REQUIRE(found.code == 0);
  const Json rows = Json::parse(found.out, nullptr, false).value("rows", Json::array());
  REQUIRE(rows.size() == 1);
  CHECK(rows[0]["path"] == "a.md");
  CHECK(rows[0]["cells"]["action_items"] ==
        Json::array({{{"task", "call the printer"}, {"hours", 3}}}));
}

}  // namespace indx
