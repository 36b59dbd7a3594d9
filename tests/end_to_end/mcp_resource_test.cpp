#include "base/hash.hpp"
#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <thread>

namespace indx {
namespace {

constexpr std::chrono::seconds kHostPatience{60};

/// An MCP client of `indx mcp serve --stdio`, ready for requests.
class StdioHost {
 public:
  explicit StdioHost(const TempFolder& vault, std::map<std::string, std::string> env = {})
      : process_(indx_spec({"mcp", "serve", "--stdio"}, with_vault(std::move(env), vault))) {
    const Json answer = request("initialize", {{"protocolVersion", "2025-11-25"},
                                               {"capabilities", Json::object()},
                                               {"clientInfo", {{"name", "t"}, {"version", "1"}}}});
    CHECK(answer["result"]["capabilities"]["resources"]["subscribe"] == true);
    send({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}});
    // The index is at rest when an answer says nothing of it.
    wait_until(
        [&] {
          return !tool("vault_search", {{"q", "zzz"}}).contains("indexing");
        },
        kHostPatience);
  }

  Json request(const std::string& method, const Json& params) {
    const int id = ++last_id_;
    send({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}});
    Json found;
    wait_until(
        [&] {
          for (Json& message : messages())
            if (message.value("id", Json()) == id) found = std::move(message);
          return !found.is_null();
        },
        kHostPatience);
    return found;
  }
  Json tool(const std::string& name, const Json& arguments) {
    return request("tools/call",
                   {{"name", name}, {"arguments", arguments}})["result"]["structuredContent"];
  }
  Json read(const std::string& uri) {
    const Json answer = request("resources/read", {{"uri", uri}});
    INFO(answer);
    CHECK(answer.contains("result"));
    return answer["result"]["contents"][0];
  }
  Json document(const std::string& uri) {
    const Json content = read(uri);
    CHECK(content["mimeType"] == "application/json");
    return Json::parse(content["text"].get<std::string>(), nullptr, false);
  }
  std::vector<std::string> updates() const {
    std::vector<std::string> uris;
    for (const Json& message : messages())
      if (message.value("method", "") == "notifications/resources/updated")
        uris.push_back(message["params"]["uri"].get<std::string>());
    return uris;
  }
  std::size_t count(const std::string& method) const {
    const auto all = messages();
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const Json& each) {
      return each.value("method", "") == method;
    }));
  }
  bool wait_for_updates(std::size_t count) const {
    return wait_until([&] { return updates().size() >= count; }, kHostPatience);
  }

 private:
  static std::map<std::string, std::string> with_vault(std::map<std::string, std::string> env,
                                                       const TempFolder& vault) {
    env["INDX_VAULT"] = vault.path();
    return env;
  }
  void send(const Json& message) const { process_.write(message.dump() + "\n"); }
  std::vector<Json> messages() const {
    std::vector<Json> all;
    auto lines = split(process_.out(), '\n');
    lines.pop_back();  // not ended yet, or empty
    for (const auto& line : lines) {
      all.push_back(Json::parse(line, nullptr, false));
      CHECK(all.back().is_object());
    }
    return all;
  }

  Process process_;
  int last_id_ = 0;
};

/// As structured content shows it: without the members that are null.
Json without_null_members(Json value) {
  for (auto it = value.begin(); value.is_object() && it != value.end();)
    it = it->is_null() ? value.erase(it) : std::next(it);
  if (value.is_structured())
    for (auto& each : value) each = without_null_members(std::move(each));
  return value;
}

void pause_for_silence() { std::this_thread::sleep_for(std::chrono::milliseconds(1500)); }

}  // namespace

