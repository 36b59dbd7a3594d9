#include "base/text.hpp"
#include "mcp/resource_uri.hpp"
#include "ops/operations.hpp"
#include "tests/support/mcp_peer.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <thread>

namespace indx {
namespace {

constexpr std::chrono::milliseconds kGather{150}, kRest{250};
/// Long enough for a message that must not come to have come.
constexpr std::chrono::milliseconds kSilence{900};
const std::string kUpdated = "notifications/resources/updated";

McpOptions quick_updates() {
  McpOptions options;
  options.subscriptions = {kGather, kRest};
  return options;
}

/// A server whose vault the test moves by hand.
struct WatchedVault {
  WatchedVault() {
    dispatcher.behaviours["vault_search"] = [this](const Call&) {
      const std::scoped_lock lock(mutex);
      Json results = Json::array();
      double score = 1;
      for (const auto& path : hits)
        results.push_back({{"path", path}, {"score", score *= scale}, {"snippet", "todo"}});
      return mcp_answer(Json{{"results", results}});
    };
    dispatcher.behaviours["tag_list"] = [](const Call&) {
      return mcp_answer(Json{{"tags", Json::array()}});
    };
    dispatcher.behaviours["ai_summarize"] = [this](const Call&) {
      const std::scoped_lock lock(mutex);
      return mcp_answer(Json{{"scope_resolved", {{"paths", hits}}}});
    };
  }

  void change(const std::string& kind, const std::string& path, const std::string& from = "") {
    Event event;
    event.kind = kind;
    event.data = {{"path", path}, {"etag", "e"}};
    if (!from.empty()) event.data["from"] = from;
    dispatcher.emit(event);
  }
  void set_hits(std::vector<std::string> paths, double by = 0.9) {
    const std::scoped_lock lock(mutex);
    hits = std::move(paths);
    scale = by;
  }

