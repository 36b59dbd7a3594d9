#include "vault/subpath_rewrite.hpp"

#include "base/text.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

/// All links of the text are taken for links to the note.
std::string resubpathed(const std::string& text, const AnchorRenames& renames,
                        const std::string& source = "s.md") {
  const auto rewrite = rewrite_subpaths(text, source, [&](const Link& link, bool is_careful) {
    return new_subpath(link.subpath, renames, is_careful);
  });
  REQUIRE(rewrite.has_value());
  CHECK_FALSE(rewrite->problem);
  return apply_edits(text, rewrite->edits);
}

AnchorRenames renames_of(const std::string& before, const std::string& after) {
  const auto renames = compare_anchors(parse_note(before), parse_note(after));
  const auto stored = anchor_renames_from_json(Json::parse(to_json(renames).dump()));
  REQUIRE(stored.has_value());
  CHECK(to_json(*stored) == to_json(renames));
  return *stored;
}

}  // namespace

TEST_CASE("subpaths follow a renamed heading in every kind of link", "[vault][A36][A43]") {
  const auto renames = renames_of("# Top\n## Old name ^id1\n### Deep\n# Other\n## Deep\n",
                                  "# Top\n## New: [name] #1 ^id1\n### Deep\n# Other\n## Deep\n");

  CHECK(resubpathed("[[n#Old name]] [[n#old NAME|x]] ![[n#Top#Old name#Deep]] [[n#Deep]] "
                    "[[#Old name]]\n",
                    renames) ==
        "[[n#New: name 1]] [[n#New: name 1|x]] ![[n#Top#New: name 1#Deep]] [[n#Deep]] "
        "[[#New: name 1]]\n");
  CHECK(resubpathed("[a](n.md#Old%20name) [b](<n.md#Old name> \"t\") [c](#Old%20name)\n\n"
                    "[d]: n.md#Old%20name 'T'\n",
                    renames) ==
        "[a](n.md#New:%20name%201) [b](<n.md#New: name 1> \"t\") [c](#New:%20name%201)\n\n"
        "[d]: n.md#New:%20name%201 'T'\n");
  CHECK(resubpathed("---\nup: \"[[n#Old name]]\" # c\nl:\n  - '[[n#Old name|y]]'\n---\n"
                    "`[[n#Old name]]`\n",
                    renames) ==
        "---\nup: \"[[n#New: name 1]]\" # c\nl:\n  - '[[n#New: name 1|y]]'\n---\n"
        "`[[n#Old name]]`\n");
  CHECK(resubpathed("| a |\n| - |\n| [[n#Old name\\|x]] |\n", renames) ==
        "| a |\n| - |\n| [[n#New: name 1\\|x]] |\n");
  CHECK(resubpathed("[[n#^id1]] [[n#Other#Old name]] [[n]]\n", renames) ==
        "[[n#^id1]] [[n#Other#Old name]] [[n]]\n");
}

TEST_CASE("subpaths follow into canvases, byte for byte", "[vault][A36][A53]") {
  const auto renames = renames_of("# Old\n## Sub\n", "# \"New\"\n## Sub\n");
  const std::string canvas =
      "{\"nodes\":[ "
      "{\"id\":\"1\",\"type\":\"file\",\"file\":\"n.md\",\"subpath\":\"#Old#Sub\",\"x\":1.0},\n"
      "{\"id\":\"2\",\"type\":\"text\",\"text\":\"[[n#Old]] `[[n#Old]]`\"},"
      "{\"id\":\"3\",\"type\":\"text\",\"text\":\"\\u0041\"}]}";

  CHECK(resubpathed(canvas, renames, "c.canvas") ==
        replace_all(replace_all(canvas, "\"#Old#Sub\"", "\"#\\\"New\\\"#Sub\""), "\"[[n#Old]] ",
                    "\"[[n#\\\"New\\\"]] "));
}

TEST_CASE("a subpath names headings above where its own name is not enough", "[vault][A36]") {
  const auto later = renames_of("# A\n## X\n# B\n## Old\n", "# A\n## X\n# B\n## X\n");
  CHECK(resubpathed("[[n#Old]] [[n#X]] [[n#B#Old]]\n", later) == "[[n#B#X]] [[n#X]] [[n#B#X]]\n");

  const auto earlier = renames_of("# A\n## Old\n# B\n## X\n", "# A\n## X\n# B\n## X\n");
  CHECK(resubpathed("[[n#Old]] [[n#X]]\n", earlier) == "[[n#X]] [[n#B#X]]\n");

  const auto lost = renames_of("# X\n# Old\n", "# X\n# X\n");
  const auto next = new_subpath("Old", lost);
  REQUIRE_FALSE(next.has_value());
  CHECK(next.error().reason == Reason::Conflict);
  CHECK(new_subpath("X", lost).value() == std::nullopt);
}

TEST_CASE("a heading that Markdown would read as something else is linked by its words",
          "[vault][A36]") {
  const auto renames = renames_of("# Old\n", "# Use `a` and **b**, $x$ %% y\n");

  CHECK(resubpathed("`x [[n#Old]] y\n", renames) == "`x [[n#Use a and b x y]] y\n");
  CHECK(resubpathed("[t](n.md#Old)\n", renames) ==
        "[t](n.md#Use%20`a`%20and%20**b**,%20$x$%20y)\n");
}

TEST_CASE("subpaths follow a block id, whatever its case", "[vault][A35][A36]") {
  const auto renames = renames_of("# H ^a1\n\ntwo ^b\n", "# H ^new-1\n\ntwo ^b\n");

  CHECK(resubpathed("[[n#^A1]] [t](n.md#^a1) [[n#^b]]\n", renames) ==
        "[[n#^new-1]] [t](n.md#^new-1) [[n#^b]]\n");
}

TEST_CASE("a heading that came or went renames none", "[vault][A36]") {
  CHECK(renames_of("# A\n", "# B\n# A\n").is_empty());
  CHECK(renames_of("# A\n", "# A\ntext\n").is_empty());
  CHECK_FALSE(anchor_renames_from_json(Json::object()).has_value());
}

TEST_CASE("what is no text keeps its links", "[vault][A36]") {
  const auto renames = renames_of("# Old\n", "# New\n");
  const auto choose = [&](const Link& link, bool is_careful) {
    return new_subpath(link.subpath, renames, is_careful);
  };

  CHECK(rewrite_subpaths("[[n#Old]]\xFF", "s.md", choose).error().reason == Reason::NotUtf8);
  CHECK(rewrite_subpaths("[[n#x]]\xFF", "s.md", choose).value().count == 0);
  CHECK(rewrite_subpaths("{\"nodes\":1}", "s.canvas", choose).error().reason ==
        Reason::ParseFailed);
}

}  // namespace indx