TEST_CASE("the bytes of every file come through its URI, whatever it is named",
          "[end_to_end][B49][B54][B56]") {
  const TempFolder vault;
  const std::map<std::string, std::string> files = {
      {"Plan.md", "---\r\na: 1\r\n---\r\n# Plan\r\n"},
      {"search/100% #1? [x] {y} 日本.md", "odd name\n"},
      {"no text.md", std::string("a\xFF\0b", 4)},
      {"img/p&q.png", std::string("\x89PNG\r\n\x1A\n\0", 9)},
      {"b.canvas", "{\"nodes\":[],\"edges\":[]}\n"},
      {"t.base", "views:\n  - type: table\n    name: All\n"}};
  for (const auto& [path, bytes] : files) vault.write(path, bytes);
  StdioHost host(vault);

  Json params = Json::object();
  std::vector<std::string> seen;
  for (int page = 0; page < 20; ++page) {
    const Json list = host.request("resources/list", params)["result"];
    for (const Json& entry : list["resources"]) {
      const auto uri = entry["uri"].get<std::string>();
      const auto file = files.find(entry["name"].get<std::string>());
      if (file == files.end()) continue;  // synthetic
      seen.push_back(file->first);
      const Json content = host.read(uri);
      CHECK(content["mimeType"].is_string());
      const bool is_text = content.contains("text");
      const auto given = content[is_text ? "text" : "blob"].get<std::string>();
      CHECK((is_text ? given : base64_decode(given).bytes) == file->second);
    }
    if (!list.contains("nextCursor")) break;
    params["cursor"] = list["nextCursor"];
  }

  CHECK(seen.size() == files.size());
  CHECK(host.read("vault://canvas/b.canvas")["text"] == files.at("b.canvas"));
  CHECK(host.read("vault://canvas/b.canvas")["mimeType"] == "application/json");
  CHECK(without_null_members(host.document("vault://base/t.base")) ==
        host.tool("base_query", {{"path", "t.base"}}));
  CHECK(host.document("vault://base/t.base")["rows"].size() > 1);
  for (const char* uri : {"vault://no.md", "vault://no.png", "vault://canvas/no.canvas"}) {
    const Json error = host.request("resources/read", {{"uri", uri}})["error"];
    CHECK(error["code"] == -32002);
    CHECK(error["data"] == Json{{"uri", uri}});
  }
}

TEST_CASE("the list of resources covers the vault in pages", "[end_to_end][B55]") {
  const TempFolder vault;
  std::set<std::string> expected;
  for (int i = 0; i < 450; ++i) {
    const std::string path = cat("f", i % 7, "/n", i, i % 10 == 0 ? ".png" : ".md");
    vault.write(path, "x\n");
    expected.insert(path);
  }
  StdioHost host(vault);

  std::multiset<std::string> named;
  Json params = Json::object();
  int pages = 0;
  for (; pages < 20; ++pages) {
    const Json list = host.request("resources/list", params)["result"];
    for (const Json& entry : list["resources"])
      if (expected.contains(entry["name"].get<std::string>()))
        named.insert(entry["name"].get<std::string>());
    if (!list.contains("nextCursor")) break;
    params["cursor"] = list["nextCursor"];
  }

  CHECK(pages > 0);
  CHECK(std::set<std::string>(named.begin(), named.end()) == expected);
  CHECK(named.size() == expected.size());
  const Json templates = host.request("resources/templates/list", Json::object())["result"];
  CHECK(templates["resourceTemplates"].size() >= 7);
}

TEST_CASE("synthetic resources equal what their tools say", "[end_to_end][B50][B51][B52][B53]") {
  const TempFolder vault;
  fill_vault(vault);
  vault.write("Twice.md", "[[Plan]] [[Plan#Plan]] [[Budget]] [[nowhere]] [web](https://x.org)\n");
  vault.write("deep/Self.md", "# A\n\n[[#A]] ![[Plan]]\n");
  StdioHost host(vault);

  CHECK(without_null_members(host.document("vault://search?q=plan&mode=lexical")) ==
        host.tool("vault_search", {{"q", "plan"}, {"mode", "lexical"}}));
  CHECK(without_null_members(host.document("vault://tags")) ==
        host.tool("tag_list", Json::object()));
  CHECK(without_null_members(host.document("vault://graph/backlinks/Plan.md")) ==
        host.tool("link_backlinks", {{"path", "Plan.md"}}));
  CHECK(without_null_members(host.document("vault://graph/forward/Twice.md")) ==
        host.tool("link_forward", {{"path", "Twice.md"}}));

  std::map<std::pair<std::string, std::string>, int> expected, edges;
  for (const char* path :
       {"Plan.md", "Budget.md", "Daily/2026-11-28.md", "Twice.md", "deep/Self.md"}) {
    const Json told = host.tool("link_forward", {{"path", path}});
    for (const Json& link : told["links"])
      if (link.contains("path")) ++expected[{path, link["path"].get<std::string>()}];
  }
  std::string uri = "vault://graph?limit=2";
  for (int page = 0; page < 10; ++page) {
    const Json graph = host.document(uri);
    for (const Json& edge : graph["edges"])
      edges[{edge["source"].get<std::string>(), edge["target"].get<std::string>()}] +=
          edge["count"].get<int>();
    if (!graph["next_cursor"].is_string()) break;
    uri = cat("vault://graph?limit=2&cursor=",
              percent_encode(graph["next_cursor"].get<std::string>()));
  }
  CHECK(edges == expected);
  CHECK(expected.size() >= 4);
}

