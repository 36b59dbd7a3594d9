#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

namespace indx {
namespace {

namespace fs = std::filesystem;

/// `hub/h.md`, a picture beside it, and notes that link to both.
void fill_linked(const TempFolder& vault, int sources) {
  vault.write("hub/h.md", "# Hub\n[own](p.png) [[s0]]\n");
  vault.write("hub/p.png", "png\n");
  for (int i = 0; i < sources; ++i)
    vault.write(cat("s", i, ".md"), cat("[[hub/h|x]] ![](hub/p.png) number ", i, "\n"));
}

bool is_linked(const TempFolder& vault, int sources, const std::string& folder) {
  for (int i = 0; i < sources; ++i)
    if (vault.read(cat("s", i, ".md")) !=
        cat("[[", folder, "/h|x]] ![](", folder, "/p.png) number ", i, "\n"))
      return false;
  return true;
}

bool exists(const TempFolder& vault, const std::string& path) {
  return fs::exists(vault.path() + "/" + path);
}

}  // namespace

TEST_CASE("a move rewrites links of every kind, and a dry run nothing", "[end_to_end][A22][M-02]") {
  const TempFolder vault;
  fill_linked(vault, 5);
  vault.write("v.base", "filters: file.folder == \"hub\"\n");
  RunningServer server(vault);
  const auto before = vault_files(vault);

  const auto planned =
      server.call("POST", "/v1/notes/hub/move", {{"to", "new/place"}, {"dry_run", true}});
  REQUIRE(planned.status == 200);
  CHECK(planned.body["data"]["links"].size() == 5);
  CHECK(planned.body["data"]["links"][0]["diff"].get<std::string>().find("+[[new/place/h|x]]") !=
        std::string::npos);
  CHECK(vault_files(vault) == before);

  EventFeed feed(server);
  const auto done = server.call("POST", "/v1/notes/hub/move", {{"to", "new/place"}});
  REQUIRE(done.status == 200);
  REQUIRE(done.body["data"]["links"].size() == 5);
  for (std::size_t i = 0; i < 5; ++i)
    for (const auto* key : {"path", "old_etag", "etag", "old_size", "size"}) {
      INFO(key);
      CHECK(planned.body["data"]["links"][i].contains(key));
      CHECK(done.body["data"]["links"][i][key] == planned.body["data"]["links"][i][key]);
    }
  CHECK(done.body["data"]["moved"] == 2);
  CHECK(done.body["data"]["partial"] == false);
  CHECK(done.body["data"]["also_mentions"] == Json::array({"v.base"}));
  CHECK(is_linked(vault, 5, "new/place"));
  CHECK(vault.read("new/place/h.md") == "# Hub\n[own](p.png) [[s0]]\n");
  CHECK_FALSE(exists(vault, "hub"));
  const auto back = server.call("GET", "/v1/links/new/place/h.md/backlinks");
  CHECK(back.body["data"]["total"] == 5);
  CHECK(server.call("GET", "/v1/links/unresolved").body["data"]["unresolved"].empty());
  CHECK(feed.wait_for("note.moved", "new/place"));
  CHECK(feed.wait_for("note.updated", "s4.md"));
  for (const auto& frame : feed.frames()) {
    CHECK(frame.event != "note.created");
    CHECK(frame.event != "note.deleted");
  }
}

TEST_CASE("a move leaves links alone when told to, and never overwrites",
          "[end_to_end][A22][M-12]") {
  const TempFolder vault;
  fill_linked(vault, 2);
  vault.write("B.md", "2\n");
  RunningServer server(vault);

  CHECK(server.call("POST", "/v1/notes/hub/h.md/move", {{"to", "b.md"}}).status == 409);
  const auto stale = server.call("POST", "/v1/notes/hub/h.md/move", {{"to", "c.md"}},
                                 {{"If-Match", "\"0000000000000000\""}});
  CHECK(stale.status == 412);
  const auto moved =
      server.call("POST", "/v1/notes/hub/h.md/move", {{"to", "k/h2.md"}, {"update_links", false}});
  REQUIRE(moved.status == 200);
  CHECK(vault.read("s0.md") == "[[hub/h|x]] ![](hub/p.png) number 0\n");
  CHECK(exists(vault, "k/h2.md"));
  const auto into = server.call("POST", "/v1/notes/k/h2.md/move", {{"to", "hub/"}});
  CHECK(into.body["data"]["path"] == "hub/h2.md");
}

TEST_CASE("who may not see the files that link moves, but is told", "[end_to_end][A22][A81]") {
  const TempFolder vault;
  fill_linked(vault, 2);
  RunningServer server(vault);
  const auto token = server.make_token({"vault:write"}, {"hub/**", "s0.md"});
  const auto secret = token["token"].get<std::string>();

  CHECK(server.call_as(secret, "POST", "/v1/notes/hub/h.md/move", {{"to", "out/h.md"}}).status ==
        403);
  const auto done = server.call_as(secret, "POST", "/v1/notes/hub/h.md/move", {{"to", "hub/k.md"}});

  REQUIRE(done.status == 200);
  CHECK(done.body["data"]["partial"] == true);
  CHECK(done.body["data"]["warnings"] == Json::array({"links_outside_scope"}));
  CHECK(vault.read("s0.md").find("[[hub/k|x]]") == 0);
  CHECK(vault.read("s1.md").find("[[hub/h|x]]") == 0);
  CHECK(done.body.dump().find("s1.md") == std::string::npos);
}

TEST_CASE("a job that moves a folder survives a kill at any time and writes no note twice",
          "[end_to_end][A22][C81][E5]") {
  constexpr int kSources = 60;
  for (const int delay_ms : {15, 60, 140}) {
    const TempFolder vault;
    fill_linked(vault, kSources);
    std::string id;
    {
      RunningServer server(vault);
      id = server.start_job("/v1/notes/hub/move", {{"to", "moved"}});
      std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
      server.kill();
    }

    RunningServer server(vault);

    const auto job = server.wait_for_job(id);
    INFO("killed after " << delay_ms << " ms: " << job.dump());
    CHECK(job["state"] == "succeeded");
    CHECK(is_linked(vault, kSources, "moved"));
    CHECK_FALSE(exists(vault, "hub"));
    CHECK(server.call("GET", "/v1/links/unresolved").body["data"]["unresolved"].empty());
    CHECK(server.stop() == 0);
    std::map<std::string, int> writes;
    for (const auto& line : audit_lines(vault))
      if (line["kind"] == "note.updated") ++writes[line["path"].get<std::string>()];
    CHECK(writes.size() == kSources);
    for (const auto& [path, count] : writes) {
      INFO(path);
      CHECK(count == 1);
    }
  }
}

TEST_CASE("a move that was answered at once is finished after a kill", "[end_to_end][A22][A13]") {
  constexpr int kSources = 18;
  int moved = 0;
  for (const int delay_ms : {4, 8, 12, 16, 24, 32, 48}) {
    const TempFolder vault;
    fill_linked(vault, kSources);
    {
      RunningServer server(vault);
      std::jthread caller([&] { server.call("POST", "/v1/notes/hub/move", {{"to", "moved"}}); });
      std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
      server.kill();
    }

    RunningServer server(vault);

    INFO("killed after " << delay_ms << " ms");
    if (exists(vault, "moved/h.md")) {
      ++moved;
      CHECK_FALSE(exists(vault, "hub"));
      CHECK(wait_until([&] { return is_linked(vault, kSources, "moved"); }));
    } else {
      CHECK(is_linked(vault, kSources, "hub"));
    }
  }
  INFO("moves that happened: " << moved);
  CHECK(moved > 0);
}

}  // namespace indx
