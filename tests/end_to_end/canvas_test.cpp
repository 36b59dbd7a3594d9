#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

Json canvas_card(const std::string& id, const std::string& text) {
  return {{"id", id}, {"type", "text"}, {"text", text}, {"x", 0},
          {"y", 0},   {"width", 5},     {"height", 5}};
}

}  // namespace

TEST_CASE("changes of a canvas are told as events of their own, each once",
          "[end_to_end][A92][A54][A55]") {
  const TempFolder vault;
  RunningServer server(vault);
  EventFeed feed(server, "?kinds=canvas.*"), notes(server, "?kinds=note.*");

  const auto made = server.call("PUT", "/v1/canvas/b/c.canvas",
                                {{"canvas", {{"nodes", {canvas_card("1", "a")}}}}});
  REQUIRE(made.status == 200);
  const auto etag = made.body["data"]["etag"].get<std::string>();
  const auto patched = server.call("PATCH", "/v1/canvas/b/c.canvas",
                                   {{"ops", {{{"op", "remove_node"}, {"id", "1"}}}}},
                                   {{"If-Match", "\"" + etag + "\""}});
  REQUIRE(patched.status == 200);
  CHECK(server
            .call("PATCH", "/v1/canvas/b/c.canvas",
                  {{"ops", {{{"op", "add_node"}, {"node", canvas_card("2", "b")}}}}},
                  {{"If-Match", "\"" + etag + "\""}})
            .status == 412);
  CHECK(server.call("DELETE", "/v1/notes/b/c.canvas").status == 200);
  CHECK(feed.wait_for("canvas.deleted", "b/c.canvas"));
  vault.write("hand.canvas", "{}");
  CHECK(feed.wait_for("canvas.created", "hand.canvas"));
  vault.write("hand.md", "x\n");
  CHECK(notes.wait_for("note.created", "hand.md"));

  std::vector<std::string> kinds;
  for (const auto& frame : feed.frames()) {
    kinds.push_back(frame.event);
    INFO(frame.data.dump());
    for (const auto* key : {"path", "etag"})
      CHECK(frame.data.dump().find(key) != std::string::npos);
    CHECK(frame.data.contains("actor"));
    CHECK(frame.data.contains("at"));
  }
  CHECK(kinds == std::vector<std::string>{"canvas.created", "canvas.updated", "canvas.deleted",
                                          "canvas.created"});
  for (const auto& frame : notes.frames()) CHECK(frame.event == "note.created");
}

TEST_CASE("a canvas that is drawn shows among the backlinks of its notes",
          "[end_to_end][A44][A53]") {
  const TempFolder vault;
  vault.write("d/A.md", "a\n");
  vault.write("old.canvas", R"({"nodes":[{"id":"1","type":"file","file":"d/A.md"}]})");
  RunningServer server(vault);

  CHECK(server
            .call("PUT", "/v1/canvas/new.canvas",
                  {{"canvas", {{"nodes", {canvas_card("1", "see [[A]]")}}}}})
            .status == 200);
  Json rows;
  CHECK(wait_until([&] {
    rows = server.call("GET", "/v1/links/d/A.md/backlinks").body["data"]["backlinks"];
    return rows.size() == 2;
  }));
  INFO(rows.dump());
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["path"] == "new.canvas");
  CHECK(rows[1]["path"] == "old.canvas");
  CHECK(rows.dump().find("\"canvas\"") != std::string::npos);
}

