#include "vault/block_edit.hpp"

#include "base/text.hpp"

#include <catch2/catch.hpp>

#include <random>

namespace indx {
namespace {

std::string shown_edit(const Result<std::string>& result) {
  return result ? *result : cat("error ", result.error().name());
}
std::string with_block(std::string_view bytes, std::string_view id, std::string_view markdown) {
  return shown_edit(replace_block(bytes, id, markdown));
}

}  // namespace

TEST_CASE("a block is replaced and its id stays where it was", "[vault][A35]") {
  CHECK(with_block("- i1\n- i2\n- i3\n\n^list1\n", "list1", "- n") == "- n\n\n^list1\n");
  CHECK(with_block("| a |\n| - |\n| 1 |\n\n^t1\n", "^t1", "| b |\n| - |\n| 2 |") ==
        "| b |\n| - |\n| 2 |\n\n^t1\n");
  CHECK(with_block("l1\nl2 ^p\n\nx\n", "p", "new") == "new ^p\n\nx\n");
  CHECK(with_block("t ^p\n", "p", "u ^p") == "u ^p\n");
  CHECK(with_block("t ^p\n", "P", "u\nv") == "u\nv ^p\n");
  CHECK(with_block("t ^p\r\n\r\nx\r\n", "p", "u") == "u ^p\r\n\r\nx\r\n");
  CHECK(with_block("## H ^h\nx\n", "h", "## N") == "## N ^h\nx\n");
  CHECK(with_block("> quoted\n> more ^q\n\nx\n", "q", "a\nb") == "> a\n> b ^q\n\nx\n");
  CHECK(with_block("> [!note] T\n> body\n\n^c\n", "c", "> [!tip] N\n> b") ==
        "> [!tip] N\n> b\n\n^c\n");
  CHECK(with_block("```\ncode\n```\n\n^k\n", "k", "```\nnew\n```\n\n^k") ==
        "```\nnew\n```\n\n^k\n");
  CHECK(with_block("t ^p\n\nx\n", "p", "- a\n- b") == "- a\n- b\n\n^p\n\nx\n");
  CHECK(with_block("t ^p", "p", "u") == "u ^p");
}

TEST_CASE("a list item is replaced with its children and keeps its mark", "[vault][A35]") {
  CHECK(with_block("- a ^x\n  - child\n- b\n", "x", "n") == "- n ^x\n- b\n");
  CHECK(with_block("1. a ^x\n2. b\n", "x", "n\nm") == "1. n\n   m ^x\n2. b\n");
  CHECK(with_block("- a ^x\n- b\n", "x", "* n") == "* n ^x\n- b\n");
  CHECK(with_block("- a\n  - b ^x\n    - c\n- d\n", "x", "n\n- k") ==
        "- a\n  - n ^x\n    - k\n- d\n");
  CHECK(with_block("- a\n\n  more\n\n  ^x\n- b\n", "x", "n") == "- n\n\n  ^x\n- b\n");
  CHECK(with_block("> - a ^x\n> - b\n", "x", "n") == "> - n ^x\n> - b\n");
}

TEST_CASE("a block that is missing or would lose its id is an error", "[vault][A38]") {
  CHECK(with_block("t ^p\n", "q", "u") == "error target_not_found");
  CHECK(with_block("t ^p\n", "p", "^p") == "error validation_failed");
  CHECK(with_block("t ^p\n", "p", "```\nopen") == "error validation_failed");
  CHECK(with_block("t \xff ^p\n", "p", "u") == "error not_utf8");
  const auto missing = replace_block("a ^one\n\nb ^two\n", "three", "x");
  CHECK(missing.error().details["candidates"] ==
        Json::array({{{"block_id", "one"}, {"line", 1}}, {{"block_id", "two"}, {"line", 3}}}));
  CHECK(with_block("a ^d\n\nb ^d\n", "d", "x") == "x ^d\n\nb ^d\n");
}

TEST_CASE("Markdown that gives the block another id is refused, its own id is not doubled",
          "[vault][A35]") {
  for (const auto& [bytes, markdown] :
       std::vector<std::pair<std::string, std::string>>{{"t ^p\n", "u ^q"},
                                                        {"t ^p\n", "u\n^q"},
                                                        {"t\n\n^p\n", "u ^q"},
                                                        {"## H ^p\n", "## N ^q"},
                                                        {"> t ^p\n", "u\t^q"},
                                                        {"- t ^p\n- o\n", "u ^q\n- child"},
                                                        {"- t ^p\n- o\n", "- u ^q"}}) {
    INFO(bytes << " " << markdown);
    const auto refused = replace_block(bytes, "p", markdown);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().reason == Reason::ValidationFailed);
    CHECK(refused.error().message.find("rename_block") != std::string::npos);
    CHECK(refused.error().details["actual"] == "^q");
  }
  CHECK(with_block("- a\n- b ^x\n\n^l\n", "l", "- n ^y") == "- n ^y\n\n^l\n");
  CHECK(with_block("- a ^x\n- b\n", "x", "n\n- k ^y") == "- n ^x\n  - k ^y\n- b\n");
  CHECK(with_block("- a ^x\n- b\n", "x", "n ^X\n- k") == "- n ^x\n  - k\n- b\n");
}

