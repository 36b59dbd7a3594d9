#include "base/text.hpp"
#include "vault/canvas.hpp"
#include "vault/canvas_edit.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>

namespace indx {
namespace {

/// A canvas with odd numbers, unknown members and odd white space; the same for the same seed. One
/// of its values, `hole`, is the byte 1.
class OddCanvas {
 public:
  OddCanvas(unsigned seed, int hole) : random_(seed), hole_(hole) {
    std::vector<std::string> members = {member("metadata", value(3)), member("big", value(0))};
    const std::size_t node_count = 1 + random_() % 4, edge_count = random_() % 3;
    std::vector<std::string> nodes, edges;
    for (std::size_t i = 0; i < node_count; ++i) nodes.push_back(node(i));
    for (std::size_t i = 0; i < edge_count; ++i) edges.push_back(edge(i));
    members.push_back(member("nodes", enclosed('[', nodes, ']')));
    if (random_() % 3 > 0) members.push_back(member("edges", enclosed('[', edges, ']')));
    std::shuffle(members.begin(), members.end(), random_);
    text = random_() % 4 == 0 ? "\xEF\xBB\xBF" : "";
    text += space() + enclosed('{', members, '}') + space();
  }

  std::string text;
  int slots = 0;  ///< values that may be the hole

 private:
  std::string pick(const std::vector<std::string>& texts) {
    return texts[random_() % texts.size()];
  }
  std::string space() { return pick({"", "", " ", "\n\t", "\r\n  "}); }
  std::string slot(const std::string& value) { return slots++ == hole_ ? "\x01" : value; }
  std::string whole() { return slot(pick({"-0", "1E1", "12", "-3.0", "12345678901234567890123"})); }
  std::string member(const std::string& key, const std::string& value) {
    return cat(space(), '"', key, '"', space(), ':', space(), value, space());
  }
  std::string enclosed(char open, const std::vector<std::string>& items, char close) {
    return cat(open, join(items, ","), items.empty() ? space() : "", close);
  }
  std::string value(int depth) {
    std::vector<std::string> items;
    const auto kind = depth > 0 ? random_() % 4 : 0;
    const auto count = random_() % 4;
    for (std::size_t i = 0; kind > 1 && i < count; ++i)
      items.push_back(kind == 2 ? cat(space(), value(depth - 1), space())
                                : member(cat("k", i), value(depth - 1)));
    if (kind == 2) return enclosed('[', items, ']');
    if (kind == 3) return enclosed('{', items, '}');
    return slot(pick({"1.10", "-0.0", "1e-7", "12345678901234567890123", "9007199254740993", "null",
                      "true", R"("\u00e9\/")", R"("a")"}));
  }
  std::string node(std::size_t number) {
    std::vector<std::string> members = {member("id", cat("\"n", number, '"')),
                                        member("type", pick({R"("text")", R"("\u0074ext")"})),
                                        member("text", R"("a \u0062")"), member("zz", value(3)),
                                        member("yy", value(1))};
    for (const auto* key : {"x", "y", "width", "height"}) members.push_back(member(key, whole()));
    std::shuffle(members.begin(), members.end(), random_);
    return space() + enclosed('{', members, '}') + space();
  }
  std::string edge(std::size_t number) {
    std::vector<std::string> members = {member("id", cat("\"e", number, '"')),
                                        member("fromNode", R"("n0")"),
                                        member("toNode", R"("n\u0030")"), member("zz", value(2))};
    return space() + enclosed('{', members, '}') + space();
  }

  std::mt19937 random_;
  const int hole_;
};

/// The canvas as a client sends it that read it: both lists are there, numbers are respelled, and
/// perhaps keys are sorted.
Json sent_back(const std::string& bytes, bool is_sorted) {
  Json canvas = Json::parse(bytes);
  for (const auto* key : {"nodes", "edges"})
    if (!canvas.contains(key)) canvas[key] = Json::array();
  return Json::parse(is_sorted ? nlohmann::json(canvas).dump() : canvas.dump());
}

std::map<std::string, std::string> bytes_by_id(const std::string& bytes) {
  std::map<std::string, std::string> all;
  const auto canvas = read_canvas(bytes).value();
  for (const auto* items : {&canvas.nodes, &canvas.edges})
    for (const auto& item : *items)
      all[item.id] = bytes.substr(item.span.begin, item.span.end - item.span.begin);
  return all;
}

}  // namespace

TEST_CASE("a canvas that is read and written back keeps every byte", "[vault][A54]") {
  for (unsigned seed = 0; seed < 1500; ++seed) {
    const std::string bytes = OddCanvas(seed, -1).text;
    INFO(bytes);
    for (const bool is_sorted : {false, true})
      CHECK(write_canvas(sent_back(bytes, is_sorted), bytes).value() == bytes);
  }
  for (const std::string empty : {"", " \n", "{}", "{ }", "\xEF\xBB\xBF", "{\"nodes\":[ ]}"})
    CHECK(write_canvas({{"nodes", Json::array()}, {"edges", Json::array()}}, empty).value() ==
          empty);
}

TEST_CASE("one changed value changes no other byte of a canvas", "[vault][A54]") {
  std::mt19937 random(5);
  int changed = 0;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    const int slots = OddCanvas(seed, -1).slots;
    const int hole = static_cast<int>(random() % static_cast<unsigned>(slots));
    const std::string text = OddCanvas(seed, hole).text;
    const auto before = replace_all(text, "\x01", "12.50");
    const auto after = replace_all(text, "\x01", "777777");
    INFO(before << "\nhole " << hole);
    if (before == after) continue;  // the value that was picked is in a part that is left out
    ++changed;
    for (const bool is_sorted : {false, true})
      CHECK(write_canvas(sent_back(after, is_sorted), before).value() == after);
  }
  CHECK(changed > 1000);
}

