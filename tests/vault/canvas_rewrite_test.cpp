#include "vault/canvas_rewrite.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "vault/canvas_content.hpp"

#include <catch2/catch.hpp>

#include <random>
#include <set>

namespace indx {
namespace {

/// A world of these files in which these moves happen.
MoveWorld canvas_world(const std::vector<FileMove>& moves, const std::vector<std::string>& paths) {
  std::map<std::string, std::vector<std::string>> files;
  for (const auto& path : paths) files[name_key_of_path(path)].push_back(path);
  return {moves, files};
}
std::string canvas_after(const std::string& bytes, const std::string& source,
                         const MoveWorld& world) {
  const auto rewrite = rewrite_links(bytes, source, world).value();
  REQUIRE(are_applicable(rewrite.edits, bytes.size()));
  return apply_edits(bytes, rewrite.edits);
}

}  // namespace

TEST_CASE("a canvas follows the notes it shows, links to and lies on", "[vault][A22][A53][M-09]") {
  const std::string bytes =
      "{ \"nodes\":[{\"id\":\"1\",\"type\":\"file\", \"file\":\"A.md\",\"zz\":1.50},\n"
      "{\"id\":\"2\",\"type\":\"text\",\"text\":\"see [[A]] \\u00e9 `[[A]]` [A](A.md)\"},\n"
      "{\"id\":\"3\",\"type\":\"group\",\"background\":\"p.png\"},\n"
      "{\"id\":\"4\",\"type\":\"text\",\"text\":\"\\u0041 [[Other]]\"}]}";
  const auto world = canvas_world({{"A.md", "d/B.md"}, {"p.png", "d/p.png"}},
                                  {"A.md", "p.png", "Other.md", "c.canvas"});

  const auto after = canvas_after(bytes, "c.canvas", world);

  auto expected = replace_all(bytes, "\"A.md\"", "\"d/B.md\"");
  expected = replace_all(expected, "\"p.png\"", "\"d/p.png\"");
  expected =
      replace_all(expected, "see [[A]] \\u00e9 `[[A]]` [A](A.md)", "see [[B]] é `[[A]]` [B](B.md)");
  CHECK(after == expected);
  CHECK(rewrite_links(bytes, "c.canvas", world).value().count == 4);
}

TEST_CASE("a canvas that cannot be read is not rewritten", "[vault][A22][A53]") {
  const auto world = canvas_world({{"A.md", "B.md"}}, {"A.md", "c.canvas"});
  CHECK(rewrite_links("{\"nodes\":[[[A]]]}", "c.canvas", world).error().reason ==
        Reason::ParseFailed);
  CHECK(rewrite_links("", "c.canvas", world).value().count == 0);
}

TEST_CASE("random moves keep what every link of a canvas reaches", "[vault][A22][A53]") {
  std::mt19937 random(17);
  const std::vector<std::string> folders = {"", "a/", "b/", "a/c/"},
                                 names = {"N.md", "M.md", "p q.png", "x'(1).md"};
  for (int round = 0; round < 300; ++round) {
    std::set<std::string> paths;
    while (paths.size() < 5)
      paths.insert(folders[random() % folders.size()] + names[random() % names.size()]);
    const std::vector<std::string> files(paths.begin(), paths.end());
    Json canvas{{"nodes", Json::array()}};
    for (int i = 0; i < 6; ++i) {
      const auto& path = files[random() % files.size()];
      const auto name = path.substr(path.rfind('/') + 1);
      canvas["nodes"].push_back(
          random() % 2 == 0 ? Json{{"id", std::to_string(i)}, {"type", "file"}, {"file", path}}
                            : Json{{"id", std::to_string(i)},
                                   {"type", "text"},
                                   {"text", cat("\"[[", name, "]]\n")}});
    }
    const auto& from = files[random() % files.size()];
    const auto to = cat(folders[random() % folders.size()], "new", random() % 3, ".md");
    const auto world = canvas_world({{from, to}}, files);
    const auto bytes = canvas.dump(static_cast<int>(random() % 3) - 1);
    INFO(bytes << " " << from << " => " << to);

    const auto after = canvas_after(bytes, "a/c.canvas", world);

    const auto old_links = canvas_content(bytes).note.links,
               links = canvas_content(after).note.links;
    REQUIRE(links.size() == old_links.size());
    for (std::size_t i = 0; i < links.size(); ++i) {
      const auto reached = world.before("a/c.canvas", old_links[i].target, old_links[i].syntax);
      REQUIRE(reached);
      CHECK(world.after("a/c.canvas", links[i].target, links[i].syntax) ==
            world.place_after(*reached));
    }
  }
}

}  // namespace indx
