#include "ops/operations.hpp"
#include "tests/support/fake_context.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

struct OneCanvas : FakeWorld {
  explicit OneCanvas(const std::string& text) { files["c.canvas"] = text; }
};
const std::string kSmallCanvas =
    "{\"zz\":1.50,\"nodes\":[{\"id\":\"1\",\"type\":\"text\",\"text\":\"t\",\"x\":0,\"y\":0,"
    "\"width\":5,\"height\":5}],\"edges\":[{\"id\":\"e\",\"fromNode\":\"1\",\"toNode\":\"9\"}]}";

Json card(const std::string& id) {
  return {{"id", id}, {"type", "text"}, {"text", "t"}, {"x", 0},
          {"y", 0},   {"width", 5},     {"height", 5}};
}
Result<Json> patch_canvas(FakeWorld& world, const Json& ops, Json more = Json::object()) {
  more.update(Json{{"path", "c.canvas"}, {"ops", ops}});
  return run_operation(world, canvas_patch(), more);
}

TEST_CASE("canvas_read gives the canvas with its unknown keys, etag and dangling edges",
          "[ops][A53]") {
  OneCanvas world(kSmallCanvas);

  const Json answer = *run_operation(world, canvas_read(), Json{{"path", "c.canvas"}});

  CHECK(answer["etag"] == world.etag("c.canvas"));
  CHECK(answer["canvas"]["zz"] == 1.5);
  CHECK(answer["canvas"]["nodes"][0]["id"] == "1");
  CHECK(answer["dangling_edges"] == Json::array({{{"id", "e"}, {"missing", {"9"}}}}));
  world.files["c.canvas"] = "";
  const Json empty = *run_operation(world, canvas_read(), Json{{"path", "c.canvas"}});
  CHECK(empty["canvas"] == Json{{"nodes", Json::array()}, {"edges", Json::array()}});
}

TEST_CASE("canvas_read says why a file is no canvas", "[ops][A53]") {
  OneCanvas world("[1,2]");
  const auto read = [&](const char* path) {
    return run_operation(world, canvas_read(), Json{{"path", path}}).error().reason;
  };
  CHECK(read("c.canvas") == Reason::ParseFailed);
  CHECK(read("none.canvas") == Reason::NotFound);
  CHECK(read("a.md") == Reason::ValidationFailed);
  CHECK(read("../c.canvas") == Reason::ValidationFailed);
  world.files["c.canvas"] = "{\"a\":\"\xff\"}";
  CHECK(read("c.canvas") == Reason::NotUtf8);
}

TEST_CASE("canvas_patch edits, answers with the canvas and leaves other bytes", "[ops][A55]") {
  OneCanvas world(kSmallCanvas);

  const Json answer =
      *patch_canvas(world, {{{"op", "add_node"}, {"node", card("2")}},
                            {{"op", "update_node"}, {"id", "1"}, {"set", {{"x", 9}}}},
                            {{"op", "remove_edge"}, {"id", "e"}}});

  CHECK(answer["changed"] == true);
  CHECK(answer["canvas"]["nodes"].size() == 2);
  CHECK(answer["etag"] == world.etag("c.canvas"));
  CHECK(world.files["c.canvas"] ==
        "{\"zz\":1.50,\"nodes\":[{\"id\":\"1\",\"type\":\"text\",\"text\":\"t\",\"x\":9,\"y\":0,"
        "\"width\":5,\"height\":5}," +
            card("2").dump() + "],\"edges\":[]}");
  CHECK(world.writes.size() == 1);
}

TEST_CASE("a canvas patch is all or nothing and names the step that fails", "[ops][A55]") {
  OneCanvas world(kSmallCanvas);
  const auto failed = [&](const Json& second, Reason reason) {
    const auto answer =
        patch_canvas(world, Json::array({{{"op", "add_node"}, {"node", card("2")}}, second}));
    REQUIRE_FALSE(answer);
    CHECK(answer.error().reason == reason);
    CHECK(answer.error().details["op_index"] == 1);
    CHECK(world.files["c.canvas"] == kSmallCanvas);
  };

  failed({{"op", "add_node"}, {"node", card("2")}}, Reason::Conflict);
  failed({{"op", "remove_node"}, {"id", "none"}}, Reason::TargetNotFound);
  failed({{"op", "add_edge"}, {"edge", {{"id", "f"}, {"fromNode", "1"}, {"toNode", "none"}}}},
         Reason::ValidationFailed);
  failed({{"op", "add_node"}}, Reason::ValidationFailed);
  failed({{"op", "remove_node"}, {"id", "1"}, {"set", {{"x", 1}}}}, Reason::ValidationFailed);
  CHECK(world.writes.empty());
  world.files["c.canvas"] = "{\"nodes\":[{\"id\":\"1\"},{\"id\":\"1\"}]}";
  CHECK(patch_canvas(world, {{{"op", "add_node"}, {"node", card("2")}}}).error().reason ==
        Reason::ParseFailed);
}

