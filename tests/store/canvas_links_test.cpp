#include "tests/store/index_fixture.hpp"

namespace indx {

TEST_CASE("file nodes and text cards of a canvas are backlinks", "[store][A44][A53]") {
  IndexFixture index;
  index.put({{"d/A.md", "a\n"},
             {"B.md", "b\n"},
             {"boards/c.canvas",
              "{\"nodes\":[{\"id\":\"1\",\"type\":\"file\",\"file\":\"d/A.md\"},\n"
              "{\"id\":\"2\",\"type\":\"text\",\"text\":\"to [[A]] and [[B]]\"}]}"}});

  const auto found = index.links().backlinks("d/A.md", {}, 10, "").value();

  REQUIRE(found.page.rows.size() == 1);
  CHECK(found.page.rows[0].path == "boards/c.canvas");
  CHECK(found.page.rows[0].count == 2);
  const auto& uses = found.page.rows[0].occurrences;
  REQUIRE(uses.size() == 2);
  CHECK(uses[0].link.kind == LinkKind::Canvas);
  CHECK(uses[0].link.syntax == LinkSyntax::Path);
  CHECK(uses[1].context == "to [[A]] and [[B]]");
  CHECK(uses[1].link.line == 2);
  CHECK(index.links().backlinks("d/A.md", {{}, {"boards/**"}}, 10, "").value().total == 0);
  CHECK(index.reached("boards/c.canvas") == PathList{"d/A.md", "d/A.md", "B.md"});
}

TEST_CASE("links of a canvas follow files that come and go", "[store][A44]") {
  IndexFixture index;
  index.put("c.canvas",
            "{\"nodes\":[{\"id\":\"1\",\"type\":\"file\",\"file\":\"A.md\"},"
            "{\"id\":\"2\",\"type\":\"text\",\"text\":\"[[A]]\"}]}");
  CHECK(index.reached("c.canvas") == PathList{"-", "-"});
  CHECK(index.links().unresolved({}, 10, "").value().rows.at(0).count == 2);

  index.put("sub/A.md", "x\n");
  CHECK(index.reached("c.canvas") ==
        PathList{"-", "sub/A.md"});  // a node names one path, a link a name
  index.put("A.md", "x\n");
  CHECK(index.reached("c.canvas") == PathList{"A.md", "A.md"});
  index.remove("A.md");
  CHECK(index.reached("c.canvas") == PathList{"-", "sub/A.md"});
  index.put("c.canvas", "not json");
  CHECK(index.links().backlinks("sub/A.md", {}, 10, "").value().total == 0);
}

TEST_CASE("a canvas counts among unresolved links and orphans", "[store][A46][A47]") {
  IndexFixture index;
  index.put({{"A.md", "a\n"},
             {"B.md", "b\n"},
             {"c.canvas",
              "{\"nodes\":[{\"id\":\"1\",\"type\":\"file\",\"file\":\"A.md\"},"
              "{\"id\":\"2\",\"type\":\"text\",\"text\":\"[[gone]]\"}]}"}});

  const auto unresolved = index.links().unresolved({}, 10, "").value().rows;
  REQUIRE(unresolved.size() == 1);
  CHECK(unresolved[0].uses.at(0).path == "c.canvas");
  CHECK(unresolved[0].uses.at(0).link.kind == LinkKind::Canvas);
  const auto orphans = index.links().orphans(OrphanKind::Orphans, {}, 10, "").value().rows;
  REQUIRE(orphans.size() == 1);
  CHECK(orphans[0].path == "B.md");
}

TEST_CASE("canvases that hold no links that the index knows are told apart", "[store][A22][A53]") {
  IndexFixture index;
  index.put({{"broken.canvas", "{\"nodes\":[{\"file\":\"A.md\"}"},
             {"good.canvas", "{}"},
             {"n.canvas.md", "x\n"},
             {"x/Empty.CANVAS", ""}});

  CHECK(index.links().unread_canvases({}).value() == PathList{"broken.canvas"});
  CHECK(index.links().unread_canvases({{}, {"broken*"}}).value().empty());
}

TEST_CASE("the texts of a canvas are searched and its JSON is not", "[store][A60]") {
  IndexFixture index;
  index.put("c.canvas",
            "{\"nodes\":[{\"id\":\"1\",\"type\":\"text\",\"text\":\"walrus\\nsteady\"}],"
            "\"edges\":[{\"id\":\"e\",\"label\":\"pelican\"}]}");
  CHECK(index.find("walrus steady") == PathList{"c.canvas"});
  CHECK(index.find("pelican") == PathList{"c.canvas"});
  CHECK(index.find("nodes").empty());
  CHECK(index.reader->list({}, 10, "").value().rows.empty());
}

}  // namespace indx