TEST_CASE("a block gets another id and keeps every other byte", "[vault]") {
  const auto renamed = [](std::string_view bytes, std::string_view to) {
    return shown_edit(rename_block(bytes, "^Old", to));
  };
  CHECK(renamed("t ^old\n", "new-1") == "t ^new-1\n");
  CHECK(renamed("t ^old\r\n\r\nx", " ^n ") == "t ^n\r\n\r\nx");
  CHECK(renamed("- a ^old\n  - k ^k\n", "n") == "- a ^n\n  - k ^k\n");
  CHECK(renamed("| a |\n| - |\n| 1 |\n\n^old\n", "n") == "| a |\n| - |\n| 1 |\n\n^n\n");
  CHECK(renamed("> q\n\n^old\n", "n") == "> q\n\n^n\n");
  CHECK(renamed("## H ^old\n`^old`\n", "n") == "## H ^n\n`^old`\n");
  CHECK(renamed("t ^old\n", "OLD") == "t ^OLD\n");
  CHECK(renamed("a ^old\n\nb ^old\n", "n") == "a ^n\n\nb ^old\n");
  CHECK(renamed("a ^old\n\nb ^n\n", "N") == "error conflict");
  CHECK(renamed("a ^other\n", "n") == "error target_not_found");
  CHECK(renamed("a\xff ^old\n", "n") == "error not_utf8");
  for (const auto* wrong : {"", "^", "a b", "a_b", "é", "a#b", "n\nm", "^^n"}) {
    INFO(wrong);
    CHECK(renamed("t ^old\n", wrong) == "error validation_failed");
  }
}

TEST_CASE("a row goes to the end of a table", "[vault]") {
  const auto row = [](std::string_view bytes, std::vector<std::string> cells) {
    return shown_edit(append_table_row(bytes, "t", cells));
  };
  CHECK(row("| a | b |\n| - | - |\n| 1 | 2 |\n\n^t\n\nx\n", {"3", "4"}) ==
        "| a | b |\n| - | - |\n| 1 | 2 |\n| 3 | 4 |\n\n^t\n\nx\n");
  CHECK(row("| a | b |\n|---|---|\n^t\n", {"x|y"}) == "| a | b |\n|---|---|\n| x\\|y |  |\n^t\n");
  CHECK(row("| a |\r\n| - |\r\n\r\n^t\r\n", {"x\ny"}) ==
        "| a |\r\n| - |\r\n| x<br>y |\r\n\r\n^t\r\n");
  CHECK(row("> | a |\n> | - |\n>\n> ^t\n", {"1"}) == "> | a |\n> | - |\n> | 1 |\n>\n> ^t\n");
  CHECK(row("| a |\n| - |\n\n^t\n", {"1", "2"}) == "error validation_failed");
  CHECK(row("text ^t\n", {"1"}) == "error target_not_found");
}