TEST_CASE("a canvas change honours if_match, expected_sha256 and dry_run", "[ops][A54][A55]") {
  OneCanvas world(kSmallCanvas);
  const Json add = {{{"op", "add_node"}, {"node", card("2")}}};

  CHECK(patch_canvas(world, add, {{"if_match", "other"}}).error().reason == Reason::EtagMismatch);
  CHECK(patch_canvas(world, add, {{"expected_sha256", "other"}}).error().reason ==
        Reason::EtagMismatch);
  const Json dry = *patch_canvas(world, add, {{"dry_run", true}});
  CHECK(dry["dry_run"] == true);
  CHECK(dry["diff"].get<std::string>().find("+{\"zz\":1.50") != std::string::npos);
  CHECK(dry["canvas"]["nodes"].size() == 2);
  CHECK(world.writes.empty());
  CHECK((*patch_canvas(world, add, {{"if_match", world.etag("c.canvas")}}))["etag"] == dry["etag"]);
  CHECK(patch_canvas(world, Json::array()).error().reason == Reason::ValidationFailed);
}

TEST_CASE("canvas_write creates, replaces and refuses what the format forbids", "[ops][A54]") {
  FakeWorld world;
  const auto write = [&](const Json& canvas, Json more = Json::object()) {
    more.update(Json{{"path", "n.canvas"}, {"canvas", canvas}});
    return run_operation(world, canvas_write(), more);
  };
  const Json one{{"nodes", {card("1")}}, {"edges", Json::array()}, {"meta", {{"v", 1}}}};

  CHECK((*write(one))["created"] == true);
  CHECK(Json::parse(world.files["n.canvas"]) == one);
  CHECK((*write(one))["changed"] == false);
  CHECK(write(one, {{"if_not_exists", true}}).error().reason == Reason::Conflict);
  CHECK(write(one, {{"if_match", "other"}}).error().reason == Reason::EtagMismatch);

  const auto before = world.files["n.canvas"];
  const auto refused = [&](const Json& node, const Json& edges = Json::array()) {
    INFO(node.dump() << edges.dump());
    const auto answer = write({{"nodes", {node}}, {"edges", edges}});
    REQUIRE_FALSE(answer);
    CHECK(answer.error().reason == Reason::ValidationFailed);
    CHECK(world.files["n.canvas"] == before);
  };
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, Json>>{{"x", 1.5},
                                                 {"width", "5"},
                                                 {"color", "7"},
                                                 {"color", "#12345"},
                                                 {"id", ""},
                                                 {"id", 1},
                                                 {"text", 1},
                                                 {"type", 1},
                                                 {"subpath", "H"},
                                                 {"backgroundStyle", "tile"}}) {
    Json node = card("1");
    node[key] = value;
    refused(node);
  }
  for (const auto* key : {"id", "type", "x", "y", "width", "height", "text"}) {
    Json node = card("1");
    node.erase(key);
    refused(node);
  }
  const Json edge{{"id", "e"}, {"fromNode", "1"}, {"toNode", "1"}};
  CHECK(write({{"nodes", {card("1")}}, {"edges", {edge}}}, {{"dry_run", true}}));
  refused(card("1"), Json::array({edge, edge}));
  for (const auto& [key, value] : std::vector<std::pair<std::string, Json>>{{"toNode", "2"},
                                                                            {"fromSide", "middle"},
                                                                            {"toEnd", "dot"},
                                                                            {"label", 1},
                                                                            {"color", "red"}}) {
    Json bad = edge;
    bad[key] = value;
    refused(card("1"), Json::array({bad}));
  }
  CHECK(write({{"nodes", 1}}).error().reason == Reason::ValidationFailed);
  CHECK(write({{"nodes", {card("1"), card("1")}}}).error().reason == Reason::ValidationFailed);
  world.files["n.canvas"] = "broken";
  CHECK(write(one).error().reason == Reason::ParseFailed);
}

TEST_CASE("a canvas that is read, moved a little and written keeps its other numbers",
          "[ops][A53][A54]") {
  const std::string text =
      "{\n\t\"nodes\":[\n\t\t{\"id\":\"1\",\"type\":\"text\",\"text\":\"t\",\"x\":0,\"y\":-0,"
      "\"width\":5,\"height\":1E1,\"big\":12345678901234567890123,\"d\":1.10},\n\t\t{\"id\":\"2\","
      "\"type\":\"group\",\"x\":7.0,\"y\":0,\"width\":5,\"height\":5}\n\t],\n\t\"v\":[1.50]\n}\n";
  OneCanvas world(text);
  const auto read = [&] {
    const auto answer = *run_operation(world, canvas_read(), Json{{"path", "c.canvas"}});
    return Json::parse(answer["canvas"].dump());  // numbers as a client spells them
  };
  const auto write = [&](const Json& canvas) {
    return run_operation(world, canvas_write(), Json{{"path", "c.canvas"}, {"canvas", canvas}});
  };

  CHECK((*write(read()))["changed"] == false);
  Json canvas = read();
  canvas["nodes"][0]["x"] = 40;
  REQUIRE(write(canvas).has_value());

  CHECK(world.files["c.canvas"] == replace_all(text, "\"x\":0,", "\"x\":40,"));
}

}  // namespace
}  // namespace indx