TEST_CASE("canvases follow a folder that moves, byte for byte, also as a job",
          "[end_to_end][A22][A53][M-09]") {
  constexpr int kCanvases = 25;
  const TempFolder vault;
  vault.write("d/A.md", "# H\n");
  vault.write("d/p.png", "png\n");
  const auto canvas = [](const std::string& folder, int number) {
    return cat("{ \"x\" : 1.50,\n\"nodes\":[{\"id\":\"1\",\"type\":\"file\",\"file\":\"", folder,
               "/A.md\",\"subpath\":\"#H\",\"zz\":[1e3]},{\"type\":\"group\",\"background\":\"",
               folder, "/p.png\",\"id\":\"g\"},\n {\"id\":\"2\",\"text\":\"", number, " [[", folder,
               "/A#H|a]] ![](", folder, "/p.png) `[[d/A]]`\",\"type\":\"text\"}] }");
  };
  for (int i = 0; i < kCanvases; ++i) vault.write(cat("c", i, ".canvas"), canvas("d", i));
  vault.write("broken.canvas", "{\"nodes\":[{\"file\":\"d/A.md\"}");
  RunningServer server(vault);

  const auto planned =
      server.call("POST", "/v1/notes/d/move", {{"to", "e/f"}, {"dry_run", true}}).body["data"];
  CHECK(planned["links"].size() == kCanvases);
  CHECK(planned["links"][0]["count"] == 4);
  CHECK(vault.read("c0.canvas") == canvas("d", 0));
  const auto job = server.wait_for_job(server.start_job("/v1/notes/d/move", {{"to", "e/f"}}));

  CHECK(job["state"] == "succeeded");
  INFO(job.dump());
  for (int i = 0; i < kCanvases; ++i) CHECK(vault.read(cat("c", i, ".canvas")) == canvas("e/f", i));
  CHECK(vault.read("broken.canvas") == "{\"nodes\":[{\"file\":\"d/A.md\"}");
  CHECK(job.dump().find("broken.canvas") != std::string::npos);
  const auto back = server.call("GET", "/v1/links/e/f/A.md/backlinks").body["data"];
  CHECK(back["total"] == kCanvases);
  const auto forward = server.call("GET", "/v1/links/c0.canvas/forward").body["data"]["links"];
  REQUIRE(forward.size() == 4);
  CHECK(forward[0]["kind"] == "canvas");
  CHECK(forward[0]["syntax"] == "path");
  CHECK(forward[0]["path"] == "e/f/A.md");
  CHECK(forward[0]["subpath_resolved"] == true);
}

TEST_CASE("renaming tags and properties leaves canvases alone", "[end_to_end][A51][A53]") {
  const TempFolder vault;
  const std::string canvas =
      R"({"nodes":[{"id":"1","type":"text","text":"---\ntags: [old]\nkey: 1\n---\n#old"}]})";
  vault.write("c.canvas", canvas);
  vault.write("n.md", "---\nkey: 1\n---\n#old\n");
  RunningServer server(vault);

  const auto tags = server.call("POST", "/v1/tags/rename", {{"from", "old"}, {"to", "new"}});
  const auto keys = server.call("POST", "/v1/properties/rename", {{"from", "key"}, {"to", "name"}});

  CHECK(tags.status == 200);
  CHECK(tags.body["data"]["changed"].size() == 1);
  CHECK(keys.body["data"]["changed"].size() == 1);
  CHECK(vault.read("n.md") == "---\nname: 1\n---\n#new\n");
  CHECK(vault.read("c.canvas") == canvas);
}

TEST_CASE("a canvas is made, patched and read from the command line",
          "[end_to_end][A53][A54][A55]") {
  const TempFolder vault;
  const auto run = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {"--vault", vault.path()});
    return run_indx(args);
  };
  const auto made = run({"canvas", "create", "c.canvas", "--canvas",
                         Json{{"nodes", {canvas_card("1", "a")}}}.dump()});
  INFO(made.out << made.err);
  CHECK(made.code == 0);
  CHECK(run({"canvas", "patch", "c.canvas", "--ops",
             R"([{"op":"update_node","id":"1","set":{"text":"walrus"}}])"})
            .code == 0);
  const auto read = run({"canvas", "get", "c.canvas"});
  CHECK(read.out.find("walrus") != std::string::npos);
}

}  // namespace indx
