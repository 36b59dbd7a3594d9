#include "base/json.hpp"
#include "base/text.hpp"
#include "vault/canvas.hpp"
#include "vault/canvas_edit.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <random>

namespace indx {
namespace {

const std::string kWholeNode =
    R"({"id":"1","type":"text","text":"t","x":0,"y":0,"width":5,"height":5})";

std::string one_node_canvas(const std::string& node) { return cat("{\"nodes\":[", node, "]}"); }

std::string node_after(const std::string& node, const Json& set,
                       const std::vector<std::string>& unset = {}) {
  const auto after =
      apply_canvas_ops(one_node_canvas(node), {{CanvasOpKind::UpdateNode, "1", set, unset}});
  if (!after.has_value()) return cat("error ", after.error().name());
  const auto canvas = read_canvas(*after).value();
  const auto span = canvas.nodes.at(0).span;
  return after->substr(span.begin, span.end - span.begin);
}

/// A random JSON value, written with random white space and escapes.
std::string random_value(std::mt19937& random, int depth) {
  const auto space = [&] { return std::string(random() % 3, " \t\n"[random() % 3]); };
  switch (random() % (depth > 0 ? 6 : 4)) {
    case 0:
      return std::vector<std::string>{"0", "-0", "1E2", "-3.50",
                                      "12345678901234567890"}[random() % 5];
    case 1:
      return std::vector<std::string>{"true", "false", "null"}[random() % 3];
    case 2:
    case 3:
      return std::vector<std::string>{R"("a")", R"("\u00e9\/")", R"("\ud83d\ude00")", "\"é\"",
                                      R"("\"\\")"}[random() % 5];
    case 4: {
      std::string list = "[";
      for (std::size_t i = random() % 3; i > 0; --i)
        list += cat(space(), random_value(random, depth - 1), space(), i > 1 ? "," : "");
      return list + "]";
    }
    default: {
      std::string object = "{";
      for (std::size_t i = random() % 3; i > 0; --i)
        object += cat(space(), "\"k", i, "\"", space(), ":", random_value(random, depth - 1),
                      i > 1 ? "," : "");
      return object + "}";
    }
  }
}

}  // namespace

TEST_CASE("what the canvas reader takes, every JSON reader takes", "[vault][A53]") {
  for (const auto* bytes :
       {R"({"a":"\ud800"})", R"({"a":"\udc00\ud800"})", R"({"a":"\ud800\u0041"})", R"({"a":1e999})",
        R"({"a":-1e400})", R"({"a":[{"b":"\udfff"}]})"}) {
    INFO(bytes);
    REQUIRE_FALSE(read_canvas(bytes).has_value());
    CHECK(read_canvas(bytes).error().reason == Reason::ParseFailed);
  }
  CHECK(read_canvas(R"({"a":1e-999,"b":"\ud83d\ude00"})").has_value());

  std::mt19937 random(23);
  const std::string seed = one_node_canvas(kWholeNode) + R"( "\ud83d1e9[]{},:tru)";
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = one_node_canvas(kWholeNode);
    for (std::size_t i = 1 + random() % 5; i > 0; --i) {
      const auto at = random() % bytes.size();
      if (random() % 2 == 0)
        bytes[at] = seed[random() % seed.size()];
      else
        bytes.insert(at, seed.substr(random() % seed.size(), 1 + random() % 6));
    }
    INFO(bytes);
    if (read_canvas(bytes).has_value())
      CHECK_FALSE(Json::parse(bytes, nullptr, false).is_discarded());
  }
}

TEST_CASE("an update must leave what the type of a node needs", "[vault][A55]") {
  CHECK(node_after(kWholeNode, Json::object(), {"text"}) == "error validation_failed");
  CHECK(node_after(kWholeNode, Json::object(), {"width"}) == "error validation_failed");
  CHECK(node_after(kWholeNode, {{"type", "file"}}) == "error validation_failed");
  CHECK(Json::parse(node_after(kWholeNode, {{"type", "file"}, {"file", "A.md"}},
                               {"text"}))["file"] == "A.md");
  // What was missing before does not keep a node from being moved.
  CHECK(node_after(R"({"id":"1","type":"file"})", {{"x", 1}}) ==
        R"({"id":"1","type":"file","x":1})");
}

