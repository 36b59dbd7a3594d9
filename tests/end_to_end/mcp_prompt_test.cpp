#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"

#include <catch2/catch.hpp>

#include <set>

namespace indx {
namespace {

/// One stdio client; each request waits for its answer.
class PromptClient {
 public:
  explicit PromptClient(const TempFolder& vault, const std::vector<std::string>& flags = {})
      : process_(indx_spec(command(flags), {{"INDX_VAULT", vault.path()}})) {
    ask("initialize", {{"protocolVersion", "2025-11-25"},
                       {"capabilities", Json::object()},
                       {"clientInfo", {{"name", "test"}, {"version", "1"}}}});
    process_.write(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
                   "\n");
  }

  Json ask(const std::string& method, const Json& params = Json::object()) {
    const int id = ++last_id_;
    const Json request = {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}};
    process_.write(request.dump() + "\n");
    process_.wait_for_out(cat("\"id\":", id, ","), std::chrono::seconds(60));
    wait_until([&] { return process_.out().ends_with('\n'); });
    for (const auto& line : split(process_.out(), '\n')) {
      const Json message = Json::parse(line, nullptr, false);
      if (message.is_object() && message.value("id", Json()) == id) return message;
    }
    return Json::object();
  }
  std::string out() const { return process_.out(); }
  /// The text of a prompt, once the vault is indexed.
  std::string prompt_text(const std::string& name, const Json& arguments = Json::object()) {
    wait_until([&] {
      Json status = ask("tools/call", {{"name", "vault_status"}});
      Json& content = status["result"]["structuredContent"];
      return content["indexing"]["state"] == "idle" && content["counts"]["notes"] > 0;
    });
    Json answer = ask("prompts/get", {{"name", name}, {"arguments", arguments}});
    INFO(answer.dump());
    REQUIRE(answer.contains("result"));
    return answer["result"]["messages"][0]["content"]["text"].get<std::string>();
  }

