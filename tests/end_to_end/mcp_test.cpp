#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

const std::string kInitialize =
    R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}})"
    "\n"
    R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
    "\n";
const std::string kListTools = R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})"
                               "\n";

/// The answer with this id among the lines, each of which must be JSON-RPC.
Json answer_of(const std::string& out, int id) {
  Json found;
  for (const auto& line : split(out, '\n')) {
    if (line.empty()) continue;
    const Json message = Json::parse(line, nullptr, false);
    CHECK(message.is_object());
    if (message.is_object() && message.value("id", Json()) == id) found = message;
  }
  return found;
}

bool has_tool(const Json& answer, const std::string& name) {
  for (const auto& tool : answer["result"]["tools"])
    if (tool["name"] == name) return true;
  return false;
}

Finished talk(const TempFolder& vault, const std::vector<std::string>& flags,
              const std::string& request) {
  std::vector<std::string> args = {"mcp", "serve", "--stdio"};
  args.insert(args.end(), flags.begin(), flags.end());
  Process process(indx_spec(args, {{"INDX_VAULT", vault.path()}}));
  process.write(kInitialize + request);
  process.wait_for_out("\"id\":2", std::chrono::seconds(60));
  process.close_input();
  const auto code = process.wait();
  return {code.value_or(-1), process.out(), process.err()};
}

}  // namespace

TEST_CASE("an MCP client over stdio is greeted and sees tools to read and write",
          "[end_to_end][B1][B7]") {
  const TempFolder vault;
  fill_vault(vault);

  const auto done = talk(vault, {}, kListTools);

  CHECK(done.code == 0);
  CHECK(answer_of(done.out, 1)["result"]["serverInfo"]["name"] == "indx");
  CHECK(has_tool(answer_of(done.out, 2), "note_read"));
  CHECK(has_tool(answer_of(done.out, 2), "note_write"));
}

TEST_CASE("scopes hide the tools that they do not allow", "[end_to_end][B7][B9]") {
  const TempFolder vault;
  fill_vault(vault);

  const auto alone = talk(vault, {"--scopes", "vault:read"}, kListTools);

  CHECK(has_tool(answer_of(alone.out, 2), "note_read"));
  CHECK_FALSE(has_tool(answer_of(alone.out, 2), "note_write"));

  // What is hidden is refused, also where another surface would let this caller.
  const auto hidden = talk(
      vault, {"--scopes", "vault:read"},
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"job_manage","arguments":{"action":"schedule_delete","name":"x"}}})"
      "\n");
  const Json result = answer_of(hidden.out, 2)["result"];
  REQUIRE(result["isError"] == true);
  const Json told = Json::parse(result["content"][0]["text"].get<std::string>());
  CHECK(told["code"] == "forbidden");
  CHECK(told["details"]["required_scopes"] == Json{"vault:write"});
}

TEST_CASE("a stdio client beside a live server is served through it, with its own rights",
          "[end_to_end][B7]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);
  const std::string write =
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"note_write","arguments":{"path":"X.md","body":"x"}}})"
      "\n";
  const std::string read =
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"note_read","arguments":{"path":"Plan.md"}}})"
      "\n";

  const auto reading = talk(vault, {"--scopes", "vault:read"}, read);
  const auto writing = talk(vault, {"--scopes", "vault:read"}, write);

  CHECK(answer_of(reading.out, 2)["result"]["structuredContent"]["path"] == "Plan.md");
  CHECK(vault.read("X.md").empty());
  CHECK(writing.out.find("\"id\":2") != std::string::npos);
}

TEST_CASE("commands reach the vault that a stdio server holds", "[end_to_end][A97]") {
  const TempFolder vault;
  fill_vault(vault);
  Process holder(indx_spec({"mcp", "serve", "--stdio", "--vault", vault.path()}));
  holder.write(kInitialize);
  REQUIRE(holder.wait_for_out("\"id\":1", std::chrono::seconds(60)));

  const auto done = run_indx({"--vault", vault.path(), "note", "exists", "Plan.md"});

  CHECK(done.code == 0);
  CHECK(Json::parse(done.out, nullptr, false)["exists"] == true);
}

}  // namespace indx
