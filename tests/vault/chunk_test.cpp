#include "vault/chunk.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"

#include <catch2/catch.hpp>

#include <random>

namespace indx {
namespace {

std::vector<Chunk> chunks_of(std::string_view text) {
  return chunk_note("a.md", text, parse_note(text));
}

/// Everything that is not white space lies in exactly one chunk, in order.
void check_cover(std::string_view text) {
  std::size_t at = parse_note(text).frontmatter.body_begin;
  for (const Chunk& chunk : chunks_of(text)) {
    REQUIRE(chunk.char_start >= at);
    CHECK(trim(text.substr(at, chunk.char_start - at)).empty());
    CHECK(chunk.char_end > chunk.char_start);
    CHECK(count_code_points(chunk.content) <= kMaxChunkChars);
    if (is_valid_utf8(text))
      CHECK(chunk.content == text.substr(chunk.char_start, chunk.char_end - chunk.char_start));
    at = chunk.char_end;
  }
  CHECK(trim(text.substr(at)).empty());
}

}  // namespace

TEST_CASE("each section with text is a chunk that knows its headings", "[vault][R19]") {
  const auto chunks = chunks_of("---\na: 1\n---\nintro\n\n# T\n\n## A\n\na\n\n## B\nb\n");

  REQUIRE(chunks.size() == 3);
  CHECK(chunks[0].heading.empty());
  CHECK(chunks[1].heading_path == std::vector<std::string>{"T", "A"});
  CHECK(chunks[1].content == "# T\n\n## A\n\na");
  CHECK(chunks[2].heading == "B");
  CHECK(chunks[2].chunk_id.size() == 32);
  CHECK(chunks_of("").empty());
  CHECK(chunks_of("---\na: 1\n---\n\n").empty());
}

TEST_CASE("a long section is cut between blocks, and long text between sentences", "[vault][R19]") {
  std::string paragraphs, sentences;
  for (int i = 0; i < 40; ++i)
    paragraphs +=
        "A paragraph of about a hundred and twenty characters that is only here to fill the "
        "section with words, number " +
        std::to_string(i) + ".\n\n";
  for (int i = 0; i < 200; ++i)
    sentences += "Sentence number " + std::to_string(i) + " is not long. ";

  for (const Chunk& chunk : chunks_of("# H\n\n" + paragraphs)) {
    CHECK(chunk.heading == "H");
    CHECK(chunk.content.back() == '.');
    CHECK(count_code_points(chunk.content) <= kTargetChunkChars);
  }
  const auto cut = chunks_of(sentences);
  CHECK(cut.size() > 1);
  for (const Chunk& chunk : cut) CHECK(chunk.content.back() == '.');
  check_cover("# H\n\n" + paragraphs);
  check_cover(sentences);
}

TEST_CASE("a code block or table that fits stays whole", "[vault][R19]") {
  std::string code = "```\n", text;
  for (int i = 0; i < 100; ++i) code += "line " + std::to_string(i) + " of code\n";
  code += "```\n";
  for (int i = 0; i < 15; ++i)
    text += "Some words that come before the code and fill the chunk a bit, round " +
            std::to_string(i) + ".\n\n";

  const auto chunks = chunks_of(text + code + text);

  std::size_t whole = 0;
  for (const Chunk& chunk : chunks)
    whole += chunk.content.find(code.substr(0, code.size() - 1)) != std::string::npos ? 1 : 0;
  CHECK(whole == 1);
}

TEST_CASE("chunks cover all text of any note and stay below the limit", "[vault][R19]") {
  check_cover(std::string(20'000, 'x'));
  std::string cjk;
  for (int i = 0; i < 5000; ++i) cjk += i % 50 == 49 ? "。" : "漢";
  check_cover(cjk);
  std::mt19937 random(9);
  const std::vector<std::string> parts = {"# H\n",
                                          "## I\n",
                                          "word ",
                                          "\n",
                                          "\n\n",
                                          "- item\n",
                                          "| a | b |\n|---|---|\n| c | d |\n",
                                          "```\ncode\n```\n",
                                          "Sentence. ",
                                          std::string(700, 'y'),
                                          "é",
                                          "> q\n",
                                          "\r\n",
                                          "T\n===\n"};
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (std::size_t i = random() % 80; i > 0; --i) text += parts[random() % parts.size()];
    INFO(text);
    check_cover(text);
  }
}

TEST_CASE("chunks cover and hold their limits with other line ends and scripts",
          "[vault][G22][R19]") {
  std::string text = "---\nk: v\n---\n# Über\n\n";
  for (int i = 0; i < 60; ++i)
    text += cat(
        "## Teil ", i, "\n\nDas ist ein Satz. 漢字かな交じり文です。これも文です。\n\n",
        i % 7 == 0 ? "```\ncode one\n\ncode two\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n" : "");
  std::string long_cjk = "# 長い\n\n";
  for (int i = 0; i < 400; ++i) long_cjk += "これはかなり長い段落の中の一つの文です。";

  for (const auto* line_end : {"\n", "\r\n", "\r"}) {
    INFO(line_end[0]);
    for (const auto& source : {text, long_cjk, text + long_cjk}) {
      const auto written = replace_all(source, "\n", line_end);
      check_cover(written);
      const auto chunks = chunks_of(written);
      REQUIRE(chunks.size() == chunks_of(source).size());
      for (std::size_t i = 0; i < chunks.size(); ++i)
        CHECK(chunks[i].heading_path == chunks_of(source)[i].heading_path);
    }
  }
  const auto sentences = chunks_of(long_cjk);
  REQUIRE(sentences.size() > 2);
  for (const auto& chunk : sentences) CHECK(chunk.content.ends_with("。"));
  CHECK(sentences[0].content.size() > 1000);  // the heading is not alone
}

TEST_CASE("an edit in one section changes the hash of no other chunk", "[vault][A69]") {
  const std::string before = "# T\n\n## A\n\none\n\n## B\n\ntwo\n\n## C\n\nthree\n";
  const auto old_chunks = chunks_of(before);
  const auto new_chunks = chunks_of(replace_all(before, "two", "two and a half"));

  REQUIRE(old_chunks.size() == 3);
  REQUIRE(new_chunks.size() == 3);
  for (const std::size_t i : {0U, 2U})
    CHECK(old_chunks[i].content_sha256 == new_chunks[i].content_sha256);
  CHECK(old_chunks[1].content_sha256 != new_chunks[1].content_sha256);
}

TEST_CASE("what is embedded begins with a line of title and headings", "[vault]") {
  CHECK(embedding_text("Plan", {"Goals", "Q3"}, "# Goals\r\n\r\n## Q3\r\n\r\nShip it.") ==
        "Plan: Goals > Q3\nShip it.");
  CHECK(embedding_text("Plan", {"Plan", "Goals"}, "# Plan\n## Goals\ntext\n# not at the start") ==
        "Plan: Goals\ntext\n# not at the start");
  CHECK(embedding_text("Plan", {"Plan"}, "# Plan") == "Plan\n# Plan");
  CHECK(embedding_text("two\nlines", {}, "text") == "two lines\ntext");
  CHECK(embedding_text("T", {}, "#tag first") == "T\n#tag first");
}

TEST_CASE("the key of a vector is that of its text, wherever the note lies", "[vault][W-03]") {
  const auto key = embedding_key("T", {"A"}, "abc");

  CHECK(key.size() == 32);
  CHECK(key == embedding_key("T", {"A"}, "abc"));
  CHECK(key != embedding_key("T", {"A"}, "abd"));
  CHECK(key != embedding_key("T2", {"A"}, "abc"));
  CHECK(key != embedding_key("T", {"A", ""}, "abc"));
  CHECK(embedding_key("T", {"A", "B"}, "x") != embedding_key("T", {"AB"}, "x"));
}

}  // namespace indx
