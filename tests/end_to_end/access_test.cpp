#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

namespace indx {
namespace {

void fill_two_sides(const TempFolder& vault) {
  vault.write("Public/open.md",
              "---\ntags: [shared]\n---\n# Open\n\nAbout apples. [[hush]] [[other]]\n");
  vault.write("Public/other.md", "# Other\n\nAbout apples too.\n");
  vault.write("Private/hush.md",
              "---\ntags: [secretive]\n---\n# Hush\n\nAbout apples, confidentially.\n");
}

}  // namespace

TEST_CASE("a token bound to a folder sees and writes nothing elsewhere", "[end_to_end][A81]") {
  const TempFolder vault;
  fill_two_sides(vault);
  RunningServer server(vault, {}, {{"INDX_AI_PROVIDER", "builtin"}});
  const auto token =
      server.make_token({"vault:read", "vault:write"}, {"Public/**"})["token"].get<std::string>();
  const auto call = [&](const std::string& method, const std::string& target,
                        const Json& body = Json()) {
    return server.call_as(token, method, target, body);
  };
  const auto has = [](const RunningServer::Reply& reply, const std::string& text) {
    return reply.body.dump().find(text) != std::string::npos;
  };
  EventFeed feed(server, "", "", token);

  const auto read = call("GET", "/v1/notes/Private/hush.md"),
             absent = call("GET", "/v1/notes/Private/absent.md");
  CHECK(read.status == 403);
  CHECK(absent.status == 403);
  CHECK(call("HEAD", "/v1/notes/Private/hush.md").status != 200);
  CHECK(call("GET", "/v1/outline/Private/hush.md").status == 403);
  CHECK(call("GET", "/v1/links/Private/hush.md/forward").status == 403);
  for (const auto& [method, target] : {std::pair{"PUT", "/v1/notes/Private/new.md"},
                                       {"PUT", "/v1/notes/Private/hush.md"},
                                       {"PUT", "/v1/notes/Public/../Private/hush.md"}})
    CHECK(call(method, target, {{"body", "x"}}).status == 403);
  CHECK(call("PATCH", "/v1/notes/Private/hush.md",
             {{"ops", {{{"op", "append_body"}, {"markdown", "x"}}}}})
            .status == 403);
  CHECK(call("DELETE", "/v1/notes/Private/hush.md").status == 403);

  const auto list = call("GET", "/v1/notes"), found = call("GET", "/v1/search?q=apples"),
             tags = call("GET", "/v1/tags");
  const auto links = call("GET", "/v1/links/Public/open.md/forward"),
             status = call("GET", "/v1/vault/status");
  CHECK(list.body["data"]["notes"].size() == 2);
  CHECK(found.body["data"]["results"].size() == 2);
  CHECK_FALSE(has(list, "hush"));
  CHECK_FALSE(has(found, "Private"));
  CHECK((has(tags, "shared") && !has(tags, "secretive")));
  CHECK((has(links, "Public/other.md") && !has(links, "Private/")));

  const auto tagged =
      call("POST", "/v1/ai/tag", {{"scope", {{"kind", "glob"}, {"path_glob", "**"}}}});
  CHECK(tagged.status == 200);
  CHECK((has(tagged, "Public/open.md") && !has(tagged, "Private") && !has(tagged, "secretive")));
  CHECK(call("POST", "/v1/ai/tag", {{"scope", {{"kind", "paths"}, {"paths", {"Private/hush.md"}}}}})
            .status == 403);
  const auto renamed = call("POST", "/v1/tags/rename", {{"from", "secretive"}, {"to", "known"}});
  CHECK_FALSE(has(renamed, "hush"));

  const auto job = server.start_job(
      "/v1/ai/tag",
      {{"scope", {{"kind", "paths"}, {"paths", {"Private/hush.md", "Public/open.md"}}}},
       {"apply", true}});
  CHECK(server.wait_for_job(job)["state"] == "succeeded");
  CHECK(call("GET", "/v1/jobs/" + job).status == 404);
  CHECK(call("POST", "/v1/jobs/" + job + "/cancel", Json::object()).status == 404);
  CHECK_FALSE(has(call("GET", "/v1/jobs"), "hush"));

  const auto before = vault.read("Private/hush.md");
  CHECK(server.call("PUT", "/v1/notes/Private/made.md", {{"body", "x"}}).status == 200);
  CHECK(server.call("PUT", "/v1/notes/Public/made.md", {{"body", "x"}}).status == 200);
  CHECK(feed.wait_for("note.created", "Public/made.md"));
  for (const auto& frame : feed.frames()) {
    INFO(frame.data.dump());
    CHECK(frame.data.dump().find("Private") == std::string::npos);
  }
  CHECK(vault.read("Private/hush.md") == before);
  CHECK(server.call_as(token, "POST", "/v1/tokens", {{"name", "wider"}}).status == 403);
}

TEST_CASE("a token is nowhere on disk in plain text and ends at once when revoked",
          "[end_to_end][A82]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);
  const auto made = server.make_token({"vault:read"});
  const auto secret = made["token"].get<std::string>(), id = made["id"].get<std::string>();
  EventFeed feed(server);

  CHECK(server.call_as(secret, "GET", "/v1/notes").status == 200);
  CHECK(server.call_as(secret, "GET", "/v1/tokens").status == 403);
  CHECK(server.call_as(secret, "DELETE", "/v1/tokens/" + id).status == 403);
  CHECK(server.call("DELETE", "/v1/tokens/" + id).status == 200);
  CHECK(server.call_as(secret, "GET", "/v1/notes").status == 401);
  CHECK(server.call("DELETE", "/v1/tokens/" + id).status == 404);
  const auto log = server.process().err();
  CHECK(server.stop() == 0);

  for (const auto& entry : std::filesystem::recursive_directory_iterator(vault.path() + "/.indx")) {
    if (!entry.is_regular_file()) continue;
    const auto bytes = vault.read(std::filesystem::relative(entry.path(), vault.path()).string());
    INFO(entry.path());
    CHECK(bytes.find(secret) == std::string::npos);
    CHECK((entry.path().filename() == "token" || bytes.find(server.token()) == std::string::npos));
  }
  CHECK(log.find(secret) == std::string::npos);
}

TEST_CASE("the jobs of a token end with it, and no others", "[end_to_end][A82]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);
  const auto made = server.make_token({"vault:write"});
  REQUIRE(server.call("POST", "/v1/queue/pause", Json::object()).status == 200);
  const auto begin = [&](const std::string& token) -> std::string {
    const auto reply = server.call_as(token, "POST", "/v1/tags/rename?async=true",
                                      {{"from", "project"}, {"to", "work"}});
    INFO(reply.body);
    REQUIRE(reply.status == 202);
    return reply.body["data"]["job"]["id"];
  };
  const auto theirs = begin(made["token"]), ours = begin(server.token());

  CHECK(server.call("DELETE", "/v1/tokens/" + made["id"].get<std::string>()).status == 200);

  const auto state = [&](const std::string& id) -> std::string {
    return server.call("GET", "/v1/jobs/" + id).body["data"]["job"]["state"];
  };
  CHECK(state(theirs) == "cancelled");
  CHECK(state(ours) != "cancelled");
}

TEST_CASE("a burst over a token's limit is refused for a while, other tokens are not",
          "[end_to_end][A83]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault, {}, {{"INDX_RATE_LIMIT_PER_MINUTE", "60"}});
  const auto token = server.make_token({"vault:read"})["token"].get<std::string>();

  RunningServer::Reply last;
  int answered = 0;
  while (answered < 200 && (last = server.call_as(token, "GET", "/v1/notes/Plan.md")).status == 200)
    ++answered;

  CHECK(answered >= 60);
  CHECK(last.status == 429);
  CHECK(last.body["error"]["code"] == "rate_limited");
  CHECK(std::atoi(last.headers["retry-after"].c_str()) >= 1);
  CHECK(server.call("GET", "/v1/notes/Plan.md").status == 200);
}

TEST_CASE("the event feed gives the kinds asked for", "[end_to_end][A89]") {
  const TempFolder vault;
  RunningServer server(vault);
  EventFeed created(server, "?kinds=note.created"), all(server, "?kinds=note.*"),
      jobs(server, "?kinds=job.finished,note.deleted");

  server.call("PUT", "/v1/notes/a.md", {{"body", "1"}});
  server.call("PUT", "/v1/notes/a.md", {{"body", "2"}});
  server.call("POST", "/v1/vault/reindex", {{"rebuild", false}});
  server.call("DELETE", "/v1/notes/a.md");
  server.call("PUT", "/v1/notes/z.md", {{"body", "1"}});

  CHECK(created.wait_for("note.created", "z.md"));
  CHECK(all.wait_for("note.created", "z.md"));
  CHECK(jobs.wait_for("note.deleted", "a.md"));
  const auto kinds_of = [](const EventFeed& feed) {
    std::vector<std::string> kinds;
    for (const auto& frame : feed.frames()) kinds.push_back(frame.event);
    return kinds;
  };
  CHECK(kinds_of(created) == std::vector<std::string>{"note.created", "note.created"});
  CHECK(kinds_of(all) ==
        std::vector<std::string>{"note.created", "note.updated", "note.deleted", "note.created"});
  CHECK(kinds_of(jobs) == std::vector<std::string>{"job.finished", "note.deleted"});
}

TEST_CASE("the event feed goes on after a restart without gap or repeat",
          "[end_to_end][A89][A90][jobs-34]") {
  const TempFolder vault;
  std::string last_id;
  const auto write = [](const RunningServer& server, int from, int to) {
    for (int i = from; i < to; ++i)
      CHECK(server.call("PUT", cat("/v1/notes/n", i, ".md"), {{"body", "x"}}).status == 200);
  };
  {
    RunningServer server(vault);
    EventFeed feed(server);
    write(server, 0, 10);
    CHECK(feed.wait_for("note.created", "n9.md"));
    last_id = feed.frames()[3].id;
    write(server, 10, 20);
    server.kill();
  }
  RunningServer server(vault);
  EventFeed feed(server, "?kinds=note.*", last_id);
  write(server, 20, 30);
  CHECK(feed.wait_for("note.created", "n29.md"));
  EventFeed unknown(server, "", "000000000000-5");
  CHECK(unknown.wait_for([](const EventFeed::Frame& frame) { return frame.event == "reset"; }));
  const auto frames = feed.frames();
  CHECK(server.stop() == 0);

  REQUIRE(frames.size() == 26);
  for (int i = 0; i < 26; ++i)
    CHECK(frames[static_cast<std::size_t>(i)].data["path"] == cat("n", i + 4, ".md"));
  std::vector<std::string> logged;
  for (const auto& line : audit_lines(vault)) logged.push_back(line.value("path", ""));
  CHECK(logged.size() == 30);
  CHECK(std::set<std::string>(logged.begin(), logged.end()).size() == 30);
}

}  // namespace indx
