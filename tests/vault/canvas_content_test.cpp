#include "vault/canvas_content.hpp"

#include "base/json.hpp"
#include "vault/link_resolver.hpp"

#include <catch2/catch.hpp>

#include <random>

namespace indx {

TEST_CASE("a canvas gives its texts to search and its links to the index", "[vault][A53][A44]") {
  const std::string bytes =
      "{\"nodes\":[\n"
      "{\"id\":\"1\",\"type\":\"file\",\"file\":\"d/A.md\",\"subpath\":\"#H#I\"},\n"
      "{\"id\":\"2\",\"type\":\"text\",\"text\":\"one\\n`[[no]]` see [[B|b]] and ![[p.png]]\"},\n"
      "{\"id\":\"3\",\"type\":\"group\",\"label\":\"Box\",\"background\":\"bg.png\"},\n"
      "{\"id\":\"4\",\"type\":\"link\",\"url\":\"https://x.example\"}],\n"
      "\"edges\":[{\"id\":\"e\",\"fromNode\":\"1\",\"toNode\":\"2\",\"label\":\"leads to\"}]}";

  const auto content = canvas_content(bytes);

  CHECK(content.text == "one\n`[[no]]` see [[B|b]] and ![[p.png]]\n\nBox\n\nleads to");
  const auto& links = content.note.links;
  REQUIRE(links.size() == 4);
  for (const auto& link : links) CHECK(link.kind == LinkKind::Canvas);
  CHECK(links[0].target == "d/A.md");
  CHECK(links[0].syntax == LinkSyntax::Path);
  CHECK(links[0].subpath == "H#I");
  CHECK(links[0].line == 2);
  CHECK(links[0].end == 0);
  CHECK(links[1].target == "B");
  CHECK(links[1].line == 3);
  CHECK(content.text.substr(links[1].begin, links[1].end - links[1].begin) == "[[B|b]]");
  CHECK(links[2].target == "p.png");
  CHECK(links[3].target == "bg.png");
}

TEST_CASE("what is no canvas gives nothing to the index", "[vault][A53]") {
  for (const auto* bytes : {"[1]", "{", "{\"nodes\":1}", "\xff"}) {
    const auto content = canvas_content(bytes);
    CHECK(content.text.empty());
    CHECK(content.note.links.empty());
    CHECK(content.note.warnings == std::vector<std::string>{"canvas_invalid"});
  }
  CHECK(canvas_content("").note.warnings.empty());
  CHECK(is_canvas_path("a/b.CANVAS"));
  CHECK_FALSE(is_canvas_path(".canvas"));
  CHECK_FALSE(is_canvas_path("b.canvas.md"));
}

TEST_CASE("the path of a file node reaches that file or none", "[vault][A53]") {
  const LinkCandidates files({{1, "sub/A.md"}, {2, "A.txt/A.md"}});
  CHECK(files.resolve("sub/c.canvas", "sub/A.md", LinkSyntax::Path)->id == 1);
  CHECK(files.resolve("sub/c.canvas", "A.md", LinkSyntax::Path) == nullptr);
  CHECK(files.resolve("sub/c.canvas", "A.md", LinkSyntax::Wiki)->id == 1);
  CHECK(files.resolve("sub/c.canvas", "sub/A", LinkSyntax::Path) == nullptr);
}

TEST_CASE("links in random text cards stand where their offsets say", "[vault][A53]") {
  std::mt19937 random(5);
  const std::vector<std::string> pieces = {"[[A]]", " é ", "\n", "`[[no]]`",
                                           "\"",    "(",   "x ", "---\n"};
  for (int round = 0; round < 200; ++round) {
    Json canvas{{"nodes", Json::array()}};
    for (std::size_t i = random() % 5; i > 0; --i) {
      std::string text;
      for (std::size_t k = random() % 8; k > 0; --k) text += pieces[random() % pieces.size()];
      canvas["nodes"].push_back({{"id", std::to_string(i)}, {"type", "text"}, {"text", text}});
    }
    const auto content = canvas_content(canvas.dump());
    INFO(canvas.dump());
    CHECK(content.note.warnings.empty());
    for (const auto& link : content.note.links) {
      CHECK(link.target == "A");
      if (link.end > 0) CHECK(content.text.substr(link.begin, link.end - link.begin) == "[[A]]");
    }
  }
}

}  // namespace indx
