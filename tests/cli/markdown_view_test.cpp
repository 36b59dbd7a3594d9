#include "cli/markdown_view.hpp"

#include "cli/styled_text.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

namespace indx {
namespace {

std::string plain_view(const std::string& markdown, std::size_t width = 44) {
  return markdown_text(markdown, width, false);
}
bool view_has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("every construct of Markdown has a form on a terminal", "[cli]") {
  CHECK(plain_view("# Plan *now*\n\nOne\n") == "# Plan now\n\nOne\n");
  CHECK(plain_view("A **bold** `word` ~~gone~~.") == "A bold `word` ~gone~.\n");
  CHECK(plain_view("see [it](https://e.org/a)") == "see it (https://e.org/a)\n");
  CHECK(plain_view("<https://e.org>") == "https://e.org\n");
  CHECK(plain_view("![pic](x.png)") == "[image: pic] (x.png)\n");
  CHECK(plain_view("- a\n- b\n  1. c\n  2. d\n") == "• a\n• b\n  1. c\n  2. d\n");
  CHECK(plain_view("- [x] done\n- [ ] open\n-\n") == "☑ done\n☐ open\n•\n");
  CHECK(plain_view("1. a\n\n   more\n2. b\n") == "1. a\n\n   more\n\n2. b\n");
  CHECK(plain_view("> one\n> > two\n") == "│ one\n│\n│ │ two\n");
  CHECK(plain_view("```sh\na  b\n  c\n```\n") == "    a  b\n      c\n");
  CHECK(plain_view("a\n\n---\n\nb", 4) == "a\n\n────\n\nb\n");
  CHECK(plain_view("<b>x</b>\n") == "<b>x</b>\n");
  CHECK(plain_view("[[Note|shown]] and #tag") == "[[Note|shown]] and #tag\n");
  CHECK(plain_view("").empty());
}

TEST_CASE("a table has columns of its widest cells, numbers on the right where it says so",
          "[cli]") {
  CHECK(plain_view("| name | n |\n| --- | ---: |\n| 日本 | 1 |\n| c | 22 |\n") ==
        "name   n\n"
        "────  ──\n"
        "日本   1\n"
        "c     22\n");
}

TEST_CASE("no line is wider than the terminal", "[cli]") {
  const std::string text =
      "A long sentence of many words, one of which, "
      "Donaudampfschifffahrtsgesellschaftskapitaensmuetze, is long itself.\n\n"
      "- 日本語のとても長い名前のノートの中の文章\n  - nested words that go on and on\n\n"
      "> quoted words that go on and on\n\n"
      "| a long head of a column | another long head |\n| --- | --- |\n"
      "| cell with many words in it | and one more such cell |\n";
  for (const std::size_t width : {24, 30, 44, 80}) {
    const auto view = plain_view(text, width);
    INFO(width << "\n" << view);
    std::size_t begin = 0;
    while (begin < view.size()) {
      const auto end = view.find('\n', begin);
      CHECK(columns_of(std::string_view(view).substr(begin, end - begin)) <= width);
      begin = end + 1;
    }
    CHECK(view_has(view, "nested"));
  }
}

TEST_CASE("colour marks emphasis and ends with each line", "[cli]") {
  const auto view = markdown_text("# Head\n\n**bold words that wrap** `code`", 12, true);
  CHECK(view ==
        "\x1b[1mHead\x1b[0m\n\n"
        "\x1b[1mbold words\x1b[0m\n"
        "\x1b[1mthat wrap\x1b[0m\n"
        "\x1b[36mcode\x1b[0m\n");
  CHECK(view_has(markdown_text("[a](u)", 40, true), "\x1b[4ma\x1b[0m (u)"));
}

TEST_CASE("nothing in a text steers the terminal", "[cli]") {
  const std::string hostile =
      "a\x1b[2Jb \x07 \xC2\x9B"
      "31m &#27;]0;title&#7; &#x9b;2J \xE2\x80\xAEgnp.exe "
      "[l](<https://e.org/\x1b[1m>) `\x1b[3m`\n\n```\n\x1b[4m\r\x08\n```\n\n<i "
      "\x1b[5m>\n\xff\xfe\n";
  for (const bool has_color : {false, true}) {
    auto view = markdown_text(hostile, 60, has_color);
    for (const char* ours : {"\x1b[0m", "\x1b[36m", "\x1b[2m", "\x1b[4m"})
      for (auto at = view.find(ours); at != view.npos; at = view.find(ours))
        view.erase(at, std::string_view(ours).size());
    INFO(view);
    CHECK(std::none_of(view.begin(), view.end(), [](char c) {
      return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7F;
    }));
    CHECK_FALSE(view_has(view, "\xC2\x9B"));
    CHECK_FALSE(view_has(view, "\xE2\x80\xAE"));
    CHECK(view_has(view, "\xEF\xBF\xBD]0;title"));
    CHECK(view_has(view, "gnp.exe"));
  }
}

TEST_CASE("text may nest as deep as it likes", "[cli]") {
  const auto quotes = plain_view(std::string(20000, '>') + " deep");
  CHECK(view_has(quotes, "deep"));
  CHECK(quotes.size() < 200);
  std::string lists;
  for (int i = 0; i < 500; ++i) lists += "- ";
  CHECK(view_has(plain_view(lists + "deep"), "deep"));
}

}  // namespace indx