TEST_CASE("new members look like those that are there", "[vault][A55]") {
  CHECK(node_after("{\n  \"id\": \"1\",\n  \"zz\": 1.50\n}", {{"x", 1}}) ==
        "{\n  \"id\": \"1\",\n  \"zz\": 1.50,\n  \"x\": 1\n}");
  CHECK(node_after("{ \"zz\" : 1, \"id\":\"1\" }", {{"x", 1}}, {"zz"}) ==
        "{ \"id\":\"1\", \"x\" : 1 }");
  CHECK(node_after("{\"id\":\"1\",\"a\":1,\"b\":2}", Json::object(), {"a", "b", "none"}) ==
        "{\"id\":\"1\"}");
}

TEST_CASE("an update keeps the bytes of every other member", "[vault][A55]") {
  std::mt19937 random(31);
  for (int round = 0; round < 2000; ++round) {
    std::string node = "{\"id\":\"1\"";
    const auto count = 1 + random() % 5;
    for (std::size_t i = 0; i < count; ++i)
      node += cat(random() % 2 == 0 ? ", " : ",", "\"m", i, "\":", random_value(random, 2));
    node += "}";
    Json set = Json::object();
    std::vector<std::string> unset;
    if (random() % 2 == 0) set[cat("m", random() % 7)] = static_cast<int>(random() % 100);
    if (random() % 2 == 0) unset.push_back(cat("m", random() % 7));
    INFO(node << " set " << set.dump() << " unset " << Json(unset).dump());

    const auto after = node_after(node, set, unset);

    REQUIRE_FALSE(after.starts_with("error"));
    const auto old_item = read_canvas_item(node).value(),
               new_item = read_canvas_item(after).value();
    for (const auto& member : old_item.members) {
      const auto* now = new_item.find(member.key);
      if (set.contains(member.key)) {
        REQUIRE(now != nullptr);
        CHECK(after.substr(now->value.begin, now->value.end - now->value.begin) ==
              set[member.key].dump());
      } else if (!unset.empty() && unset[0] == member.key) {
        CHECK(now == nullptr);
      } else {
        REQUIRE(now != nullptr);
        CHECK(after.substr(now->key_span.begin, now->value.end - now->key_span.begin) ==
              node.substr(member.key_span.begin, member.value.end - member.key_span.begin));
      }
    }
    Json expected = Json::parse(node);
    for (const auto& key : unset) expected.erase(key);
    for (const auto& [key, value] : set.items()) expected[key] = value;
    CHECK(nlohmann::json(Json::parse(after)) == nlohmann::json(expected));
  }
}

TEST_CASE("a canvas written whole is read back equal", "[vault][A54]") {
  std::mt19937 random(41);
  for (int round = 0; round < 300; ++round) {
    Json canvas = Json::object();
    canvas["nodes"] = Json::array();
    for (std::size_t i = random() % 4; i > 0; --i) {
      Json node = Json::parse(kWholeNode);
      node["id"] = cat("n", i);
      node["zz"] = Json::parse(random_value(random, 3));
      canvas["nodes"].push_back(node);
    }
    if (random() % 2 == 0) canvas["other"] = Json::parse(random_value(random, 3));
    INFO(canvas.dump());

    const auto written = write_canvas(canvas, std::nullopt);

    REQUIRE(written.has_value());
    CHECK(Json::parse(*written) == canvas);
    CHECK(write_canvas(canvas, *written).value() == *written);
    CHECK(read_canvas(*written).value().nodes.size() == canvas["nodes"].size());
  }
}

TEST_CASE("time grows with the size of a canvas, not faster", "[vault][A55]") {
  const auto seconds_for = [](int members) {
    std::string node = "{\"id\":\"1\"";
    Json set = Json::object();
    for (int i = 0; i < members; ++i) {
      node += cat(",\"m", i, "\":", i);
      set[cat("s", i)] = i;
    }
    const auto begin = std::chrono::steady_clock::now();
    REQUIRE_FALSE(node_after(node + "}", set).starts_with("error"));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const double small = seconds_for(500), large = seconds_for(4000);
  CHECK(large < 8 * 6 * small + 0.2);
}

}  // namespace indx