TEST_CASE("nodes keep their bytes when others come, go and change places", "[vault][A54]") {
  std::mt19937 random(9);
  for (unsigned seed = 0; seed < 500; ++seed) {
    const std::string bytes = OddCanvas(seed, -1).text;
    Json canvas = sent_back(bytes, false);
    auto& nodes = canvas["nodes"];
    if (random() % 2 == 0) canvas["edges"] = Json::array();
    if (canvas["edges"].empty() && random() % 2 == 0) nodes.erase(random() % nodes.size());
    if (random() % 2 == 0)
      nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(random() % (nodes.size() + 1)),
                   Json{{"id", "new"},
                        {"type", "text"},
                        {"text", "t"},
                        {"x", 0},
                        {"y", 0},
                        {"width", 5},
                        {"height", 5}});
    if (random() % 2 == 0) std::reverse(nodes.begin(), nodes.end());
    INFO(bytes << "\n" << canvas.dump());

    const auto written = write_canvas(canvas, bytes);

    REQUIRE(written.has_value());
    CHECK(nlohmann::json(sent_back(*written, false)) == nlohmann::json(canvas));
    const auto before = bytes_by_id(bytes);
    for (const auto& [id, text] : bytes_by_id(*written))
      if (id != "new") CHECK(text == before.at(id));
  }
}

TEST_CASE("numbers that are one only when rounded are written as asked", "[vault]") {
  const auto with_x = [](const std::string& x) {
    return cat(R"({"nodes":[{"id":"a","type":"group","x":)", x,
               R"(,"y":0,"width":1,"height":1}],"edges":[]})");
  };
  const auto written = [&](const std::string& before, const std::string& asked) {
    return write_canvas(Json::parse(with_x(asked)), with_x(before)).value() == with_x(asked);
  };

  CHECK(written("9007199254740993", "9.007199254740992e+15"));
  CHECK(written("9007199254740993", "9007199254740992"));
  CHECK(written("18446744073709551615", "-1"));
  CHECK(written("-1", "18446744073709551615"));
  for (const auto* kept : {"1.0", "10e-1", "1"})
    CHECK(write_canvas(Json::parse(with_x("1")), with_x(kept)).value() == with_x(kept));
}

TEST_CASE("what is new in a canvas looks like what is there", "[vault][A54]") {
  const std::string node =
      R"({"id":"1","type":"text","text":"t","x":0,"y":0,"width":5,"height":1E1})";
  const std::string lines = cat("{\n\t\"nodes\":[\n\t\t", node, "\n\t],\n\t\"v\":1.0\n}\n");
  Json canvas = Json::parse(lines);
  Json second = Json::parse(node);
  second["id"] = "2";
  canvas["nodes"].push_back(second);
  canvas["edges"] = {{{"id", "e"}, {"fromNode", "1"}, {"toNode", "2"}}};

  CHECK(write_canvas(canvas, lines).value() ==
        cat("{\n\t\"nodes\":[\n\t\t", node, ",\n\t\t", second.dump(), "\n\t],\n\t\"v\":1.0,\n\t",
            "\"edges\":[\n\t\t{\"id\":\"e\",\"fromNode\":\"1\",\"toNode\":\"2\"}\n\t]\n}\n"));
  canvas.erase("edges");
  canvas.erase("v");
  const auto one_line = cat("{\"v\":1.0,\"nodes\":[", node, "]}");
  CHECK(write_canvas(canvas, one_line).value() ==
        cat("{\"nodes\":[", node, ",", second.dump(), "]}"));
}

}  // namespace indx
