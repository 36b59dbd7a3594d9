#include "ai/note_text.hpp"

#include "ai/extractive/sentences.hpp"
#include "ai/extractive/tokens.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

std::string words_of(const std::string& note) {
  std::string words;
  for (const auto& token : tokenize(NoteText(note).prose()))
    words += (words.empty() ? "" : " ") + token.folded;
  return words;
}

}  // namespace

TEST_CASE("frontmatter, code, URLs, tags, comments and HTML are no prose", "[ai]") {
  CHECK(words_of("---\nsecret: yes\n---\nbody") == "body");
  CHECK(words_of("a\n```cpp\nint main;\n~~~\n````\nb") == "a b");
  CHECK(words_of("x ``let `y` z`` w") == "x w");
  CHECK(words_of(
            "see [the page](https://example.com/path) and <https://a.b/c> or https://d.e/f now") ==
        "see the page and or now");
  CHECK(words_of("link [[Target note|shown]] and [[Plain]]") == "link shown and plain");
  CHECK(words_of("has #a/tag and C# and <b>bold</b> %%hidden%% <!-- gone --> end") ==
        "has and c and bold end");
  CHECK(words_of("- [x] sow\n* [ ] dig\n+ [✓] rake\n- [a] b\n[x] y") == "sow dig rake b x y");
  CHECK(words_of("```\nnever closed") == "");
  CHECK(words_of("%% never closed") == "never closed");
}

TEST_CASE("a byte is told with its line and the slug of the heading above", "[ai]") {
  const std::string bytes =
      "---\na: 1\n---\nintro\n# My  Plan\n## Next Steps ##\nfoo\n## Next Steps\nbar\n";
  const NoteText note(bytes);
  const auto at = [&](const char* word) {
    return note.evidence(bytes.find(word), bytes.find(word) + 3);
  };

  CHECK(at("int").line == 4);
  CHECK(at("int").anchor == "");
  CHECK(at("foo").anchor == "next-steps");
  CHECK(at("foo").line == 7);
  CHECK(at("bar").anchor == "next-steps-1");
  CHECK(at("bar").quote == "bar");
  CHECK(bytes.substr(at("bar").begin, at("bar").end - at("bar").begin) == "bar");
  CHECK(note.is_heading(bytes.find("Plan")));
  CHECK_FALSE(note.is_heading(bytes.find("foo")));
}

TEST_CASE("a # line in a code block is no heading", "[ai]") {
  const std::string bytes = "# A\n```\n# B\n```\ntext\n";
  CHECK(NoteText(bytes).evidence(bytes.find("text"), bytes.size() - 1).anchor == "a");
}

TEST_CASE("a quote is found exactly or with other white space, in the body only", "[ai]") {
  const std::string bytes = "---\ntitle: hidden words\n---\nOne  two\nthree four.\n";
  const NoteText note(bytes);

  REQUIRE(note.find_quote("two\nthree").has_value());
  const auto loose = note.find_quote(" One two three ");
  REQUIRE(loose.has_value());
  CHECK(loose->quote == "One  two\nthree");
  CHECK(loose->line == 4);
  CHECK(bytes.substr(loose->begin, loose->end - loose->begin) == loose->quote);
  for (const char* absent : {"hidden words", "two four", "", "...", "Three"})
    CHECK_FALSE(note.find_quote(absent).has_value());
}

TEST_CASE("the sentence around a word is verbatim, trimmed and bounded", "[ai]") {
  const std::string bytes = "First one. The roses bloom! Last one.\n";
  const auto rose = bytes.find("roses");
  CHECK(NoteText(bytes).sentence_around(rose, rose + 5).quote == "The roses bloom!");

  std::string longer;
  for (int i = 0; i < 200; ++i) longer += "ünïcödé wörds ";
  const auto middle = longer.find("wörds", 1000);
  const auto evidence = NoteText(longer).sentence_around(middle, middle + 6);
  CHECK(evidence.quote.size() <= 260);
  CHECK(longer.substr(evidence.begin, evidence.end - evidence.begin) == evidence.quote);
  CHECK(evidence.begin <= middle);
  CHECK(evidence.end >= middle + 6);
  CHECK((evidence.begin == 0 || longer[evidence.begin - 1] == ' '));
}

TEST_CASE("hostile notes take no quadratic time", "[ai]") {
  for (const char* unit : {"[[", "`", "%%", "<!--", "](", "# a\n", "<a", "```\n"}) {
    std::string bytes;
    while (bytes.size() < 300000) bytes += unit;
    CAPTURE(unit);
    const auto begin = std::chrono::steady_clock::now();
    CHECK(NoteText(bytes).prose().size() == bytes.size());
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(2));
  }
}

TEST_CASE("a line of megabytes is read once, whatever its marks leave open", "[ai]") {
  for (const char* unit : {"[[", "[[a|", "](", "<a", "`a``b"}) {
    std::string bytes;
    while (bytes.size() < 2000000) bytes += unit;
    CAPTURE(unit);
    const auto begin = std::chrono::steady_clock::now();
    CHECK(NoteText(bytes).prose().size() == bytes.size());
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
  }
  std::string links;
  while (links.size() < 2000000) links += "[[";
  links += "]]";
  const auto begin = std::chrono::steady_clock::now();
  CHECK(NoteText(links).prose().size() == links.size());
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
}

TEST_CASE("many sentences in one line are cut in one pass over it", "[ai]") {
  std::string bytes;
  while (bytes.size() < 500000) bytes += "Roses bloom here. ";
  const NoteText text(bytes);

  const auto begin = std::chrono::steady_clock::now();
  const auto sentences = note_sentences(bytes, text);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));

  CHECK(sentences.size() == bytes.size() / 18);
  CHECK(bytes.substr(sentences.back().begin, 17) == "Roses bloom here.");
}

TEST_CASE("marks are blanked as before when one stands in the way of another", "[ai]") {
  CHECK(words_of("a [[x)|b]] [c](d) e) f") == "a b c e f");
  CHECK(words_of("a ](b c\n\n) d <e f\n\n> g") == "a b c d e f g");
  CHECK(words_of("``a `b` c\n\n``d`` e") == "a c e");
}

TEST_CASE("a quote ends with a whole character, also where that is white space of two bytes",
          "[ai][D38]") {
  const std::string bytes = "Roses  bloom\xC2\xA0in June.\n";

  const auto found = NoteText(bytes).find_quote("Roses bloom\xC2\xA0");

  REQUIRE(found.has_value());
  CHECK(found->quote == "Roses  bloom");
}

TEST_CASE("a quote is looked for between two places", "[ai]") {
  const std::string bytes = "Roses  bloom.\nRoses bloom.\n";
  const NoteText note(bytes);

  REQUIRE(note.find_quote("Roses bloom", 0, 13).has_value());
  CHECK(note.find_quote("Roses bloom", 0, 13)->line == 1);
  CHECK(note.find_quote("Roses bloom", 0, 20)->line == 1);
  CHECK_FALSE(note.find_quote("Roses bloom", 14, 20).has_value());
}

TEST_CASE("a phrase and a tag are the same under one key", "[ai]") {
  CHECK(phrase_key("Machine-Learning Models") == "machine learning model");
  CHECK(phrase_key("user_stories") == phrase_key("User story"));
  CHECK(phrase_key("boxes") == "box");
  CHECK(phrase_key("class status analysis") == "class status analysis");
}

}  // namespace indx
