#include "base/hash.hpp"
#include "ops/operations.hpp"
#include "tests/support/mcp_peer.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

namespace indx {
namespace {

/// Lists by path in pages of two, with the last path as cursor.
Answer page_of(const std::set<std::string>& all, const char* key, const Call& call) {
  const std::string after = call.input.value("cursor", "");
  Json rows = Json::array();
  Json output = Json::object();
  for (auto it = all.upper_bound(after); it != all.end(); ++it) {
    if (rows.size() == 2) {
      output["next_cursor"] = rows.back()["path"];
      break;
    }
    rows.push_back({{"path", *it}, {"size", 3}});
  }
  output[key] = rows;
  return mcp_answer(output);
}

struct ListedVault {
  ListedVault() {
    dispatcher.behaviours["note_list"] = [this](const Call& call) {
      return page_of(notes, "notes", call);
    };
    dispatcher.behaviours["attachment_list"] = [this](const Call& call) {
      return page_of(files, "attachments", call);
    };
  }

  std::set<std::string> notes = {"a.md", "search/b.md", "c.md"}, files = {"d.png", "e.canvas"};
  FakeMcpDispatcher dispatcher{{attachment_list(), attachment_read(), vault_search(), tag_list(),
                                graph_edges(), base_query(), ai_summarize(), ai_toc()}};
  McpServer server{dispatcher, {}};
};

/// All pages; `between` runs after each of them.
std::vector<std::string> walk_resources(
    McpTestPeer& client, const std::function<void()>& between = [] {}) {
  std::vector<std::string> uris;
  Json params = Json::object();
  for (int page = 0; page < 50; ++page) {
    const Json result = client.request("resources/list", params)["result"];
    REQUIRE(result["resources"].is_array());
    CHECK_FALSE(result["resources"].empty());
    for (const Json& each : result["resources"]) {
      CHECK_FALSE(each["name"].get<std::string>().empty());
      uris.push_back(each["uri"].get<std::string>());
    }
    if (!result.contains("nextCursor")) return uris;
    params["cursor"] = result["nextCursor"];
    between();
  }
  FAIL("the list has no end");
  return uris;
}

}  // namespace

TEST_CASE("a walk of the list covers the vault, synthetic resources first", "[mcp][B55][mcp-11]") {
  ListedVault vault;
  McpTestPeer client(vault.server);

  CHECK(walk_resources(client) ==
        std::vector<std::string>{"vault://graph", "vault://tags", "vault://a.md", "vault://c.md",
                                 "vault:///search/b.md", "vault://d.png", "vault://e.canvas"});

  vault.files.clear();
  vault.notes = {"a.md", "b.md"};
  CHECK(walk_resources(client).size() == 4);
}

TEST_CASE("notes that are added during a walk make no duplicates and no endless list",
          "[mcp][B55][mcp-11]") {
  ListedVault vault;
  McpTestPeer client(vault.server);
  int added = 0;

  auto uris = walk_resources(client, [&] {
    if (++added < 6) vault.notes.insert("c" + std::to_string(added) + ".md");
    vault.notes.insert("0.md");
  });

  const std::set<std::string> distinct(uris.begin(), uris.end());
  CHECK(distinct.size() == uris.size());
  for (const char* old :
       {"vault://a.md", "vault://c.md", "vault:///search/b.md", "vault://e.canvas"})
    CHECK(distinct.contains(old));
}

TEST_CASE("a cursor that the list did not give is bad params", "[mcp][B55]") {
  ListedVault vault;
  McpTestPeer client(vault.server);

  for (const Json& cursor : {Json("not-a-cursor-%%"), Json(7), Json("a.md")})
    CHECK(client.request("resources/list", {{"cursor", cursor}})["error"]["code"] ==
          kRpcInvalidParams);
  CHECK(client.request("resources/list", {{"cursor", ""}}).contains("result"));
}

TEST_CASE("a synthetic resource gives the document of its operation", "[mcp][B50][B53][B56]") {
  ListedVault vault;
  McpTestPeer client(vault.server);
  const Json found = {{"results", {{{"path", "a.md"}}}}, {"mode_used", "lexical"}};
  vault.dispatcher.behaviours["vault_search"] = [&](const Call& call) {
    CHECK(call.input == Json{{"mode", "lexical"}, {"q", "run book"}});
    return mcp_answer(found);
  };

  const Json result =
      client.request("resources/read", {{"uri", "vault://search?q=run%20book&mode=lexical"}});

  const Json content = result["result"]["contents"][0];
  CHECK(content["uri"] == "vault://search?q=run%20book&mode=lexical");
  CHECK(content["mimeType"] == "application/json");
  CHECK(Json::parse(content["text"].get<std::string>()) == found);
}

TEST_CASE("what is missing and what may not be seen look the same, by the code of the era",
          "[mcp][B49][B56]") {
  ListedVault vault;
  vault.dispatcher.behaviours["note_read"] = [](const Call& call) {
    if (call.input["path"] == "secret.md")
      return mcp_answer(make_error(Reason::Forbidden, "This token may not use secret.md."));
    return mcp_answer(not_found("No note has the path."));
  };
  McpTestPeer client(vault.server);
  const auto fault_of = [&](const std::string& uri) {
    Json answer = client.request("resources/read", {{"uri", uri}});
    CHECK_FALSE(answer.contains("result"));
    CHECK(answer["error"]["data"] == Json{{"uri", uri}});
    answer["error"].erase("data");
    return answer["error"];
  };

  CHECK(fault_of("vault://no.md")["code"] == kRpcResourceNotFound);
  CHECK(fault_of("vault://no.md") == fault_of("vault://secret.md"));
  CHECK(fault_of("file:///etc/passwd") == fault_of("vault://secret.md"));

  Protocol modern;
  modern.version = "2026-07-28";
  modern.era = Era::Modern;
  client.peer().protocol = &modern;
  CHECK(fault_of("vault://no.md")["code"] == kRpcInvalidParams);
  CHECK(fault_of("vault://secret.md") == fault_of("vault://no.md"));
}

TEST_CASE("an AI resource gives what its operation makes, anew each time", "[mcp][B59]") {
  ListedVault vault;
  vault.dispatcher.is_ai_configured = true;
  int made = 0;
  vault.dispatcher.behaviours["ai_summarize"] = [&](const Call& call) {
    CHECK(call.input == Json{{"scope", {{"kind", "tag"}, {"tag", "ops"}}}});
    return mcp_answer(Json{{"summary", {{"text", "Summary " + std::to_string(++made)}}}});
  };
  vault.dispatcher.behaviours["ai_toc"] = [](const Call& call) {
    CHECK(call.input["mode"] == "moc");
    return mcp_answer(Json{{"toc_markdown", "- [[a]]\n"}});
  };
  McpTestPeer client(vault.server);
  const auto read = [&](const std::string& uri) {
    return Json::parse(
        client.request("resources/read", {{"uri", uri}})["result"]["contents"][0]["text"]
            .get<std::string>());
  };
  const Json scope = {{"kind", "tag"}, {"tag", "ops"}};
  const std::string summary = ai_uri(ResourceUri::Kind::Summary, scope);

  CHECK(read(summary)["summary"]["text"] == "Summary 1");
  CHECK(read(summary)["summary"]["text"] == "Summary 2");
  CHECK(read(ai_uri(ResourceUri::Kind::Map, scope))["toc_markdown"] == "- [[a]]\n");

  vault.dispatcher.is_ai_configured = false;
  const Json refused = client.request("resources/read", {{"uri", summary}})["error"];
  CHECK(refused["data"]["code"] == "ai_unavailable");
}

TEST_CASE("a resource that is made for longer than hosts wait says so and goes on", "[mcp][B59]") {
  ListedVault vault;
  vault.dispatcher.is_ai_configured = true;
  McpOptions options;
  options.job_wait = std::chrono::milliseconds(20);
  McpServer server(vault.dispatcher, options);
  McpTestPeer client(server);

  const Json error = client.request(
      "resources/read",
      {{"uri", ai_uri(ResourceUri::Kind::Summary, {{"kind", "tag"}, {"tag", "x"}})}})["error"];

  CHECK(error["data"]["code"] == "in_progress");
  const auto held = vault.dispatcher.held();
  REQUIRE(held.size() == 1);
  CHECK(held[0].call.keep);
  CHECK_FALSE(held[0].call.cancel.is_cancelled());
  held[0].answer(mcp_answer(Json::object()));  // too late, and not said twice
}

}  // namespace indx
