#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"

#include <catch2/catch.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>

namespace indx {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> paths_of(const Json& rows) {
  std::vector<std::string> paths;
  for (const auto& row : rows) paths.push_back(row.value("path", ""));
  return paths;
}

std::set<std::string> keys_of(const Json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

std::vector<std::string> hits_for(const RunningServer& server, const std::string& word) {
  return paths_of(server.call("GET", "/v1/search?q=" + word).body["data"]["results"]);
}

/// What the index says of the vault of three notes.
Json derived_view(const RunningServer& server) {
  Json view = Json::object();
  for (const std::string target : {"/v1/search?q=quarter", "/v1/search?q=bread", "/v1/tags",
                                   "/v1/notes?limit=100", "/v1/links/Plan.md/forward"})
    view[target] = server.call("GET", target).body["data"];
  return view;
}

}  // namespace

TEST_CASE("a vault whose index was deleted answers as before", "[end_to_end][A4]") {
  const TempFolder vault;
  fill_vault(vault);
  Json before;
  {
    RunningServer server(vault);
    before = derived_view(server);
    CHECK(server.stop() == 0);
  }
  fs::remove_all(vault.path() + "/.indx");

  RunningServer server(vault);

  CHECK(before["/v1/tags"]["tags"].size() == 2);
  CHECK(derived_view(server) == before);
}

TEST_CASE("an index that breaks under a running server is made anew from the files",
          "[end_to_end][A4]") {
  const TempFolder vault;
  fill_vault(vault);
  for (int i = 0; i < 300; ++i)
    vault.write(cat("many/", i, ".md"), "# Many\n\nwords of all sorts\n");
  RunningServer server(vault);
  REQUIRE(hits_for(server, "bread").size() == 1);
  {
    std::fstream index(vault.path() + "/.indx/index.db", std::ios::in | std::ios::out);
    index.write(std::string(200000, 'x').data(), 200000);
  }
  fs::resize_file(vault.path() + "/.indx/index.db", 200000);

  // enough changes that no cache of pages hides the damage
  for (int i = 0; i < 300; ++i)
    vault.write(cat("many/", i, ".md"), cat("# Many\n\nnewword", i, "\n"));

  CHECK(wait_until([&] { return hits_for(server, "newword299").size() == 1; }));
  CHECK(wait_until([&] { return hits_for(server, "bread").size() == 1; }));
  CHECK(server.call("GET", "/v1/notes?limit=1000").body["data"]["notes"].size() == 303);
  CHECK(server.stop() == 0);
}

TEST_CASE("nothing writes into the Obsidian folder", "[end_to_end][A5]") {
  const TempFolder vault;
  fill_vault(vault);
  vault.write(".obsidian/app.json", "{\"alwaysUpdateLinks\":true}");
  vault.write(".obsidian/plugins/one/main.js", "x");
  RunningServer server(vault, {}, {{"INDX_AI_PROVIDER", "builtin"}});
  const auto obsidian = [&] {
    std::map<std::string, std::string> files;
    for (const auto& [name, bytes] : vault_files(vault))
      if (name.starts_with(".obsidian")) files[name] = bytes;
    return files;
  };
  const auto before = obsidian();

  CHECK(server.call("PUT", "/v1/notes/.obsidian/new.md", {{"body", "x"}}).status == 403);
  CHECK(server.call("PUT", "/v1/notes/.obsidian/app.json", {{"body", "x"}}).status == 403);
  CHECK(server.call("DELETE", "/v1/notes/.obsidian/app.json").status / 100 == 4);
  CHECK(server.call("PUT", "/v1/notes/New.md", {{"body", "# New #work\n"}}).status == 200);
  CHECK(server.call("POST", "/v1/tags/rename", {{"from", "work"}, {"to", "labour"}}).status == 200);
  CHECK(server
            .call("POST", "/v1/ai/tag",
                  {{"scope", {{"kind", "glob"}, {"path_glob", "**"}}}, {"apply", true}})
            .status == 200);
  CHECK(server.call("POST", "/v1/vault/reindex", {{"rebuild", true}}).status == 200);
  CHECK(server.stop() == 0);

  CHECK(obsidian() == before);
}

TEST_CASE("hidden folders appear in no list, search or event", "[end_to_end][A6]") {
  const TempFolder vault;
  fill_vault(vault);
  const std::vector<std::string> hidden = {".git",     ".indx",  ".obsidian", ".trash",
                                           ".backups", ".ailss", ".cortex",   "node_modules"};
  for (const auto& folder : hidden)
    vault.write(folder + "/Early.md", "The word zanzibar. #zanzibar\n");
  RunningServer server(vault);
  EventFeed feed(server);

  for (const auto& folder : hidden) {
    vault.write(folder + "/Late.md", "The word zanzibar, late.\n");
    vault.write(folder + "/Early.md", "The word zanzibar, changed.\n");
  }
  vault.write("Seen.md", "A note that is seen.\n");

  CHECK(feed.wait_for("note.created", "Seen.md"));
  for (const auto& frame : feed.frames()) CHECK(frame.data.value("path", "") == "Seen.md");
  CHECK(paths_of(server.call("GET", "/v1/notes").body["data"]["notes"]) ==
        std::vector<std::string>{"Budget.md", "Daily/2026-11-28.md", "Plan.md", "Seen.md"});
  CHECK(hits_for(server, "zanzibar").empty());
  CHECK(server.call("GET", "/v1/tags").body.dump().find("zanzibar") == std::string::npos);
  for (const auto& folder : hidden)
    CHECK(server.call("GET", "/v1/notes/" + folder + "/Early.md").status == 404);
}

TEST_CASE("a server with INDX_INDEX_DIR puts nothing of its own into the vault",
          "[end_to_end][A7]") {
  const TempFolder vault, index;
  fill_vault(vault);
  RunningServer server(vault, {},
                       {{"INDX_INDEX_DIR", index.path()}, {"INDX_AI_PROVIDER", "builtin"}});

  const auto written = server.call("PUT", "/v1/notes/New.md", {{"body", "# New\n"}});
  const auto tagged =
      server.call("POST", "/v1/ai/tag", {{"scope", {{"kind", "glob"}, {"path_glob", "**"}}}});
  CHECK(server.stop() == 0);

  CHECK(written.status == 200);
  CHECK(tagged.status == 200);
  CHECK_FALSE(fs::exists(vault.path() + "/.indx"));
  CHECK(fs::exists(index.path() + "/state.db"));
}

TEST_CASE("the case of a path counts, unless the vault says that it does not", "[end_to_end][A8]") {
  const TempFolder vault;
  vault.write("Spec.md", "# Spec\n\nThe one that is there.\n");
  {
    RunningServer server(vault);
    const auto other_case = server.call("GET", "/v1/notes/spec.md");
    CHECK(other_case.status == 404);
    CHECK(other_case.body["error"]["code"] == "not_found");
    CHECK(server.call("GET", "/v1/notes/Spec.md").status == 200);
    CHECK(server.stop() == 0);
  }
  CHECK(run_indx({"--vault", vault.path(), "note", "get", "spec.md"}).code == 3);
  vault.write(".indx/config.json", R"({"case_insensitive_match": true})");

  RunningServer server(vault);

  const auto found = server.call("GET", "/v1/notes/spec.md?include=body");
  REQUIRE(found.status == 200);
  CHECK(found.body["data"]["path"] == "Spec.md");
  CHECK(found.body["data"]["body"] == vault.read("Spec.md"));
  CHECK(server.call("GET", "/v1/notes/Spec.md").status == 200);
  CHECK(server.call("GET", "/v1/notes/specs.md").status == 404);
  CHECK(server.stop() == 0);
  CHECK(run_indx({"--vault", vault.path(), "note", "get", "spec.md"}).code == 0);
}

TEST_CASE("serving and reindexing a vault changes none of its files", "[end_to_end][A9]") {
  const TempFolder vault;
  fs::copy(INDX_SAMPLE_VAULT, vault.path(), fs::copy_options::recursive);
  vault.write("odd/CRLF and BOM.md", "\xEF\xBB\xBF---\r\ntags: x\r\n---\r\ntext  \r\n");
  vault.write("odd/broken.md", "---\na: [1,\n---\nno end");
  const auto before = vault_files(vault);

  RunningServer server(vault);
  const auto reindexed = server.call("POST", "/v1/vault/reindex", {{"rebuild", true}});
  CHECK(server.stop() == 0);

  CHECK(reindexed.status == 200);
  CHECK(before.size() > 60);
  CHECK(vault_files(vault) == before);
}

TEST_CASE("each value of include narrows a note to its part", "[end_to_end][A16]") {
  const TempFolder vault;
  vault.write("a.md", "---\ntags: [x]\n---\n# One\n\n[[b]] #y\n\n- [ ] do it\n\ntext ^block\n");
  RunningServer server(vault);
  const auto part_of = [&](const std::string& query) {
    return keys_of(server.call("GET", "/v1/notes/a.md" + query).body["data"]);
  };
  const std::set<std::string> parts = {"frontmatter", "outline", "body", "tags",
                                       "links",       "blocks",  "tasks"};
  const auto whole = part_of("");

  for (const std::string part : {"path", "etag", "frontmatter", "outline", "body"})
    CHECK(whole.contains(part));
  for (const auto& part : parts) {
    INFO(part);
    for (const auto& key : part_of("?include=" + part))
      CHECK((!parts.contains(key) || key == part));
    CHECK(part_of("?include=" + part).contains(part));
  }
  const auto two = part_of("?include=tags&include=body");
  CHECK((two.contains("tags") && two.contains("body") && !two.contains("frontmatter")));
  CHECK(server.call("GET", "/v1/notes/a.md?include=nonsense").status == 400);
  const auto by_cli =
      run_indx({"--vault", vault.path(), "note", "get", "a.md", "--include", "tags"});
  CHECK(keys_of(Json::parse(by_cli.out, nullptr, false)) == part_of("?include=tags"));
}

TEST_CASE("notes are listed by each filter alone and together", "[end_to_end][A17][A26]") {
  const TempFolder vault;
  vault.write("p/a.md", "---\nstatus: open\ntags: [x]\n---\n");
  vault.write("p/b.md", "---\nstatus: done\ntags: [x/y]\n---\n");
  vault.write("p/q/c.md", "---\nstatus: open\n---\n#z\n");
  vault.write("d.md", "---\nstatus: open\n---\n#x\n");
  RunningServer server(vault);
  const auto list = [&](const std::string& query) {
    return paths_of(server.call("GET", "/v1/notes" + query).body["data"]["notes"]);
  };
  using Paths = std::vector<std::string>;

  CHECK(list("") == Paths{"d.md", "p/a.md", "p/b.md", "p/q/c.md"});
  CHECK(list("?path_glob=p/*") == Paths{"p/a.md", "p/b.md"});
  CHECK(list("?path_glob=p/**") == Paths{"p/a.md", "p/b.md", "p/q/c.md"});
  CHECK(list("?tag=x") == Paths{"d.md", "p/a.md", "p/b.md"});
  CHECK(list("?tag=%23x/y") == Paths{"p/b.md"});
  CHECK(list("?frontmatter=%7B%22status%22:%22open%22%7D") == Paths{"d.md", "p/a.md", "p/q/c.md"});
  CHECK(list("?frontmatter=%7B%22status%22:%22open%22%7D&tag=x&path_glob=p/**") == Paths{"p/a.md"});
  const auto first = server.call("GET", "/v1/notes?limit=3").body["data"];
  CHECK(paths_of(first["notes"]) == Paths{"d.md", "p/a.md", "p/b.md"});
  CHECK(list("?limit=3&cursor=" + first["next_cursor"].get<std::string>()) == Paths{"p/q/c.md"});
  CHECK(server.call("GET", "/v1/notes?cursor=nonsense").status == 400);
}

TEST_CASE("an outline leaves out lines with # in fences", "[end_to_end][A18]") {
  const TempFolder vault;
  vault.write("a.md",
              "---\nt: 1\n---\n# One\n\n```sh\n# not a heading\n```\n\n~~~\n## nor this\n~~~\n\n## "
              "Two words\n");
  RunningServer server(vault);

  const auto by_include =
      server.call("GET", "/v1/notes/a.md?include=outline").body["data"]["outline"];
  const auto by_route = server.call("GET", "/v1/outline/a.md").body["data"]["outline"];

  REQUIRE(by_include.size() == 2);
  CHECK(by_include[0] == Json{{"level", 1}, {"text", "One"}, {"line", 4}, {"slug", "one"}});
  CHECK(by_include[1] ==
        Json{{"level", 2}, {"text", "Two words"}, {"line", 14}, {"slug", "two-words"}});
  CHECK(by_route == by_include);
}

TEST_CASE("whether a note exists is told by status and by a boolean", "[end_to_end][A19]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);
  const auto by_cli = [&](const std::string& path) {
    return Json::parse(run_indx({"--vault", vault.path(), "note", "exists", path}).out, nullptr,
                       false)["exists"];
  };

  CHECK(server.call("HEAD", "/v1/notes/Plan.md").status == 200);
  CHECK(server.call("HEAD", "/v1/notes/Missing.md").status == 404);
  CHECK(by_cli("Plan.md") == true);
  CHECK(by_cli("Missing.md") == false);
}

TEST_CASE("a note is created, replaced, and not replaced under if_not_exists",
          "[end_to_end][A20]") {
  const TempFolder vault;
  RunningServer server(vault);

  const auto created =
      server.call("PUT", "/v1/notes/n.md",
                  {{"body", "one\n"}, {"frontmatter", {{"a", 1}}}, {"if_not_exists", true}});
  const auto refused =
      server.call("PUT", "/v1/notes/n.md", {{"body", "two\n"}, {"if_not_exists", true}});
  CHECK(vault.read("n.md") == "---\na: 1\n---\none\n");
  const auto replaced = server.call(
      "PUT", "/v1/notes/n.md", {{"body", "three\n"}, {"if_match", created.body["data"]["etag"]}});
  const auto stale = server.call("PUT", "/v1/notes/n.md",
                                 {{"body", "four\n"}, {"if_match", created.body["data"]["etag"]}});

  CHECK(created.body["data"]["created"] == true);
  CHECK(refused.status == 409);
  CHECK(refused.body["error"]["code"] == "conflict");
  CHECK(replaced.body["data"]["created"] == false);
  CHECK(stale.status == 412);
  CHECK(vault.read("n.md") == "---\na: 1\n---\nthree\n");
}

TEST_CASE("a deleted note is gone, told of, and not deleted twice", "[end_to_end][A21][A92]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);
  EventFeed feed(server);
  const auto etag = server.call("GET", "/v1/notes/Plan.md").body["data"]["etag"].get<std::string>();

  const auto stale = server.call("DELETE", "/v1/notes/Plan.md?if_match=0000000000000000");
  const auto deleted = server.call("DELETE", "/v1/notes/Plan.md?if_match=" + etag);
  const auto again = server.call("DELETE", "/v1/notes/Plan.md");

  CHECK(stale.status == 412);
  CHECK(deleted.status == 200);
  CHECK(again.status == 404);
  CHECK(feed.wait_for("note.deleted", "Plan.md"));
  CHECK(hits_for(server, "quarterly").empty());
}

TEST_CASE("one of 1,000 notes edited while nothing ran is the only one read again",
          "[end_to_end][A68]") {
  const TempFolder vault;
  for (int i = 0; i < 1000; ++i)
    vault.write(cat("n", i, ".md"), cat("# Note ", i, "\n\ncommon words\n"));
  {
    RunningServer server(vault);
    CHECK(server.stop() == 0);
  }
  vault.write("n7.md", "# Note 7\n\nnow with xylophone\n");
  fs::remove(vault.path() + "/n8.md");

  RunningServer server(vault);

  CHECK(server.process().err().find("created=0 updated=1 deleted=1 unchanged=998") !=
        std::string::npos);
  CHECK(hits_for(server, "xylophone") == std::vector<std::string>{"n7.md"});
  CHECK(server.call("GET", "/v1/vault/status").body["data"]["counts"]["notes"] == 999);
  CHECK(server.call("GET", "/v1/notes?path_glob=n8.md").body["data"]["notes"].empty());
}

TEST_CASE("the index is brought up to date whole, for some paths, or made anew",
          "[end_to_end][A71]") {
  const TempFolder vault;
  fill_vault(vault);
  vault.write("sub/One.md", "# One\n\nalpha\n");
  vault.write("sub/Two.md", "# Two\n\nbeta\n");
  const auto index = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {"vault", "index", "--no-scan", "--vault", vault.path()});
    const auto run = run_indx(args);
    INFO(run.err);
    REQUIRE(run.code == 0);
    return Json::parse(run.out)["counts"];
  };
  const auto finds = [&](const std::string& word) {
    const auto run = run_indx({"search", word, "--no-scan", "--vault", vault.path()});
    return Json::parse(run.out)["results"].size() == 1;
  };
  const auto generation = [&] {
    const auto run = run_indx({"vault", "status", "--no-scan", "--vault", vault.path()});
    return Json::parse(run.out)["generation"].get<std::string>();
  };
  CHECK(index({})["created"] == 5);
  CHECK(index({})["unchanged"] == 5);
  vault.write("sub/One.md", "# One\n\ngamma\n");
  vault.write("sub/Two.md", "# Two\n\ndelta\n");

  const Json one = index({"--paths", "sub/One.md", "gone.md"});

  CHECK(one["updated"] == 1);
  CHECK(one["unchanged"] == 0);
  CHECK(one["unmatched"] == Json{"gone.md"});
  CHECK(finds("gamma"));
  CHECK(finds("beta"));
  CHECK_FALSE(finds("delta"));
  CHECK(index({"--paths", "sub/Two.md", "--rebuild"})["updated"] == 1);
  CHECK(finds("delta"));
  CHECK(finds("gamma"));
  CHECK(index({"--rebuild"})["created"] == 5);
  const auto before = generation();
  CHECK(index({"--reset-db"})["created"] == 5);
  CHECK(generation().substr(0, 8) != before.substr(0, 8));
  CHECK(finds("delta"));

  std::filesystem::remove(vault.path() + "/sub/Two.md");
  const Json folder = index({"--paths", "sub", "none/**"});
  CHECK(folder["deleted"] == 1);
  CHECK(folder["unchanged"] == 1);
  CHECK(folder["unmatched"] == Json{"none/**"});
  CHECK_FALSE(finds("delta"));
  const auto named = run_indx({"vault", "index-paths", "--paths", "sub/*.md", "--rebuild",
                               "--no-scan", "--vault", vault.path()});
  INFO(named.err);
  CHECK(named.code == 0);
  CHECK(Json::parse(named.out)["updated"] == 1);
}

