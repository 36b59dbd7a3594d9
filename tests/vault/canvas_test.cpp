#include "vault/canvas.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "vault/canvas_edit.hpp"

#include <catch2/catch.hpp>

#include <random>

namespace indx {
namespace {

Json text_node(const std::string& id) {
  return {{"id", id}, {"type", "text"}, {"text", "t"}, {"x", 0},
          {"y", 0},   {"width", 5},     {"height", 5}};
}
CanvasOp add_node_op(const std::string& id) {
  return {CanvasOpKind::AddNode, "", text_node(id), {}};
}
CanvasOp add_edge_op(const std::string& id, const std::string& from, const std::string& to) {
  return {CanvasOpKind::AddEdge, "", {{"id", id}, {"fromNode", from}, {"toNode", to}}, {}};
}
std::string patched_canvas(const std::string& bytes, const std::vector<CanvasOp>& ops) {
  const auto after = apply_canvas_ops(bytes, ops);
  return after.has_value() ? *after : cat("error ", after.error().name());
}

const std::string kTwoNodes =
    "{\n\t\"nodes\":[\n\t\t{\"id\":\"1\",\"type\":\"text\",\"text\":\"a "
    "\\u0062\",\"x\":-0,\"y\":1E1,"
    "\"width\":5,\"height\":5,\"zz\":[ 1 "
    "]},\n\t\t{\"id\":\"2\",\"type\":\"file\",\"file\":\"N.md\","
    "\"x\":0,\"y\":0,\"width\":5,\"height\":5}\n\t],\n\t\"edges\":[\n\t\t{\"id\":\"e\","
    "\"fromNode\":\"1\",\"toNode\":\"2\"}\n\t],\n\t\"metadata\":{\"v\": 1.50}\n}\n";

TEST_CASE("a canvas is read with the place of each object and text", "[vault][A53]") {
  const auto canvas = read_canvas(kTwoNodes);

  REQUIRE(canvas.has_value());
  REQUIRE(canvas->nodes.size() == 2);
  CHECK(canvas->nodes[0].text("text") == "a b");
  const auto span = canvas->nodes[1].find("file")->value;
  CHECK(kTwoNodes.substr(span.begin, span.end - span.begin) == "\"N.md\"");
  CHECK(canvas->edges[0].id == "e");
  CHECK(dangling_edges(*canvas).empty());
  const auto renamed = replace_canvas_strings(kTwoNodes, {{span, "a \"b\".md"}});
  CHECK(renamed == replace_all(kTwoNodes, "\"N.md\"", "\"a \\\"b\\\".md\""));
}

TEST_CASE("an empty file is an empty canvas, broken ones are errors", "[vault][A53][A55]") {
  for (const std::string blank : {"", " \n", "\xEF\xBB\xBF"}) {
    CHECK(read_canvas(blank)->is_blank);
    CHECK(read_canvas(patched_canvas(blank, {add_node_op("1")}))->nodes.size() == 1);
  }
  CHECK(patched_canvas("{}", {add_node_op("1")}) == "{\"nodes\":[" + text_node("1").dump() + "]}");
  for (const std::string broken :
       {"[1,2]", "{", "{\"nodes\":{}}", "{\"nodes\":[1]}", "{} x", "{\"a\":01}", "{\"a\":\"\\x\"}",
        "{\"a\":1,\"a\":2}", "{\"nodes\":[{\"id\":\"1\"},{\"id\":\"1\"}]}", "{\"a\":nul}", "{\"a\"",
        "{\"a\":\"b\nc\"}", "{\"a\":\"\\ud8", "{,}", "{\"a\":1,}"}) {
    INFO(broken);
    CHECK(patched_canvas(broken, {add_node_op("9")}) == "error parse_failed");
  }
  CHECK(patched_canvas("{\"a\":\"\xff\"}", {add_node_op("9")}) == "error not_utf8");
  const auto deep = "{\"a\":" + std::string(100000, '[') + std::string(100000, ']') + "}";
  CHECK(patched_canvas(deep, {add_node_op("9")}) == "error parse_failed");
}

TEST_CASE("a step changes only the object it is about", "[vault][A55]") {
  const std::string unknown =
      "{\"metadata\":{\"v\":1},\"nodes\":[{\"id\":\"1\",\"type\":\"text\",\"text\":\"t\",\"x\":0,"
      "\"y\":0,\"width\":5,\"height\":5,\"zz\":[1]}],\"edges\":[]}";
  CHECK(patched_canvas(unknown, {add_node_op("2")}) ==
        replace_all(unknown, "}],\"edges", "}," + text_node("2").dump() + "],\"edges"));
  CHECK(patched_canvas(kTwoNodes, {{CanvasOpKind::UpdateNode, "1", {{"x", 7}}, {}}}) ==
        replace_all(kTwoNodes, "\"x\":-0", "\"x\":7"));
  CHECK(patched_canvas(kTwoNodes, {{CanvasOpKind::UpdateNode, "1", {{"color", "1"}}, {}}}) ==
        replace_all(kTwoNodes, "[ 1 ]}", "[ 1 ],\"color\":\"1\"}"));
  CHECK(patched_canvas(kTwoNodes, {{CanvasOpKind::UpdateNode, "1", Json::object(), {"zz"}}}) ==
        replace_all(kTwoNodes, ",\"zz\":[ 1 ]", ""));
  CHECK(patched_canvas(kTwoNodes, {add_node_op("3"), {CanvasOpKind::RemoveNode, "3", {}, {}}}) ==
        kTwoNodes);
  const auto removed = patched_canvas(kTwoNodes, {{CanvasOpKind::RemoveNode, "2", {}, {}}});
  CHECK(removed.find("\"edges\":[]") != std::string::npos);
  CHECK(removed.find("\"id\":\"2\"") == std::string::npos);
  CHECK(patched_canvas(kTwoNodes, {add_edge_op("f", "2", "1")}).find("toEnd") == std::string::npos);
}

TEST_CASE("a step that the format forbids is refused", "[vault][A55]") {
  CHECK(patched_canvas(kTwoNodes, {add_edge_op("f", "1", "9")}) == "error validation_failed");
  CHECK(patched_canvas(kTwoNodes, {add_node_op("1")}) == "error conflict");
  CHECK(patched_canvas(kTwoNodes, {{CanvasOpKind::RemoveEdge, "x", {}, {}}}) ==
        "error target_not_found");
  CHECK(patched_canvas(kTwoNodes, {{CanvasOpKind::UpdateNode, "1", {{"x", 1.5}}, {}}}) ==
        "error validation_failed");
  CHECK(patched_canvas(kTwoNodes, {{CanvasOpKind::UpdateNode, "1", {{"color", "red"}}, {}}}) ==
        "error validation_failed");
  const auto failed = apply_canvas_ops(kTwoNodes, {add_node_op("3"), add_node_op("3")});
  CHECK(failed.error().details["op_index"] == 1);
}

TEST_CASE("a whole canvas is written a node a line and read back equal", "[vault][A54]") {
  const Json canvas = Json::parse(kTwoNodes);
  const auto written = write_canvas(canvas, std::nullopt);
  REQUIRE(written.has_value());
  CHECK(Json::parse(*written) == canvas);
  CHECK(*write_canvas(canvas, kTwoNodes) == kTwoNodes);
  Json changed = canvas;
  changed["nodes"].push_back(text_node("3"));
  CHECK(write_canvas(changed, kTwoNodes)->find("\"x\":-0,\"y\":1E1") != std::string::npos);
  changed["edges"].push_back({{"id", "g"}, {"fromNode", "1"}, {"toNode", "none"}});
  CHECK(write_canvas(changed, std::nullopt).error().reason == Reason::ValidationFailed);
  Json twice = canvas;
  twice["nodes"].push_back(twice["nodes"][0]);
  CHECK(write_canvas(twice, std::nullopt).error().reason == Reason::ValidationFailed);
}

TEST_CASE("random steps keep the bytes of all other objects", "[vault][A55]") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string bytes = random() % 2 == 0 ? kTwoNodes : Json::parse(kTwoNodes).dump();
    for (int step = 0; step < 12; ++step) {
      const auto before = *read_canvas(bytes);
      std::vector<std::string> ids;
      for (const auto& node : before.nodes) ids.push_back(node.id);
      const std::string some = ids.empty() ? "none" : ids[random() % ids.size()];
      const auto fresh = cat("n", round, "-", step);
      CanvasOp op = add_node_op(fresh);
      switch (random() % 4) {
        case 0:
          op = {CanvasOpKind::RemoveNode, some, {}, {}};
          break;
        case 1:
          op = {CanvasOpKind::UpdateNode, some, {{"x", static_cast<int>(random() % 99)}}, {}};
          break;
        case 2:
          op = add_edge_op(fresh, some, some);
          break;
        default:
          break;
      }
      const auto after = apply_canvas_ops(bytes, {op});
      if (!after.has_value()) continue;
      const auto now = read_canvas(*after);
      REQUIRE(now.has_value());
      CHECK(dangling_edges(*now).empty());
      for (const auto& node : now->nodes)
        for (const auto& old : before.nodes)
          if (old.id == node.id && node.id != op.id)
            CHECK(bytes.substr(old.span.begin, old.span.end - old.span.begin) ==
                  after->substr(node.span.begin, node.span.end - node.span.begin));
      CHECK(after->find("\"v\":") != std::string::npos);
      bytes = *after;
    }
  }
}

TEST_CASE("random bytes never break the canvas reader", "[vault][A53]") {
  std::mt19937 random(11);
  for (int round = 0; round < 4000; ++round) {
    std::string bytes = kTwoNodes;
    for (unsigned i = 0; i < 1 + random() % 4; ++i)
      bytes[random() % bytes.size()] = "{}[]\",:\\0tu\x01 "[random() % 13];
    const auto after = apply_canvas_ops(bytes, {add_node_op("new")});
    if (after.has_value()) CHECK(read_canvas(*after).has_value());
  }
}

}  // namespace
}  // namespace indx
