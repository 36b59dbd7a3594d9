#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <thread>

namespace indx {
namespace {

bool answer_names(const RunningServer::Reply& reply, const std::string& text) {
  return reply.body.dump().find(text) != std::string::npos;
}

std::string bound_token(const RunningServer& server) {
  return server.make_token({"vault:read", "vault:write"}, {"Public/**"})["token"]
      .get<std::string>();
}

}  // namespace

TEST_CASE("a link inside the vault shows a bound token only what it may name",
          "[end_to_end][A2][A81]") {
  const TempFolder vault;
  vault.write("Private/sec.md", "# SECRET\n");
  vault.write("Private/s.txt", "SECRET\n");
  vault.write("Public/a.md", "plain\n");
  std::filesystem::create_directory_symlink("../Private", vault.path() + "/Public/pl");
  std::filesystem::create_symlink("../Private/sec.md", vault.path() + "/Public/sl.md");
  std::filesystem::create_symlink("a.md", vault.path() + "/Public/in.md");
  RunningServer server(vault);
  const auto token = bound_token(server);
  const auto get = [&](const std::string& target) {
    return server.call_as(token, "GET", target).status;
  };

  for (const auto* path : {"Public/pl/sec.md", "Public/sl.md", "Public/pl/none.md"}) {
    INFO(path);
    for (const auto* area : {"/v1/notes/", "/v1/outline/", "/v1/map/", "/v1/history/"})
      CHECK(get(cat(area, path)) == 404);
    CHECK(server.call_as(token, "HEAD", cat("/v1/notes/", path)).status == 404);
    const auto edited =
        server.call_as(token, "PATCH", cat("/v1/notes/", path),
                       {{"ops", {{{"op", "append_body"}, {"markdown", "x"}}}}, {"dry_run", true}});
    CHECK(edited.status >= 400);
    CHECK_FALSE(answer_names(edited, "SECRET"));
  }
  CHECK(get("/v1/files/Public/pl/s.txt") == 404);
  const auto many =
      server.call_as(token, "POST", "/v1/read", {{"paths", {"Public/pl/sec.md", "Public/sl.md"}}});
  CHECK_FALSE(answer_names(many, "SECRET"));
  CHECK(get("/v1/notes/Public/in.md") == 200);
  CHECK(server.call("GET", "/v1/notes/Public/sl.md").status == 200);
  CHECK(vault.read("Private/sec.md") == "# SECRET\n");
}

TEST_CASE("a move by a bound token shows and writes no path outside of its globs",
          "[end_to_end][A22][A81]") {
  const TempFolder vault;
  vault.write("Hid/deep/budget.md", "b\n");
  vault.write("Public/c.md", "c\n");
  vault.write("Public/probe.md", "[[budget]] [[c]]\n");
  RunningServer server(vault);
  const auto token = bound_token(server);

  for (const bool dry_run : {true, false}) {
    const auto moved = server.call_as(token, "POST", "/v1/notes/Public/c.md/move",
                                      {{"to", "Public/budget.md"}, {"dry_run", dry_run}});
    REQUIRE(moved.status == 200);
    CHECK_FALSE(answer_names(moved, "Hid"));
    CHECK(answer_names(moved, "links_outside_scope"));
    CHECK(moved.body["data"]["partial"] == true);
  }
  CHECK(vault.read("Public/probe.md") == "[[budget]] [[budget]]\n");
}

TEST_CASE("a conflict does not name a file outside of the caller's globs", "[end_to_end][A81]") {
  const TempFolder vault;
  vault.write("PUBLIC/sec.md", "s\n");
  vault.write("Public/c.md", "c\n");
  RunningServer server(vault);
  const auto token = bound_token(server);

  const auto made = server.call_as(token, "PUT", "/v1/notes/Public/SEC.md", {{"body", "x"}}),
             moved = server.call_as(token, "POST", "/v1/notes/Public/c.md/move",
                                    {{"to", "Public/Sec.md"}});
  for (const auto& reply : {made, moved}) {
    CHECK(reply.status == 409);
    CHECK_FALSE(answer_names(reply, "PUBLIC"));
    CHECK_FALSE(answer_names(reply, "existing"));
  }
  CHECK(answer_names(server.call("PUT", "/v1/notes/Public/SEC.md", {{"body", "x"}}),
                     "PUBLIC/sec.md"));
}

TEST_CASE("two creates at once of names that differ only by case give one note", "[end_to_end]") {
  const TempFolder vault;
  RunningServer server(vault);

  for (int i = 0; i < 10; ++i) {
    std::vector<int> statuses(2);
    {
      std::vector<std::jthread> threads;
      for (std::size_t k = 0; k < 2; ++k)
        threads.emplace_back([&, k] {
          const auto path = cat("/v1/notes/", k == 0 ? "Q" : "q", i, ".md");
          statuses[k] = server.call("PUT", path, {{"body", "x"}}).status;
        });
    }
    std::sort(statuses.begin(), statuses.end());
    CHECK(statuses == std::vector<int>{200, 409});
  }
}

TEST_CASE("a folder is not made beside one that differs only by case", "[end_to_end]") {
  const TempFolder vault;
  vault.write("Case/x.md", "x\n");
  vault.write("a.md", "a\n");
  RunningServer server(vault);

  const auto made = server.call("PUT", "/v1/notes/case/deep/y.md", {{"body", "y"}}),
             moved = server.call("POST", "/v1/notes/a.md/move", {{"to", "case/a.md"}});
  for (const auto& reply : {made, moved}) {
    CHECK(reply.status == 409);
    CHECK(answer_names(reply, "Case"));
  }
  CHECK(vault.read("a.md") == "a\n");
  CHECK(server.call("PUT", "/v1/notes/Case/deep/y.md", {{"body", "y"}}).status == 200);
  CHECK(vault.read("Case/deep/y.md") == "y");
}

TEST_CASE("how many notes hold a word is not told to a bound token", "[end_to_end][A81]") {
  const TempFolder vault;
  vault.write("Private/p.md", "apples\n");
  vault.write("Public/a.md", "apples\n");
  RunningServer server(vault);
  const auto target = "/v1/search?q=apples&explain=true";

  const auto bound = server.call_as(bound_token(server), "GET", target),
             owner = server.call("GET", target);
  REQUIRE(bound.body["data"]["results"].size() == 1);
  CHECK_FALSE(bound.body["data"]["results"][0]["explain"]["words"][0].contains("notes"));
  CHECK(owner.body["data"]["results"][0]["explain"]["words"][0]["notes"] == 2);
}

TEST_CASE("an event stream ends with its token", "[end_to_end][A82]") {
  const TempFolder vault;
  RunningServer server(vault);
  const auto made = server.make_token({"vault:read"});
  EventFeed theirs(server, "", "", made["token"].get<std::string>()), ours(server);

  server.call("PUT", "/v1/notes/one.md", {{"body", "1"}});
  CHECK(theirs.wait_for("note.created", "one.md"));
  CHECK(server.call("DELETE", "/v1/tokens/" + made["id"].get<std::string>()).status == 200);
  server.call("PUT", "/v1/notes/two.md", {{"body", "2"}});
  server.call("PUT", "/v1/notes/three.md", {{"body", "3"}});
  CHECK(ours.wait_for("note.created", "three.md"));

  for (const auto& frame : theirs.frames()) CHECK(frame.data.value("path", "") != "two.md");
  for (const auto& frame : ours.frames()) CHECK(frame.event != "token.revoked");
}

TEST_CASE("a move over the border of a token's globs is told as a file that comes or goes",
          "[end_to_end][A81][A89]") {
  const TempFolder vault;
  vault.write("Private/x.md", "x\n");
  RunningServer server(vault);
  const auto token = bound_token(server);
  EventFeed feed(server, "", "", token), ours(server);
  const auto move = [&](const std::string& from, const std::string& to) {
    CHECK(server.call("POST", cat("/v1/notes/", from, "/move"), {{"to", to}}).status == 200);
  };

  server.call("PUT", "/v1/notes/Public/first.md", {{"body", "1"}});
  move("Private/x.md", "Public/in.md");
  move("Public/in.md", "Public/within.md");
  move("Public/within.md", "Private/out.md");

  CHECK(ours.wait_for("note.moved", "Private/out.md"));
  CHECK(feed.wait_for("note.created", "Public/in.md"));
  CHECK(feed.wait_for("note.moved", "Public/within.md"));
  CHECK(feed.wait_for("note.deleted", "Public/within.md"));
  const auto frames = feed.frames();
  for (const auto& frame : frames) CHECK(frame.data.dump().find("Private") == std::string::npos);
  const auto first = std::find_if(frames.begin(), frames.end(), [](const auto& frame) {
    return frame.data.value("path", "") == "Public/first.md";
  });
  REQUIRE(first != frames.end());
  EventFeed later(server, "?kinds=note.created", first->id, token);
  CHECK(later.wait_for("note.created", "Public/in.md"));
  for (const auto& frame : later.frames()) CHECK(frame.event == "note.created");
}

TEST_CASE("a task's status of several code points is refused for what it is", "[end_to_end]") {
  const TempFolder vault;
  vault.write("t.md", "- [ ] a\n");
  RunningServer server(vault);
  const auto set = [&](const std::string& status) {
    return server.call("PATCH", "/v1/notes/t.md",
                       {{"ops", {{{"op", "set_task"}, {"line", 1}, {"status", status}}}}});
  };

  const auto refused = set("\U0001F468\u200D\U0001F469\u200D\U0001F467");
  CHECK(refused.status == 400);
  CHECK(answer_names(refused, "one character"));
  CHECK(set("\U0001F468").status == 200);
  CHECK(vault.read("t.md") == "- [\U0001F468] a\n");
}

}  // namespace indx
