#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

namespace indx {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  if (const auto at = text.find(from); at != text.npos) text.replace(at, from.size(), to);
  return text;
}

/// What differs between two runs of the same thing.
Json without_times(Json json) {
  if (json.is_object())
    for (const auto* key : {"modified", "vault_dir", "generation", "last_used_at", "took_ms",
                            "duration_ms", "rate_per_second", "updated_at"})
      json.erase(key);
  for (auto& [key, value] : json.items())
    if (value.is_structured()) value = without_times(value);
  return json;
}

/// MCP leaves out what is null, and gives values of any kind as text.
Json without_nulls(const Json& json) {
  if (!json.is_structured()) return json;
  Json kept = json.is_object() ? Json::object() : Json::array();
  for (const auto& [key, value] : json.items()) {
    if (json.is_array())
      kept.push_back(without_nulls(value));
    else if (key.ends_with("_json") && value.is_string()) {  // a value of any kind, as its text
      if (value != "null")
        kept[key.substr(0, key.size() - 5)] = Json::parse(value.get_ref<const std::string&>());
    } else if (!value.is_null())
      kept[key] = without_nulls(value);
  }
  return kept;
}

}  // namespace

TEST_CASE("an operation answers the same by REST, command line and MCP",
          "[end_to_end][A87][A95][A97]") {
  const TempFolder vault;
  fill_vault(vault);
  // Every day's note is one that is there.
  vault.write(".obsidian/daily-notes.json", R"({"format": "[Plan]"})");
  vault.write("Board.canvas", R"({"nodes":[],"edges":[]})");
  vault.write("Notes.base", "views:\n  - order: [file.name, file.tags]\n");
  // No job in the background, or two answers would differ by what it does in between.
  RunningServer server(vault, {},
                       {{"INDX_AI_PROVIDER", "builtin"}, {"INDX_EMBEDDINGS_PROVIDER", "none"}});
  server.wait_for_job(server.start_job("/v1/vault/reindex", Json::object()));
  const auto job = server.start_job(
      "/v1/ai/tag", {{"scope", {{"kind", "paths"}, {"paths", {"Plan.md"}}}}, {"apply", false}});
  server.wait_for_job(job);
  std::map<std::string, std::string> values = {
      {"path", "Plan.md"}, {"q", "quarterly"}, {"id", job}, {"tag", "work"}};
  const std::vector<std::pair<std::string, std::string>> mcp_headers = {
      {"Accept", "application/json, text/event-stream"}};
  const auto hello = server.call("POST", "/mcp",
                                 {{"jsonrpc", "2.0"},
                                  {"id", 1},
                                  {"method", "initialize"},
                                  {"params",
                                   {{"protocolVersion", "2025-11-25"},
                                    {"capabilities", Json::object()},
                                    {"clientInfo", {{"name", "t"}, {"version", "1"}}}}}},
                                 mcp_headers);
  const auto mcp = [&](const std::string& method, const Json& params) {
    auto headers = mcp_headers;
    headers.emplace_back("Mcp-Session-Id", hello.headers.at("mcp-session-id"));
    return server
        .call("POST", "/mcp",
              {{"jsonrpc", "2.0"}, {"id", 2}, {"method", method}, {"params", params}}, headers)
        .body["result"];
  };
  std::set<std::string> tools;
  const Json catalog = mcp("tools/list", Json::object());
  for (const auto& tool : catalog["tools"]) tools.insert(tool["name"].get<std::string>());
  int compared = 0, compared_with_mcp = 0;

  const Json contract = Json::parse(run_indx({"schema"}).out, nullptr, false);
  for (const auto& operation : contract["operations"]) {
    const auto name = operation["name"].get<std::string>();
    if (operation["effect"] != "reads" || operation["cli"].get<std::string>().empty()) continue;
    const auto required = operation["input"].value("required", std::vector<std::string>());
    if (!std::all_of(required.begin(), required.end(),
                     [&](const std::string& field) { return values.contains(field); }))
      continue;
    INFO(name);
    if (name == "attachment_read") continue;  // answers with a file: attachment_test.cpp
    values["path"] = name.starts_with("canvas_") ? "Board.canvas"
                     : name.starts_with("base_") ? "Notes.base"
                                                 : "Plan.md";
    std::vector<std::string> args = {"--vault", vault.path()};
    for (const auto& word : split(operation["cli"].get<std::string>(), ' ')) {
      if (word == "indx" || word.starts_with("[")) continue;
      const bool is_value =
          std::all_of(word.begin(), word.end(), [](char c) { return c < 'a' || c > 'z'; });
      std::string field = word;
      std::transform(field.begin(), field.end(), field.begin(),
                     [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
      args.push_back(is_value ? values.at(field) : word);
    }
    auto target = operation["http"]["path"].get<std::string>();
    std::string query;
    for (const auto& field : required) {
      if (target.find("{" + field + "}") != target.npos)
        target = replaced(target, "{" + field + "}", values.at(field));
      else
        query += cat(query.empty() ? "?" : "&", field, "=", values.at(field));
    }
    const auto method = operation["http"]["method"].get<std::string>();
    const auto reply = server.call(method, target + query);
    const auto printed = run_indx(args);

    CHECK(reply.status == 200);
    CHECK(printed.code == 0);
    INFO(printed.err);
    const auto shown = Json::parse(printed.out, nullptr, false);
    if (method == "HEAD")
      CHECK(shown["exists"] == true);
    else
      CHECK(without_times(shown) == without_times(reply.body["data"]));
    ++compared;
    if (!tools.contains(name)) continue;
    Json arguments = Json::object();
    for (const auto& field : required) arguments[field] = values.at(field);
    const auto told = mcp("tools/call", {{"name", name}, {"arguments", arguments}});
    CHECK(without_times(without_nulls(told["structuredContent"])) ==
          without_times(without_nulls(shown)));
    ++compared_with_mcp;
  }
  CHECK(compared >= 11);
  CHECK(compared_with_mcp >= 10);
}

TEST_CASE("a command that writes does what its route does", "[end_to_end][A95]") {
  struct Pair {
    std::vector<std::string> args;
    std::string method, target;
    Json body;
  };
  const Json ops = {{{"op", "append_body"}, {"markdown", "more"}},
                    {{"op", "set_frontmatter"}, {"key", "k"}, {"value", 1}}};
  const std::vector<Pair> pairs = {
      {{"note", "update", "New.md", "--body", "# New\n"},
       "PUT",
       "/v1/notes/New.md",
       {{"body", "# New\n"}}},
      {{"note", "patch", "Plan.md", "--ops", ops.dump()},
       "PATCH",
       "/v1/notes/Plan.md",
       {{"ops", ops}}},
      {{"note", "move", "Daily/2026-11-28.md", "Daily/Log/First.md"},
       "POST",
       "/v1/notes/Daily/2026-11-28.md/move",
       {{"to", "Daily/Log/First.md"}}},
      {{"tag", "rename", "finance", "money"},
       "POST",
       "/v1/tags/rename",
       {{"from", "finance"}, {"to", "money"}}},
      {{"ai", "tag", "--scope-glob", "**", "--apply"},
       "POST",
       "/v1/ai/tag",
       {{"scope", {{"kind", "glob"}, {"path_glob", "**"}}}, {"apply", true}}},
      {{"vault", "index", "--rebuild"}, "POST", "/v1/vault/reindex", {{"rebuild", true}}},
      {{"note", "delete", "Budget.md", "--yes"}, "DELETE", "/v1/notes/Budget.md", Json()}};
  const TempFolder by_command, by_route;
  fill_vault(by_command);
  fill_vault(by_route);
  const std::map<std::string, std::string> env = {{"INDX_AI_PROVIDER", "builtin"},
                                                  {"INDX_EMBEDDINGS_PROVIDER", "none"}};
  RunningServer first(by_command, {}, env), second(by_route, {}, env);

  for (const auto& pair : pairs) {
    auto args = pair.args;
    args.insert(args.begin(), {"--vault", by_command.path()});
    INFO(join(pair.args, " "));
    const auto printed = run_indx(args);
    const auto reply = second.call(pair.method, pair.target, pair.body);
    INFO(printed.err);
    CHECK(printed.code == 0);
    CHECK(reply.status == 200);
    CHECK(without_times(Json::parse(printed.out, nullptr, false)) ==
          without_times(reply.body["data"]));
    CHECK(vault_files(by_command) == vault_files(by_route));
  }
}

}  // namespace indx
