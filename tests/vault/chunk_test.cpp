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

}  // namespace indx