TEST_CASE("a task is set or toggled by line or block id", "[vault]") {
  const auto set = [](std::string_view bytes, TaskAddress address,
                      std::optional<std::string> status = {}) {
    return shown_edit(set_task(bytes, address, status));
  };
  CHECK(set("- [ ] a\n- [x] b\n", {1, ""}) == "- [x] a\n- [x] b\n");
  CHECK(set("- [ ] a\n- [x] b\n", {2, ""}) == "- [ ] a\n- [ ] b\n");
  CHECK(set("- [ ] a\n", {1, ""}, "/") == "- [/] a\n");
  CHECK(set("- [✓] a\n", {1, ""}, " ") == "- [ ] a\n");
  CHECK(set("- [ ] a ^x\n  - [ ] b\n", {0, "x"}) == "- [x] a ^x\n  - [ ] b\n");
  CHECK(set("- [ ] a\n- [ ] b\n\n^l\n", {0, "l"}) == "error ambiguous");
  CHECK(set("- [ ] a\n", {2, ""}) == "error target_not_found");
  CHECK(set("- [ ] a\n", {1, ""}, "]") == "error validation_failed");
  CHECK(set("- [ ] a\n", {1, ""}, "xx") == "error validation_failed");
}

TEST_CASE("random block edits keep every other byte", "[vault][A35][A37]") {
  std::mt19937 random(11);
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const std::vector<std::string> blocks = {
      "para\nline ^b@\n\n",  "- item ^b@\n  - kid\n\ntext\n\n", "| a |\n| - |\n\n^b@\n\n",
      "> q\n> r\n\n^b@\n\n", "1. a\n2. b ^b@\n\nx\n\n",         "```\nc\n```\n\n^b@\n\n",
      "> p ^b@\n\n",         "- a\n\n  ^b@\n\nx\n\n",           "## H@ ^b@\n",
      "- - x ^b@\n\ny\n\n",  "- a\n  - [ ] t ^b@\n\nz\n\n"};
  const std::vector<std::string> texts = {"new",           "two\nlines",   "- list\n- items",
                                          "> quote",       "| t |\n| - |", "a\n\nb",
                                          "```\ncode\n```"};
  for (int round = 0; round < 300; ++round) {
    std::string text;
    const std::size_t count = 1 + pick(5);
    for (std::size_t i = 0; i < count; ++i)
      text += replace_all(blocks[pick(blocks.size())], "@", std::to_string(i));
    if (pick(3) == 0) text = replace_all(text, "\n", "\r\n");
    const ParsedNote note = parse_note(text);
    REQUIRE(note.blocks.size() == count);
    for (const Block& block : note.blocks) {
      INFO(text);
      INFO(block.id);
      const auto with_id = rename_block(text, block.id, "other");
      REQUIRE(with_id);
      CHECK(*with_id == std::string(text).replace(block.mark + 1, block.id.size(), "other"));
      CHECK(parse_note(*with_id).blocks.size() == count);
      const std::string& markdown = texts[pick(texts.size())];
      INFO(markdown);
      const auto done = replace_block(text, block.id, markdown);
      if (!done) {
        CHECK(done.error().reason == Reason::ValidationFailed);
        continue;
      }
      CHECK(done->starts_with(text.substr(0, block.begin)));
      CHECK(done->ends_with(text.substr(block.end)));
      const ParsedNote after = parse_note(*done);
      std::vector<std::string> ids_before, ids_after;
      for (const Block& one : note.blocks)
        if (one.begin <= block.begin || one.begin >= block.end) ids_before.push_back(one.id);
      for (const Block& one : after.blocks) ids_after.push_back(one.id);
      CHECK(ids_before == ids_after);
    }
  }
}

}  // namespace indx