TEST_CASE("a folder is watched: changes inside are told, by tools and by others, outside ones not",
          "[end_to_end][B57]") {
  const TempFolder vault;
  fill_vault(vault);
  StdioHost host(vault);
  REQUIRE(host.request("resources/subscribe", {{"uri", "vault://Daily/**"}}).contains("result"));

  host.tool("note_write", {{"path", "Outside.md"}, {"body", "x"}});
  host.tool("note_write", {{"path", "Daily/new one.md"}, {"body", "x"}});
  REQUIRE(host.wait_for_updates(1));
  CHECK(host.updates() == std::vector<std::string>{"vault://Daily/new%20one.md"});

  vault.write("Budget.md", "changed by another program\n");
  vault.write("Daily/2026-11-28.md", "changed by another program\n");
  REQUIRE(host.wait_for_updates(2));
  pause_for_silence();
  CHECK(host.updates().back() == "vault://Daily/2026-11-28.md");
  CHECK(host.updates().size() == 2);
  CHECK(host.count("notifications/resources/list_changed") >= 1);

  REQUIRE(host.request("resources/unsubscribe", {{"uri", "vault://Daily/**"}}).contains("result"));
  host.tool("note_write", {{"path", "Daily/late.md"}, {"body", "x"}});
  pause_for_silence();
  CHECK(host.updates().size() == 2);
}

TEST_CASE("a subscribed search tells once that a note came into its results", "[end_to_end][B58]") {
  const TempFolder vault;
  fill_vault(vault);
  StdioHost host(vault);
  const std::string uri = "vault://search?q=todo&mode=lexical";
  REQUIRE(host.request("resources/subscribe", {{"uri", uri}}).contains("result"));

  host.tool("note_write", {{"path", "Other.md"}, {"body", "nothing to do"}});
  host.tool("note_write", {{"path", "Todo.md"}, {"body", "todo: buy milk"}});

  REQUIRE(host.wait_for_updates(1));
  pause_for_silence();
  CHECK(host.updates() == std::vector<std::string>{uri});
  CHECK(host.document(uri)["results"][0]["path"] == "Todo.md");
}

TEST_CASE("a summary by AI is told of and made anew when a note of its scope changes",
          "[end_to_end][B59][B60]") {
  const TempFolder vault;
  fill_vault(vault);
  vault.write("Trip/Rome.md", "# Rome\n\nThe train to Rome leaves at nine in the morning.\n");
  StdioHost host(vault, {{"INDX_AI_PROVIDER", "builtin"}});
  const std::string scope = percent_encode(R"({"kind":"glob","path_glob":"Trip/**"})");
  const std::string summary = cat("ai://summary/", scope), map = cat("ai://moc/", scope);

  const Json before = host.document(summary);
  CHECK(before["scope_resolved"]["paths"] == Json::array({"Trip/Rome.md"}));
  CHECK(before["summary"].dump().find("nine") != std::string::npos);
  CHECK(host.document(map)["toc_markdown"].get<std::string>().find("Rome") != std::string::npos);
  REQUIRE(host.request("resources/subscribe", {{"uri", summary}}).contains("result"));

  host.tool("note_write", {{"path", "Elsewhere.md"}, {"body", "x"}});
  host.tool("note_write", {{"path", "Trip/Rome.md"},
                           {"body", "# Rome\n\nThe ferry to Rome leaves at midnight instead.\n"}});

  REQUIRE(host.wait_for_updates(1));
  pause_for_silence();
  CHECK(host.updates() == std::vector<std::string>{summary});
  const Json after = host.document(summary);
  CHECK(after["summary"].dump().find("midnight") != std::string::npos);
  CHECK(after["summary"].dump().find("nine") == std::string::npos);
}

TEST_CASE("an agent watches a folder, reads what changed, and links it from an index note",
          "[end_to_end][B71]") {
  const TempFolder vault;
  fill_vault(vault);
  vault.write("Index.md", "# Index\n");
  StdioHost host(vault);
  REQUIRE(host.request("resources/subscribe", {{"uri", "vault://Daily/**"}}).contains("result"));

  vault.write("Daily/2026-11-29.md", "# Sunday\n");
  REQUIRE(host.wait_for_updates(1));
  const std::string uri = host.updates()[0];
  const std::string path = percent_decode(uri.substr(std::string("vault://").size()));
  CHECK(host.tool("note_read", {{"path", path}})["body"] == "# Sunday\n");
  const Json index = host.tool("note_read", {{"path", "Index.md"}});
  const Json patched = host.tool(
      "note_patch", {{"path", "Index.md"},
                     {"if_match", index["etag"]},
                     {"ops", {{{"op", "append_body"}, {"markdown", "- [[2026-11-29]]"}}}}});

  CHECK(patched["etag"] != index["etag"]);
  CHECK(vault.read("Index.md").find("- [[2026-11-29]]") != std::string::npos);
}

}  // namespace indx