 private:
  static std::vector<std::string> command(const std::vector<std::string>& flags) {
    std::vector<std::string> args = {"mcp", "serve", "--stdio"};
    args.insert(args.end(), flags.begin(), flags.end());
    return args;
  }
  Process process_;
  int last_id_ = 0;
};

void fill_prompt_vault(const TempFolder& vault) {
  vault.write("Hub.md", "#garden\n\n[[Leaf]] and [[Nowhere to go]]\n");
  vault.write("Leaf.md", "#garden #soil\n\n[[Hub]]\n");
  vault.write("Lone.md", "alone\n");
  vault.write("Daily/2026-05-01.md", "- sowed beans\n");
  vault.write(".obsidian/daily-notes.json", R"({"folder":"Daily"})");
}

bool prompt_says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("prompts over stdio are listed with tools of the catalog", "[end_to_end][mcp][B66]") {
  const TempFolder vault;
  fill_prompt_vault(vault);
  for (const auto* scopes : {"vault:read", "vault:read,vault:write"}) {
    PromptClient client(vault, {"--scopes", scopes});
    std::set<std::string> catalog;
    Json tools = client.ask("tools/list");
    for (const Json& tool : tools["result"]["tools"]) catalog.insert(tool["name"]);

    Json listed = client.ask("prompts/list");

    REQUIRE(listed["result"]["prompts"].size() == 5);
    for (const Json& prompt : listed["result"]["prompts"]) {
      CHECK_FALSE(prompt["description"].get<std::string>().empty());
      CHECK_FALSE(prompt["_meta"]["tools"].empty());
      Json got = client.ask("prompts/get", {{"name", prompt["name"]}});
      CHECK_FALSE(got["result"]["messages"].empty());
      for (const Json& tool : got["result"]["_meta"]["tools"])
        CHECK(catalog.count(tool.get<std::string>()) == 1);
    }
    CHECK(client.ask("prompts/list", {{"cursor", "x"}})["error"]["code"] == -32602);
    CHECK(client.ask("prompts/get", {{"name", "nothing"}})["error"]["code"] == -32602);
  }
}

TEST_CASE("prompts show what the vault holds", "[end_to_end][mcp][B61][B63][B64]") {
  const TempFolder vault;
  fill_prompt_vault(vault);
  PromptClient client(vault);

  const auto summary = client.prompt_text("vault_summary");
  const auto orphans = client.prompt_text("link_orphans", {{"limit", "50"}});
  const auto broken = client.prompt_text("cleanup_unresolved_links");

  CHECK(prompt_says(summary, "4 notes among"));
  CHECK(prompt_says(summary, R"("tag":"garden","count":2)"));
  CHECK(prompt_says(summary, R"("path":"Lone.md")"));
  CHECK(prompt_says(orphans, R"("path":"Lone.md")"));
  CHECK_FALSE(prompt_says(orphans, R"("path":"Leaf.md")"));
  CHECK(prompt_says(broken, R"("target":"Nowhere to go")"));
  CHECK(prompt_says(broken, R"("in":["Hub.md"])"));
}

TEST_CASE("the daily prompt names the note of its date and makes no file",
          "[end_to_end][mcp][B62]") {
  const TempFolder vault;
  fill_prompt_vault(vault);
  const auto before = vault_files(vault);
  PromptClient client(vault);

  const auto there = client.prompt_text("daily_note", {{"date", "2026-05-01"}});
  const auto missing = client.prompt_text("daily_note", {{"date", "2026-05-02"}});
  Json bad = client.ask("prompts/get", {{"name", "daily_note"}, {"arguments", {{"date", "May"}}}});

  CHECK(prompt_says(there, R"("path":"Daily/2026-05-01.md","exists":true,"body":"- sowed beans)"));
  CHECK(prompt_says(missing, R"("path":"Daily/2026-05-02.md","exists":false)"));
  CHECK(bad["error"]["code"] == -32602);
  CHECK(bad["error"]["data"]["argument"] == "date");
  CHECK(vault_files(vault) == before);
}

TEST_CASE("the weekly prompt lists changes of this week and none of another",
          "[end_to_end][mcp][B65]") {
  const TempFolder vault;
  fill_prompt_vault(vault);
  PromptClient client(vault);

  const auto now = client.prompt_text("weekly_review");
  const auto then = client.prompt_text("weekly_review", {{"week_of", "2001-01-07"}});

  CHECK(prompt_says(now, R"("path":"Lone.md")"));
  CHECK(prompt_says(then, "from 2001-01-01 to 2001-01-07"));
  CHECK(prompt_says(then, "0 notes"));
  CHECK_FALSE(prompt_says(then, "Lone.md"));
}

TEST_CASE("completion offers days for prompts and paths for resources", "[end_to_end][mcp]") {
  const TempFolder vault;
  fill_prompt_vault(vault);
  PromptClient client(vault, {"--scopes", "vault:read,path:Daily/**"});
  client.prompt_text("vault_summary");

  Json days =
      client.ask("completion/complete", {{"ref", {{"type", "ref/prompt"}, {"name", "daily_note"}}},
                                         {"argument", {{"name", "date"}, {"value", "to"}}}});
  Json paths = client.ask("completion/complete",
                          {{"ref", {{"type", "ref/resource"}, {"uri", "vault://{+path}"}}},
                           {"argument", {{"name", "path"}, {"value", ""}}}});

  CHECK(days["result"]["completion"]["values"] == Json::array({"today", "tomorrow"}));
  CHECK(paths["result"]["completion"]["values"] == Json::array({"Daily/2026-05-01.md"}));
}

TEST_CASE("a stdio client that asks for log lines hears of a call that failed",
          "[end_to_end][mcp][B72]") {
  const TempFolder vault;
  fill_prompt_vault(vault);
  PromptClient client(vault);
  CHECK(client.ask("logging/setLevel", {{"level", "shout"}})["error"]["code"] == -32602);
  CHECK(client.ask("logging/setLevel", {{"level", "warning"}})["result"] == Json::object());

  client.ask("tools/call", {{"name", "note_read"}, {"arguments", {{"path", "Absent.md"}}}});

  CHECK(prompt_says(client.out(), R"("method":"notifications/message")"));
  CHECK(prompt_says(client.out(), R"("code":"not_found")"));
}

}  // namespace indx