  std::mutex mutex;
  std::vector<std::string> hits;
  double scale = 0.9;
  FakeMcpDispatcher dispatcher{{vault_search(), tag_list(), ai_summarize(), ai_toc(),
                                attachment_read(), graph_edges(), link_backlinks()}};
  McpServer server{dispatcher, quick_updates()};
};

std::vector<std::string> updated_uris_of(const McpInbox& inbox) {
  std::vector<std::string> uris;
  for (const Json& message : inbox.all())
    if (message["method"] == kUpdated) uris.push_back(message["params"]["uri"].get<std::string>());
  return uris;
}

bool subscribes(McpTestPeer& client, const std::string& uri) {
  return client.request("resources/subscribe", {{"uri", uri}}).contains("result");
}

using Uris = std::vector<std::string>;

/// A client of the era that listens.
void make_modern(McpTestPeer& client) {
  static const Protocol modern = {.version = "2026-07-28", .era = Era::Modern};
  client.peer().protocol = &modern;
}

}  // namespace

TEST_CASE("a subscribed note is told of when it changes, and other notes are not", "[mcp][B57]") {
  WatchedVault vault;
  McpTestPeer client(vault.server);
  REQUIRE(subscribes(client, "vault://Ops/Run%20book.md"));

  vault.change("note.updated", "Ops/Other.md");
  vault.change("note.updated", "Ops/Run book.md");

  REQUIRE(client.inbox().wait_for(1));
  std::this_thread::sleep_for(kSilence);
  CHECK(updated_uris_of(client.inbox()) == Uris{"vault://Ops/Run%20book.md"});
}

TEST_CASE("a glob tells of the concrete notes inside it, each once for a burst", "[mcp][B57]") {
  WatchedVault vault;
  McpTestPeer client(vault.server);
  REQUIRE(subscribes(client, "vault://Daily/**"));

  for (int i = 0; i < 20; ++i) vault.change("note.updated", "Daily/a b.md");
  vault.change("note.moved", "Daily/new.md", "Inbox/new.md");
  vault.change("note.deleted", "Archive/x.md");

  REQUIRE(client.inbox().wait_for(2));
  std::this_thread::sleep_for(kSilence);
  auto uris = updated_uris_of(client.inbox());
  CHECK(uris.size() <= 4);  // on a busy machine the burst may take two stretches of gathering
  std::sort(uris.begin(), uris.end());
  uris.erase(std::unique(uris.begin(), uris.end()), uris.end());
  CHECK(uris == Uris{"vault://Daily/a%20b.md", "vault://Daily/new.md"});
}

TEST_CASE("a change of very many notes at once is told in one message", "[mcp][B57]") {
  WatchedVault vault;
  McpTestPeer client(vault.server);
  REQUIRE(subscribes(client, "vault://Daily/**"));

  for (int i = 0; i < 3000; ++i) vault.change("note.updated", cat("Daily/", i, ".md"));

  REQUIRE(client.inbox().wait_for(1));
  std::this_thread::sleep_for(kSilence);
  const auto uris = updated_uris_of(client.inbox());
  CHECK(uris.size() <= 100);  // the burst may take several stretches of gathering
  CHECK(std::find(uris.begin(), uris.end(), "vault://Daily/**") != uris.end());
}

TEST_CASE("a pattern with very many wildcards is not watched", "[mcp]") {
  WatchedVault vault;
  McpTestPeer client(vault.server);
  std::string pattern = "vault://Public/";
  for (int i = 0; i < 20; ++i) pattern += "*a";

  CHECK_FALSE(subscribes(client, pattern));
  CHECK(subscribes(client, "vault://Public/*a*/**"));
}

TEST_CASE("after unsubscribe nothing comes", "[mcp][B57]") {
  WatchedVault vault;
  McpTestPeer client(vault.server);
  REQUIRE(subscribes(client, "vault://Daily/**"));
  REQUIRE(
      client.request("resources/unsubscribe", {{"uri", "vault://Daily/**"}}).contains("result"));

  vault.change("note.updated", "Daily/a.md");

  std::this_thread::sleep_for(kSilence);
  CHECK(client.inbox().all().empty());
}

TEST_CASE("a search is told of once when its results change, not when only scores move",
          "[mcp][B58]") {
  WatchedVault vault;
  vault.set_hits({"A.md"});
  McpTestPeer client(vault.server);
  const std::string uri = "vault://search?q=todo&mode=lexical";
  REQUIRE(subscribes(client, uri));

  vault.set_hits({"A.md"}, 0.5);
  vault.change("note.updated", "Elsewhere.md");
  std::this_thread::sleep_for(kSilence);
  CHECK(client.inbox().all().empty());

  vault.set_hits({"A.md", "B.md"});
  vault.change("note.updated", "B.md");
  REQUIRE(client.inbox().wait_for(1));
  std::this_thread::sleep_for(kSilence);
  CHECK(updated_uris_of(client.inbox()) == Uris{uri});
}

TEST_CASE("a search that the index answers late is looked at once more", "[mcp][B58]") {
  WatchedVault vault;
  McpTestPeer client(vault.server);
  REQUIRE(subscribes(client, "vault://search?q=todo"));
  const auto asked = vault.dispatcher.calls_of("vault_search").size();

  vault.change("note.updated", "B.md");
  while (vault.dispatcher.calls_of("vault_search").size() == asked)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  vault.set_hits({"B.md"});

  REQUIRE(client.inbox().wait_for(1));
}

TEST_CASE("an AI resource is told of when a note of its scope changes", "[mcp][B60]") {
  WatchedVault vault;
  vault.dispatcher.is_ai_configured = true;
  McpTestPeer client(vault.server);
  const std::string by_glob =
      ai_uri(ResourceUri::Kind::Summary, {{"kind", "glob"}, {"path_glob", "Ops/**"}});
  const std::string by_tag = ai_uri(ResourceUri::Kind::Map, {{"kind", "tag"}, {"tag", "ops"}});
  vault.set_hits({"Team/T.md"});
  REQUIRE(subscribes(client, by_glob));
  REQUIRE(subscribes(client, by_tag));

  vault.change("note.updated", "Ops/a.md");
  REQUIRE(client.inbox().wait_for(1));
  vault.change("note.updated", "Team/T.md");
  REQUIRE(client.inbox().wait_for(2));
  vault.change("note.updated", "Other.md");
  std::this_thread::sleep_for(kSilence);
  CHECK(updated_uris_of(client.inbox()) == Uris{by_glob, by_tag});

  vault.set_hits({"Team/T.md", "Other.md"});
  vault.change("note.updated", "Other.md");
  REQUIRE(client.inbox().wait_for(3));
  CHECK(updated_uris_of(client.inbox()).back() == by_tag);
  for (const Call& call : vault.dispatcher.calls_of("ai_summarize"))
    CHECK(call.input["estimate"] == true);  // no model is asked
}

TEST_CASE("without AI its resources cannot be subscribed to", "[mcp][B60]") {
  WatchedVault vault;
  McpTestPeer client(vault.server);

  const Json answer =
      client.request("resources/subscribe", {{"uri", R"(ai://summary/{"kind":"tag","tag":"x"})"}});

  CHECK(answer["error"]["data"]["code"] == "ai_unavailable");
}

TEST_CASE("a session hears once that notes came or went, and not when they only change", "[mcp]") {
  WatchedVault vault;
  McpTestPeer client(vault.server);
  client.notify("notifications/initialized");

  vault.change("note.updated", "a.md");
  std::this_thread::sleep_for(kSilence);
  CHECK(client.inbox().all().empty());

  for (int i = 0; i < 5; ++i) vault.change("note.created", cat(i, ".md"));
  REQUIRE(client.inbox().wait_for(1));
  std::this_thread::sleep_for(kSilence);
  REQUIRE(client.inbox().all().size() == 1);
  CHECK(client.inbox().all()[0]["method"] == "notifications/resources/list_changed");
}

TEST_CASE("who may see some paths only hears of those, also when a note moves across the border",
          "[mcp][B57]") {
  WatchedVault vault;
  McpTestPeer client(vault.server, McpTestPeer::reader_of({"Open/**"}));
  REQUIRE(subscribes(client, "vault://**"));
  REQUIRE(subscribes(client, "vault://Secret/x.md"));

  vault.change("note.updated", "Secret/x.md");
  vault.change("note.created", "Secret/y.md");
  std::this_thread::sleep_for(kSilence);
  CHECK(client.inbox().all().empty());

  vault.change("note.moved", "Open/y.md", "Secret/y.md");
  REQUIRE(client.inbox().wait_for(1));
  std::this_thread::sleep_for(kSilence);
  CHECK(updated_uris_of(client.inbox()) == Uris{"vault://Open/y.md"});
}

TEST_CASE("a revoked token hears nothing any more, others of the server do", "[mcp][B57]") {
  WatchedVault vault;
  McpTestPeer revoked(vault.server);
  McpTestPeer other(vault.server, FakeMcpDispatcher::principal("writer", {Scope::VaultRead}));
  REQUIRE(subscribes(revoked, "vault://**"));
  REQUIRE(subscribes(other, "vault://**"));
  Event event;
  event.kind = kTokenRevoked;
  event.subject = "reader";
  vault.dispatcher.emit(event);

  vault.change("note.updated", "a.md");

  REQUIRE(other.inbox().wait_for(1));
  std::this_thread::sleep_for(kSilence);
  CHECK(revoked.inbox().all().empty());
}

TEST_CASE("one subscription to the bus serves all sessions of a token, and ends with the last",
          "[mcp][B57]") {
  WatchedVault vault;
  CHECK(vault.dispatcher.listener_count() == 0);
  {
    McpTestPeer first(vault.server), second(vault.server);
    REQUIRE(subscribes(first, "vault://a.md"));
    REQUIRE(subscribes(second, "vault://**"));
    CHECK(vault.dispatcher.listener_count() == 1);
    vault.change("note.updated", "a.md");
    CHECK(first.inbox().wait_for(1));
    CHECK(second.inbox().wait_for(1));
  }
  for (int i = 0; i < 1000 && vault.dispatcher.listener_count() > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(vault.dispatcher.listener_count() == 0);
}

TEST_CASE("subscriptions of a session are limited, with a way out in the error", "[mcp][B57]") {
  WatchedVault vault;
  McpTestPeer client(vault.server);
  for (std::size_t i = 0; i < ResourceSubscriber::kMaxQuestions; ++i)
    REQUIRE(subscribes(client, cat("vault://search?q=", i)));
  CHECK(subscribes(client, "vault://search?q=0"));  // it is there already
  CHECK_FALSE(subscribes(client, "vault://search?q=more"));
  for (std::size_t i = ResourceSubscriber::kMaxQuestions; i < ResourceSubscriber::kMaxWatches; ++i)
    REQUIRE(subscribes(client, cat("vault://", i, ".md")));

  const Json error = client.request("resources/subscribe", {{"uri", "vault://x.md"}})["error"];

  CHECK(error["code"] == kRpcInvalidParams);
  CHECK(error["message"].get<std::string>().find("vault://Folder/**") != std::string::npos);
}

TEST_CASE("a subscription needs a channel, a URI of ours, and the scope to read", "[mcp][B57]") {
  WatchedVault vault;
  McpTestPeer client(vault.server);
  CHECK(client.request("resources/subscribe", {{"uri", "file:///etc/passwd"}})["error"]["code"] ==
        kRpcResourceNotFound);
  CHECK(client.request("resources/subscribe", {{"uri", "vault://../x"}})["error"]["code"] ==
        kRpcInvalidParams);
  CHECK(client.request("resources/subscribe", {{"uri", 1}})["error"]["code"] == kRpcInvalidParams);
  CHECK_FALSE(subscribes(client, "vault://search?mode=lexical"));  // a read needs `q`
  McpTestPeer nobody(vault.server, FakeMcpDispatcher::principal("nobody", {}));
  CHECK(nobody.request("resources/subscribe", {{"uri", "vault://a.md"}}).contains("error"));
  McpTestPeer deaf(vault.server);
  deaf.peer().session->channel = nullptr;
  CHECK(deaf.request("resources/subscribe", {{"uri", "vault://a.md"}}).contains("error"));
}

TEST_CASE("a listening request is acknowledged first, then told with its id, and ends when left",
          "[mcp][B57][B58]") {
  WatchedVault vault;
  McpTestPeer client(vault.server);
  make_modern(client);

  const auto reply = client.send(
      "subscriptions/listen",
      {{"notifications",
        {{"toolsListChanged", true},
         {"resourcesListChanged", true},
         {"resourceSubscriptions", {"vault://Daily/**", "file:///x", "vault://search?q=todo"}}}}},
      "sub-1");
  REQUIRE(reply->notifications.wait_for(1));
  const Json first = reply->notifications.all()[0];
  CHECK(first["method"] == "notifications/subscriptions/acknowledged");
  CHECK(first["params"]["notifications"] ==
        Json{{"resourcesListChanged", true},
             {"resourceSubscriptions", {"vault://Daily/**", "vault://search?q=todo"}}});

  vault.change("note.created", "Daily/a.md");
  REQUIRE(reply->notifications.wait_for(3));
  for (const Json& message : reply->notifications.all())
    CHECK(message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "sub-1");
  CHECK(updated_uris_of(reply->notifications) == Uris{"vault://Daily/a.md"});
  CHECK(reply->notifications.all()[2]["method"] == "notifications/resources/list_changed");

  client.notify("notifications/cancelled", {{"requestId", "sub-1"}});
  vault.change("note.updated", "Daily/a.md");
  for (int i = 0; i < 1000 && vault.dispatcher.listener_count() > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(vault.dispatcher.listener_count() == 0);
  CHECK(reply->notifications.all().size() == 3);
  CHECK(reply->answers.all().empty());
  CHECK(client.inbox().all().empty());
}

TEST_CASE("a listening request gets its result when the token is revoked or the server ends",
          "[mcp][B57]") {
  WatchedVault vault;
  McpTestPeer client(vault.server);
  make_modern(client);
  const Json wishes = {{"notifications", {{"resourceSubscriptions", {"vault://**"}}}}};
  const auto first = client.send("subscriptions/listen", wishes, 7);
  Event event;
  event.kind = kTokenRevoked;
  event.subject = "reader";
  vault.dispatcher.emit(event);
  REQUIRE(first->answers.wait_for(1));
  CHECK(first->answers.all()[0]["id"] == 7);
  CHECK(first->answers.all()[0].contains("result"));

  const auto second = client.send("subscriptions/listen", wishes, 8);
  vault.server.end_listening();
  REQUIRE(second->answers.wait_for(1));
  CHECK(second->answers.all()[0]["id"] == 8);
}

}  // namespace indx
