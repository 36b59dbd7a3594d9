#include "base/text.hpp"
#include "vault/section_edit.hpp"

#include <catch2/catch.hpp>

#include <random>

namespace indx {
namespace {

HeadingAddress titled(std::string heading, int occurrence = 0) {
  return {std::move(heading), {}, occurrence};
}
HeadingAddress path_to(std::vector<std::string> path) { return {"", std::move(path), 0}; }

/// The bytes, or the error's name.
std::string section_edit_of(const Result<std::string>& result) {
  return result ? *result : cat("error ", result.error().name());
}
std::string with_section(std::string_view bytes, const HeadingAddress& heading,
                         std::string_view markdown, bool keep = false) {
  return section_edit_of(replace_section(bytes, heading, markdown, keep));
}
int heading_line(std::string_view bytes, const HeadingAddress& address) {
  const ParsedNote note = parse_note(bytes);
  const auto found = find_heading(note, address);
  return found ? note.headings[*found].line : -static_cast<int>(found.error().reason);
}

}  // namespace

TEST_CASE("a section is replaced up to the next heading of its level", "[vault][A34][A37]") {
  CHECK(with_section("# A\n```sh\n# not a heading\n```\ntail\n# B\nb\n", titled("A"), "new") ==
        "# A\nnew\n# B\nb\n");
  CHECK(with_section("## S\nx\n### Sub\ny\n## T\nz\n", titled("S"), "n") == "## S\nn\n## T\nz\n");
  CHECK(with_section("## S\nx\n### Sub\ny\n## T\nz\n", titled("S"), "n", true) ==
        "## S\nn\n### Sub\ny\n## T\nz\n");
  CHECK(with_section("# P\n\n## A\n\na\n\n## B\n\nb\n", titled("B"), "new") ==
        "# P\n\n## A\n\na\n\n## B\n\nnew\n");
  CHECK(with_section("## 🌱 | Plan ##  \nx\n", titled("🌱 | Plan"), "new") ==
        "## 🌱 | Plan ##  \nnew\n");
  CHECK(with_section("# R\n## D\nfirst\n## D\nsecond\n", titled("D", 2), "x") ==
        "# R\n## D\nfirst\n## D\nx\n");
}

TEST_CASE("replacing a section keeps blank lines, line ends and the end of the file",
          "[vault][A34]") {
  CHECK(with_section("# A\n\n\nx\n\n\n# B\n", titled("A"), "n") == "# A\n\n\nn\n\n\n# B\n");
  CHECK(with_section("# A\nx", titled("A"), "n") == "# A\nn");
  CHECK(with_section("# A\nx\n\n", titled("A"), "n") == "# A\nn\n\n");
  CHECK(with_section("# A", titled("A"), "n") == "# A\nn\n");
  CHECK(with_section("# A\n# B\n", titled("A"), "n") == "# A\nn\n# B\n");
  CHECK(with_section("# A\n\n# B\n", titled("A"), "n") == "# A\n\nn\n\n# B\n");
  CHECK(with_section("# A\r\n\r\nx\r\n\r\n# B\r\n", titled("A"), "l\nm") ==
        "# A\r\n\r\nl\r\nm\r\n\r\n# B\r\n");
  CHECK(with_section("# A\n```\nc\n```\nB\n===\n", titled("A"), "n") == "# A\nn\n\nB\n===\n");
  CHECK(with_section("# A\n\nx\n\n# B\n", titled("A"), "") == "# A\n\n# B\n");
  CHECK(with_section("# A\nx\n# B\n", titled("A"), "<div>\nn\n</div>") ==
        "# A\n<div>\nn\n</div>\n\n# B\n");
  CHECK(with_section("# A\nx\n\nT\n---\ny\n", titled("A"), "n") == "# A\nn\n");
  CHECK(with_section("A\n===\nx\n", titled("A"), "n") == "A\n===\nn\n");
}

TEST_CASE("text goes before and after a heading with the spacing rule", "[vault][A32][A33]") {
  const auto after = [](std::string_view bytes, std::string_view heading, std::string_view text) {
    return section_edit_of(insert_after_heading(bytes, titled(std::string(heading)), text));
  };
  CHECK(after("## Open\n- a\n", "## Open", "- b\n") == "## Open\n- b\n- a\n");
  CHECK(after("## Open\ntext\n", "Open", "- b\n") == "## Open\n- b\n\ntext\n");
  CHECK(after("## Open", "## Open", "- b\n") == "## Open\n- b\n");
  CHECK(after("## Open\n\ntext\n", "Open", "b") == "## Open\nb\n\ntext\n");
  CHECK(after("## Open\n", "# Open", "b") == "error target_not_found");
  const auto before = [](std::string_view bytes, std::string_view heading, std::string_view text) {
    return section_edit_of(insert_before_heading(bytes, titled(std::string(heading)), text));
  };
  CHECK(before("a\n\n# B\nb\n", "B", "x") == "a\n\nx\n\n# B\nb\n");
  CHECK(before("a\n# B\nb\n", "B", "x") == "a\n\nx\n\n# B\nb\n");
  CHECK(before("---\nk: 1\n---\n# B\n", "B", "x") == "---\nk: 1\n---\nx\n\n# B\n");
  CHECK(before("# B\n", "B", "---\nx: 1\n---") == "error validation_failed");
}

TEST_CASE("append_to_section writes last in the section", "[vault]") {
  const auto appended = [](std::string_view bytes, std::string_view text, bool keep = false) {
    return section_edit_of(append_to_section(bytes, titled("A"), text, keep));
  };
  CHECK(appended("# A\n- a\n\n# B\n", "- b") == "# A\n- a\n- b\n\n# B\n");
  CHECK(appended("# A\nx\n# B\n", "y") == "# A\nx\n\ny\n\n# B\n");
  CHECK(appended("# A\n# B\n", "y") == "# A\ny\n\n# B\n");
  CHECK(appended("# A\nx\n## S\ns\n", "y") == "# A\nx\n## S\ns\n\ny\n");
  CHECK(appended("# A\nx\n\n## S\ns\n", "y", true) == "# A\nx\n\ny\n\n## S\ns\n");
  CHECK(appended("# A\nx", "y") == "# A\nx\n\ny\n");
}

TEST_CASE("a section can be deleted and moved", "[vault]") {
  const std::string text = "# A\n\na\n\n# B\n\nb\n\n# C\n\nc\n";
  CHECK(section_edit_of(delete_section(text, titled("B"), false)) == "# A\n\na\n\n# C\n\nc\n");
  CHECK(section_edit_of(delete_section(text, titled("C"), false)) == "# A\n\na\n\n# B\n\nb\n");
  CHECK(section_edit_of(delete_section("# A\na\n## S\ns\n# B\n", titled("A"), true)) ==
        "## S\ns\n# B\n");
  CHECK(section_edit_of(delete_section("t\n# A\n```\n```\nB\n===\n", titled("A"), false)) ==
        "t\n\nB\n===\n");
  CHECK(section_edit_of(delete_section("t\n# A\na\n\nB\n===\n", titled("A"), false)) ==
        "t\n\nB\n===\n");
  CHECK(section_edit_of(delete_section("# A\n---\nx: 1\n---\n", titled("A"), false)) == "");
  const auto moved = [&](const char* what, const char* where, SectionSide side) {
    return section_edit_of(move_section(text, titled(what), titled(where), side));
  };
  CHECK(moved("A", "C", SectionSide::After) == "# B\n\nb\n\n# C\n\nc\n\n# A\n\na\n");
  CHECK(moved("A", "C", SectionSide::Before) == "# B\n\nb\n\n# A\n\na\n\n# C\n\nc\n");
  CHECK(moved("C", "A", SectionSide::Before) == "# C\n\nc\n\n# A\n\na\n\n# B\n\nb\n");
  CHECK(moved("C", "A", SectionSide::After) == "# A\n\na\n\n# C\n\nc\n\n# B\n\nb\n");
  CHECK(moved("B", "A", SectionSide::After) == text);
  CHECK(moved("B", "B", SectionSide::After) == text);
  CHECK(section_edit_of(move_section("# A\n## S\n", titled("A"), titled("S"),
                                     SectionSide::After)) == "error validation_failed");
}

TEST_CASE("a heading is renamed, its level, marks and id stay", "[vault][A36]") {
  const auto renamed = [](std::string_view bytes, std::string_view from, std::string_view to) {
    const auto done = rename_heading(bytes, titled(std::string(from)), to);
    return done ? done->bytes : cat("error ", done.error().name());
  };
  CHECK(renamed("# Old\nx\n", "Old", "New") == "# New\nx\n");
  CHECK(renamed("##  Old ##  \n", "## Old", "## New") == "##  New ##  \n");
  CHECK(renamed("## Old ^h\n", "Old", "New") == "## New ^h\n");
  CHECK(renamed("## Old ^h\n", "Old", "New ^g") == "## New ^g\n");
  CHECK(renamed("Old\n===\nx\n", "Old", "New") == "New\n===\nx\n");
  CHECK(renamed("Old\ntext\n===\nx\n", "Old text", "New") == "New\n===\nx\n");
  CHECK(renamed("Old\n===\n", "Old", "- x") == "error validation_failed");
  CHECK(renamed("# Old\n", "Old", "C #") == "# C # #\n");
  CHECK(renamed("# Old\n", "Old", "a\nb") == "error validation_failed");
  CHECK(renamed("# Old\n", "Old", "## New") == "error validation_failed");
  CHECK(renamed("# Old\r\nx\r\n", "Old", "🌱 Neu") == "# 🌱 Neu\r\nx\r\n");

  const auto done = rename_heading("# X\n# Y\n# X\n", titled("X", 1), "Z");
  REQUIRE(done);
  CHECK(done->anchors ==
        std::vector<AnchorChange>{{"X", "Z", "x", "z", 1}, {"X", "X", "x-1", "x", 3}});
  CHECK(done->before.text == "X");
  CHECK(done->after.text == "Z");
}

TEST_CASE("one resolver finds headings by text, level, path and occurrence", "[vault][A33][A38]") {
  const std::string text =
      "# Project\n## Log\n- # Log\n# Other\n## Log\n### Log\n# C++: the \"notes\" ^c\n";
  CHECK(heading_line(text, titled("# Project")) == 1);
  CHECK(heading_line(text, titled("### Log")) == 6);
  CHECK(heading_line(text, path_to({"Project", "Log"})) == 2);
  CHECK(heading_line(text, path_to({"Other", "Log"})) == 5);
  CHECK(heading_line(text, path_to({"Other", "Log", "Log"})) == 6);
  CHECK(heading_line(text, titled("Log", 2)) == 5);
  CHECK(heading_line(text, titled("C++: the \"notes\"")) == 7);
  CHECK(heading_line(text, titled("c the notes")) == 7);
  CHECK(heading_line(text, titled("C++: the \"notes\" ^c")) == 7);
  CHECK(heading_line(text, titled("Log")) == -static_cast<int>(Reason::Ambiguous));
  CHECK(heading_line(text, titled("Log", 4)) == -static_cast<int>(Reason::TargetNotFound));
  CHECK(heading_line(text, titled("## Project")) == -static_cast<int>(Reason::TargetNotFound));
  CHECK(heading_line(text, titled("???")) == -static_cast<int>(Reason::TargetNotFound));

  const auto ambiguous = find_heading(parse_note(text), titled("Log"));
  REQUIRE_FALSE(ambiguous);
  const Json& candidates = ambiguous.error().details["candidates"];
  CHECK(candidates.size() == 3);
  CHECK(candidates[1]["line"] == 5);
  CHECK(candidates[1]["occurrence"] == 2);
  CHECK(candidates[1]["path"] == Json({"Other", "Log"}));
  const auto missing = find_heading(parse_note(text), titled("Othre"));
  CHECK(missing.error().details["total"] == 6);
}

TEST_CASE("every heading has an address that names it alone", "[vault][A38]") {
  const std::string text = "# A\n## B\n## B\n# A\n## B\n# B\n";
  const ParsedNote note = parse_note(text);
  const auto addresses = heading_addresses(note);

  for (std::size_t i = 0; i < note.headings.size(); ++i) {
    const auto found = find_heading(note, addresses[i]);
    REQUIRE(found);
    CHECK(*found == i);
  }
}

TEST_CASE("anchors resolve heading text, slug and block id", "[vault][A42]") {
  const std::string text = "# Big Plan!\ntext ^p1\n## Sub\nx\n# Big Plan!\n";
  const ParsedNote note = parse_note(text);
  const auto line = [&](const char* anchor) {
    const auto found = find_anchor(note, text.size(), anchor);
    return found ? found->line : 0;
  };
  CHECK(line("Big Plan") == 1);
  CHECK(line("#big plan!") == 1);
  CHECK(line("#Big Plan#Sub") == 3);
  CHECK(line("big-plan!-1") == 5);
  CHECK(line("#^P1") == 2);
  CHECK(line("nothing") == 0);
  const auto span = find_anchor(note, text.size(), "Big Plan");
  CHECK(text.substr(span->begin, span->end - span->begin) == "# Big Plan!\ntext ^p1\n## Sub\nx\n");
  const auto block = find_anchor(note, text.size(), "^p1");
  CHECK(text.substr(block->begin, block->end - block->begin) == "text ^p1");
}

TEST_CASE("random section edits keep every other byte and the headings", "[vault][A37]") {
  std::mt19937 random(7);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const std::vector<std::string> pieces = {"text\n",
                                           "- item\n  - child\n",
                                           "```\n# code\n```\n",
                                           "> quote\n> # q\n",
                                           "\n",
                                           "\n\n",
                                           "| a |\n| - |\n",
                                           "para ^id\n",
                                           "%% c %%\n",
                                           "    code\n",
                                           "1. one\n2. t",
                                           "\ttab\n",
                                           "<div>\n# no\n</div>\n",
                                           "[[link]] #tag\n",
                                           "Set\n---\n",
                                           "$$\n# m\n$$\n"};
  for (int round = 0; round < 400; ++round) {
    std::string text = pick(3) == 0 ? "---\nk: v\n---\n" : "";
    for (int s = 0; s < 1 + pick(6); ++s) {
      if (!text.empty() && text.back() != '\n') text += '\n';
      text += cat(pick(4) == 0 ? "\n" : "", "\n",
                  std::string(static_cast<std::size_t>(1 + pick(3)), '#'), " H", s,
                  pick(5) == 0 ? " ##" : "", "\n");
      for (int p = 0; p < pick(4); ++p) text += pieces[static_cast<std::size_t>(pick(16))];
    }
    if (pick(4) == 0 && text.back() == '\n') text.pop_back();
    if (pick(3) == 0) text = replace_all(text, "\n", "\r\n");
    const ParsedNote note = parse_note(text);
    for (std::size_t i = 0; i < note.headings.size(); ++i) {
      const Heading& heading = note.headings[i];
      if (heading.nested || heading.text[0] != 'H') continue;
      INFO(text);
      INFO(heading.text);
      const NoteSection section = section_at(note, text.size(), i);
      const std::string above = text.substr(0, section.content), below = text.substr(section.end);

      const auto done = replace_section(text, titled(heading.text), "fresh words", false);
      REQUIRE(done);
      CHECK(done->starts_with(above));
      CHECK(done->ends_with(below));
      const ParsedNote after = parse_note(*done);
      const auto now = find_heading(after, titled(heading.text));
      REQUIRE(now);
      CHECK(section_at(after, done->size(), *now).end == done->size() - below.size());
      std::vector<std::string> old_rest, new_rest;
      for (const Heading& h : note.headings)
        if (h.begin < section.content || h.begin >= section.end) old_rest.push_back(h.text);
      for (const Heading& h : after.headings) new_rest.push_back(h.text);
      CHECK(old_rest == new_rest);

      const auto renamed = rename_heading(text, titled(heading.text), "Another name");
      REQUIRE(renamed);
      CHECK(replace_all(renamed->bytes, "Another name", heading.text) == text);

      const auto inserted = insert_after_heading(text, titled(heading.text), "inserted");
      REQUIRE(inserted);
      CHECK(inserted->starts_with(above));
      CHECK(inserted->ends_with(text.substr(section.content)));
      const auto gone = delete_section(text, titled(heading.text), false);
      REQUIRE(gone);
      CHECK(gone->ends_with(below));
      CHECK_FALSE(find_heading(parse_note(*gone), titled(heading.text)));
    }
  }
}

TEST_CASE("the address of a heading leads back to it, whatever its text looks like",
          "[vault][A37]") {
  for (const std::string_view text :
       {"# d ^p ^item\n\n# d ^q\n\n# d\n", "# ## A\n\n## A\n\n# A ##\n",
        "# a\n\n## a ^x ^y\n\n# a ^x\n", "# \\# x #\n\n# x\n"}) {
    const ParsedNote note = parse_note(text);
    const auto addresses = heading_addresses(note);
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      INFO(text << " heading " << i);
      const auto found = find_heading(note, addresses[i]);
      REQUIRE(found);
      CHECK(*found == i);
    }
  }
}

TEST_CASE("hostile notes are edited in bounded time", "[vault][A37]") {
  std::string many;
  for (int i = 0; i < 20000; ++i) many += "# a\n";
  CHECK(replace_section(many, titled("a", 10000), "x", false));
  CHECK_FALSE(replace_section(many, titled("b"), "x", false));
  std::string deep;
  for (int i = 0; i < 20000; ++i)
    deep += cat(std::string(static_cast<std::size_t>(1 + i % 6), '#'), " h\n");
  CHECK(heading_addresses(parse_note(deep)).size() == 20000);
  CHECK(append_to_section("# a\n" + std::string(200000, '>') + "\n", titled("a"), "x", false));
  CHECK(replace_section("# a\n" + std::string(200000, '\n'), titled("a"), "x", false));
  CHECK_FALSE(replace_section("# a\xff\n", titled("a"), "x", false));
}

}  // namespace indx