TEST_CASE("a second holder of a vault is told that one is there", "[end_to_end][A73]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);

  const auto second = run_indx({"serve", "--vault", vault.path(), "--port", "0"});

  CHECK(second.code == 4);
  CHECK(second.out.empty());
  CHECK(second.err.find("vault_locked") != std::string::npos);
  CHECK(server.call("GET", "/v1/notes/Plan.md").status == 200);
}

TEST_CASE("what people do to files by hand is found and told of within 5 s", "[end_to_end][A74]") {
  const TempFolder vault;
  fill_vault(vault);
  vault.write("Old/one.md", "# One\n\nmagnolia\n");
  vault.write("Old/deep/two.md", "# Two\n\nmagnolia\n");
  RunningServer server(vault);
  EventFeed feed(server);
  const auto begin = std::chrono::steady_clock::now();

  vault.write("Plan.md", "# Plan\n\nNow about xylophones.\n");
  vault.write("Fresh/New.md", "# New\n\nA saxophone.\n");
  fs::remove(vault.path() + "/Budget.md");
  fs::rename(vault.path() + "/Old", vault.path() + "/Moved");

  CHECK(feed.wait_for("note.updated", "Plan.md"));
  CHECK(feed.wait_for("note.created", "Fresh/New.md"));
  CHECK(feed.wait_for("note.deleted", "Budget.md"));
  for (const std::string name : {"one.md", "deep/two.md"}) {
    CHECK(feed.wait_for("note.created", "Moved/" + name));
    CHECK(feed.wait_for("note.deleted", "Old/" + name));
  }
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
  for (const auto& frame : feed.frames()) CHECK(frame.data["actor"] == "fs");
  CHECK(hits_for(server, "xylophones") == std::vector<std::string>{"Plan.md"});
  CHECK(hits_for(server, "saxophone") == std::vector<std::string>{"Fresh/New.md"});
  CHECK(hits_for(server, "money").empty());
  CHECK(hits_for(server, "magnolia") ==
        std::vector<std::string>{"Moved/deep/two.md", "Moved/one.md"});
}

}  // namespace indx
