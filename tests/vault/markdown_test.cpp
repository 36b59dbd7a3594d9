#include "vault/markdown.hpp"

#include "base/text.hpp"

#include <catch2/catch.hpp>

#include <random>

namespace indx {
namespace {

std::string tag_list(std::string_view text) {
  std::vector<std::string> tags;
  for (const TagUse& use : parse_note(text).tags) tags.push_back(use.tag);
  return join(tags, " ");
}

std::string link_list(std::string_view text) {
  std::vector<std::string> links;
  for (const Link& link : parse_note(text).links)
    links.push_back(cat(link.line, ":", link.target, link.subpath.empty() ? "" : "#", link.subpath,
                        link.display ? "|" + *link.display : "", link.external ? "@" : "",
                        link.key.empty() ? "" : "<" + link.key));
  return join(links, " ");
}

std::string outline(std::string_view text) {
  std::vector<std::string> headings;
  for (const Heading& one : parse_note(text).headings)
    headings.push_back(cat(one.line, ":", one.level, ":", one.text, one.nested ? "*" : ""));
  return join(headings, " ");
}

std::string block_list(std::string_view text) {
  std::vector<std::string> blocks;
  for (const Block& one : parse_note(text).blocks)
    blocks.push_back(cat(one.id, ":", one.line, "-", one.end_line));
  return join(blocks, " ");
}

void check_positions(std::string_view bytes) {
  const ParsedNote note = parse_note(bytes);
  for (const TagUse& use : note.tags) {
    REQUIRE(use.end <= bytes.size());
    if (use.line > 0) CHECK(bytes.substr(use.begin, use.end - use.begin) == use.tag);
  }
  for (const Link& link : note.links) CHECK((link.begin <= link.end && link.end <= bytes.size()));
  for (const Heading& heading : note.headings)
    CHECK((heading.begin <= heading.content && heading.content <= bytes.size()));
  for (const Block& block : note.blocks)
    CHECK((block.begin <= block.end && block.end <= bytes.size() && block.line <= block.end_line));
  std::size_t last = 0;
  for (const auto& [begin, end] : masked_ranges(bytes)) {
    CHECK((begin >= last && begin <= end && end <= bytes.size()));
    last = begin;
  }
}

}  // namespace

TEST_CASE("tags follow the character set of the rules (T-01)", "[vault]") {
  CHECK(tag_list("#x1999 #1999 #a/b #x_y-z #日本 #🎉 #a.b #a,b #2024/06 (#p) a#b #end/\n") ==
        "x1999 a/b x_y-z 日本 🎉 a a 2024/06 end");
}

TEST_CASE("a tag is letters of any script, digits, `_`, `-` and `/`, with one that is no digit",
          "[vault][A52]") {
  for (const auto* tag : {"a", "A", "x1999", "a/b", "a_b", "a-b", "-a", "_", "日本語", "Ελληνικά",
                          "हिन्दी", "été", "🎉", "2024/06", "a/1", "1a"}) {
    INFO(tag);
    CHECK(is_valid_tag(tag));
    CHECK(tag_list(cat("x #", tag, " y\n#", tag)) == cat(tag, " ", tag));
    CHECK(tag_list(cat("---\ntags:\n  - \"", tag, "\"\n---\n")) == tag);
  }
  for (const auto* tag : {"", "1", "1999", "a b", "a,b", "a.b", "a#b", "a!", "a/", "(a", "a&b",
                          "a\\", "a\tb", "a\"b", "a\u2003b"}) {
    INFO(tag);
    CHECK_FALSE(is_valid_tag(tag));
  }
  CHECK(tag_list("#1999 # x ## a#b ab# #! #(a) ##c\n").empty());
  CHECK(parse_note("---\ntags: [1, \"a b\", ok]\n---\n").tags.size() == 1);
}

TEST_CASE("code, URLs, anchors and link targets hold no tags (T-02)", "[vault]") {
  CHECK(
      tag_list(
          "```\n#inc\n```\n`#no` https://e.x/p#frag <https://e.x/#q> [t](n.md#h) [[n#h]] #yes\n") ==
      "yes");
  CHECK(tag_list("\\#x \\[\\[#Escaped x\\]\\] %% #t %% <!-- #no --> $#no$\n") == "Escaped t");
  CHECK(tag_list("a\n\n    #code\n\n<div>\n#html\n</div>\n\n$$\n#math\n$$\n#z\n") == "z");
  CHECK(tag_list("[see #in](x.md) ![#alt](i.png) <a title=\"x #no\">\n") == "in");
}

TEST_CASE("links keep target, subpath and display (L-04, L-07, L-09, L-10, L-26, L-28)",
          "[vault]") {
  CHECK(link_list("| a | b |\n| - | - |\n| [[T\\|x]] | y |\n") == "3:T|x");
  CHECK(link_list("`[[A]]`\n\n```\n[[A]]\n```\n\n    [[A]]\n\n[[A]]\n") == "9:A");
  CHECK(link_list("%% [[A]] #t %%\n") == "1:A");
  CHECK(link_list("[a](Sub/My%20Note.md) [b](<Sub/My Note.md>) [d](Sub/My Note.md)\n") ==
        "1:Sub/My Note.md|a 1:Sub/My Note.md|b");
  CHECK(link_list("[x](https://a.b/c.md) [[https://a.b]] [m](mailto:q@x.y)\n") ==
        "1:https://a.b/c.md|x@ 1:https://a.b@ 1:mailto:q@x.y|m@");
  CHECK(link_list("[[ A | shown ]]\n") == "1:A|shown");
  CHECK(link_list("[[#a#b||c]] [[]] [[|x]] [[pa#th/x]] [l]()\n") == "1:#a#b||c 1:|x 1:pa#th/x");
  CHECK(link_list("> [q](a.md\n> \"title\") ![e](i.png)\n\n[id]: b%20c.md 'T'\n") ==
        "1:a.md|q 2:i.png|e 4:b c.md");
}

TEST_CASE("every form of link is read with its parts, and none in code", "[vault][A43]") {
  struct Row {
    std::string text;
    LinkKind kind;
    LinkSyntax syntax;
    std::string target, subpath, display;
  };
  constexpr auto kWiki = LinkSyntax::Wiki, kMarkdown = LinkSyntax::Markdown;
  const std::vector<Row> rows = {
      {"[[T]]", LinkKind::Link, kWiki, "T", "", ""},
      {"[[path/T]]", LinkKind::Link, kWiki, "path/T", "", ""},
      {"[[T|alias]]", LinkKind::Link, kWiki, "T", "", "alias"},
      {"[[T#H]]", LinkKind::Link, kWiki, "T", "H", ""},
      {"[[T#A#B|x]]", LinkKind::Link, kWiki, "T", "A#B", "x"},
      {"[[T#^b-1]]", LinkKind::Link, kWiki, "T", "^b-1", ""},
      {"[[#H]]", LinkKind::Link, kWiki, "", "H", ""},
      {"![[embed]]", LinkKind::Embed, kWiki, "embed", "", ""},
      {"![[p.png|640x480]]", LinkKind::Embed, kWiki, "p.png", "", "640x480"},
      {"![[T#^b]]", LinkKind::Embed, kWiki, "T", "^b", ""},
      {"[t](T.md)", LinkKind::Link, kMarkdown, "T.md", "", "t"},
      {"[t](a%20b.md#H%20i)", LinkKind::Link, kMarkdown, "a b.md", "H i", "t"},
      {"[t](<a b.md#^b> \"title\")", LinkKind::Link, kMarkdown, "a b.md", "^b", "t"},
      {"![alt](p.png)", LinkKind::Embed, kMarkdown, "p.png", "", "alt"},
      {"[t](#H)", LinkKind::Link, kMarkdown, "", "H", "t"}};
  for (const auto& row : rows) {
    INFO(row.text);
    const auto text = cat("before ", row.text, " after\n");
    const auto links = parse_note(text).links;
    REQUIRE(links.size() == 1);
    const auto& link = links[0];
    CHECK((link.kind == row.kind && link.syntax == row.syntax && !link.external));
    CHECK(link.target == row.target);
    CHECK(link.subpath == row.subpath);
    CHECK(link.display.value_or("") == row.display);
    CHECK(text.substr(link.begin, link.end - link.begin) == row.text);
    if (!row.subpath.empty()) CHECK(text.substr(link.subpath_begin - 1, 1) == "#");
    CHECK(link.line == 1);
    CHECK(link.column == 8);
    CHECK(link_list(cat("`", row.text, "`\n\n```\n", row.text, "\n```\n\n    ", row.text, "\n\n$",
                        row.text, "$\n"))
              .empty());
  }
}

TEST_CASE("links in properties carry their key and their place (L-21)", "[vault]") {
  const std::string text = "---\nrel: \"[[n]]\"\nl:\n  - \"[[n|x]]\"\nbad: [[n]]\n---\n";
  CHECK(link_list(text) == "2:n<rel 4:n|x<l");
  const ParsedNote note = parse_note(text);
  CHECK(text.substr(note.links[1].begin, note.links[1].end - note.links[1].begin) == "[[n|x]]");
}

TEST_CASE("a link in a property stands where its text does, however it is spelled", "[vault]") {
  struct Row {
    std::string block;
    std::vector<std::string> places;  ///< line:column target
  };
  const std::vector<Row> rows = {
      {"a: see [[n]] now", {"2:8 n"}},
      {"a: '[[n]]'\nb: \"[[n]]\"", {"2:5 n", "3:5 n"}},
      {"# not [[n]]\na: \"[[n]]\"", {"3:5 n"}},
      {"\"[[n]]\": \"[[n]]\"", {"2:11 n"}},
      {"a: [\"[[n]]\", \"[x](m.md) [[n]]\"]", {"2:6 n", "2:15 m.md", "2:25 n"}},
      {"a:\n  b:\n    - \"[[n]]\"\n    - c: \"[[m]]\"", {"4:8 n", "5:11 m"}},
      {"a: |\n  one\n  two [[n]]\nb: >-\n  [[m]]", {"4:7 n", "6:3 m"}},
      {"a: \"\xC3\xA9 [[n]]\"", {"2:8 n"}},
      // Not as it reads: the value's begin.
      {"a: '[[it''s]]'\nb: \"[[n]]\"", {"2:4 it's", "3:5 n"}},
      {"a: \"[[n\\u0041]] [[m]]\"", {"2:4 nA", "2:17 m"}},
      {"a: see [[long\n  name]]", {"2:4 long name"}},
      {"a: &x \"[[n]]\"\nb: *x\nc: \"[[m]]\"", {"2:8 n", "3:4 n", "4:5 m"}}};
  for (const auto& row : rows) {
    for (const std::string line_end : {"\n", "\r\n"}) {
      const auto text = replace_all(cat("---\n", row.block, "\n---\n[[body]]\n"), "\n", line_end);
      INFO(text);
      const auto note = parse_note(text);
      REQUIRE_FALSE(note.frontmatter.error);
      std::vector<std::string> places;
      for (const auto& link : note.links)
        if (link.kind == LinkKind::Property)
          places.push_back(cat(link.line, ":", link.column, " ", link.target));
      CHECK(places == row.places);
    }
  }
}

TEST_CASE("only real headings are in the outline", "[vault][A37]") {
  CHECK(outline("---\na: 1\n---\nText\n---\nMore\n") == "4:2:Text");
  CHECK(outline("# A\n```sh\n# not\n```\ntail\n# B\nb\n") == "1:1:A 6:1:B");
  CHECK(outline("# A\n<div>\n# not\n</div>\n\n# B\n") == "1:1:A 6:1:B");
  CHECK(outline("- # L\n\n> ## Q ##\n\n    # code\n#tag\n####### x\n") == "1:1:L* 3:2:Q*");
  CHECK(outline("a\r\n===\r\n\r\n# b\r\n") == "1:1:a 4:1:b");
  CHECK(outline("## \xF0\x9F\x8C\xB1 | Plan ##  \nx\n") == "1:2:\xF0\x9F\x8C\xB1 | Plan");
}

TEST_CASE("a heading knows where its section begins and has a slug of its own", "[vault][A37]") {
  const ParsedNote note = parse_note("# A b\nx\n\nTwo\nlines\n---\ny\n# A b\n");

  REQUIRE(note.headings.size() == 3);
  CHECK(note.title == "A b");
  CHECK(note.headings[0].content == 6);
  CHECK((note.headings[1].setext && note.headings[1].begin == 9 && note.headings[1].content == 23));
  CHECK(note.headings[1].text == "Two lines");
  CHECK(note.headings[0].slug == "a-b");
  CHECK(note.headings[2].slug == "a-b-1");
}

TEST_CASE("block ids name paragraphs, items, lists, tables and quotes", "[vault]") {
  CHECK(block_list("l1\nl2 ^p\n\nx\n") == "p:1-2");
  CHECK(block_list("- i1\n- i2\n- i3\n\n^list1\n") == "list1:1-3");
  CHECK(block_list("| a |\n| - |\n| 1 |\n\n^t1\n") == "t1:1-3");
  CHECK(block_list("| a |\n| - |\n| 1 |\n^t1\n") == "t1:1-3");
  CHECK(block_list("> q\n^q1\n") == "q1:1-1");
  CHECK(block_list("- a ^i\n  - b\n- c\n  ^j\n") == "i:1-2 j:3-4");
  CHECK(block_list("`x ^no`\n\ny ^bad_id\n\nz ^Ab-1\n") == "Ab-1:5-5");
  CHECK(parse_note("a ^x\n\nb ^X\n").warnings == std::vector<std::string>{"duplicate_block_id"});
}

TEST_CASE("tasks are list items with a mark, but not in block comments", "[vault]") {
  const ParsedNote note =
      parse_note("- [ ] a\n1. [x] b\n> - [/] c\n%%\n- [ ] d\n%%\n- []\n- [ab] e\n");

  REQUIRE(note.tasks.size() == 3);
  CHECK((note.tasks[1].status == 'x' && note.tasks[1].text == "b" && note.tasks[1].line == 2));
}

TEST_CASE("hostile notes are parsed in linear time", "[vault][slow]") {
  const std::size_t many = 100'000;
  const auto repeated = [&](std::string_view part) {
    std::string text;
    for (std::size_t i = 0; i < many; ++i) text += part;
    return text;
  };
  for (const std::string_view part : {"|",     "[",        "[[",       "![",       "`a``b",
                                      "*a **", "- ",       "> ",       "$a ",      "<a b=\"",
                                      "<!--",  "[a](",     "[a](b \"", "[a](<b",   "\\",
                                      "[a\n",  "[x]: y\n", "- a\n",    "> ",       "<div>\n",
                                      "$$\n",  "%%\n",     "#a ",      "a ^b\n\n", "| a |\n| - |\n",
                                      "&",     "]",        "[a](b)"}) {
    const std::string text = repeated(part);
    check_positions(text);
  }
  check_positions(repeated("- ") + "\n" + repeated("\n"));
  check_positions("|" + std::string(many, '|') + "\n" + std::string(many, '-') + "|\n");
  check_positions("| a " + repeated("| a ") + "\n" + repeated("|-") + "|\n" + repeated("|") + "\n");
  check_positions(std::string(10U << 20U, 'x'));
  check_positions(std::string(4U << 20U, ' ') + "x");
  std::string runs;
  for (std::size_t i = 1; i < 1500; ++i) runs += std::string(i, '`') + "a";
  check_positions(runs);
}

TEST_CASE("random bytes give positions inside the note", "[vault][A37]") {
  std::mt19937 random(5);
  const std::vector<std::string> parts = {
      "#",     "tag",    " ",     "\n",     "\r\n",  "\r",   "[[",       "]]",
      "[",     "](",     ")",     "`",      "```\n", "$",    "$$",       "<!--",
      "-->",   "<div>",  "- ",    "> ",     "    ",  "\t",   "| ",       "|-|\n",
      "^id",   "%%",     "---\n", "a: b\n", "\\",    "\xFF", "\xC3\xA9", "\xE2\x80\x8D",
      "===\n", "[^1]: ", "1. ",   "[x] ",   "|"};
  for (int round = 0; round < 4000; ++round) {
    std::string text;
    for (std::size_t i = random() % 50; i > 0; --i) text += parts[random() % parts.size()];
    INFO(text);
    check_positions(text);
  }
}

}  // namespace indx
