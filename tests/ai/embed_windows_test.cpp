#include "ai/embed/model_file.hpp"
#include "ai/embed/tokenizer.hpp"
#include "ai/embed/windows.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace indx::embed {
namespace {

/// A vocabulary of our own: the reserved ones, then these.
struct SmallVocabulary {
  std::vector<std::string_view> texts{"?", "<s>", "</s>", "x1", "x2", "x3"};
  std::vector<double> scores = std::vector<double>(6, 0.0);

  SmallVocabulary(std::initializer_list<std::pair<std::string_view, double>> pieces) {
    for (const auto& [text, score] : pieces) texts.push_back(text), scores.push_back(score);
  }
  Tokenizer tokenizer() const { return {texts, scores}; }
};

/// Each letter and full stop is a piece, and so is the mark of a word.
const SmallVocabulary& letters() {
  static const SmallVocabulary all{{"▁", -1}, {".", -1},  {"a", -1}, {"b", -1},
                                   {"h", -1}, {"▁h", -1}, {"▁a", -1}};
  return all;
}

std::string text_of(const SmallVocabulary& vocabulary, const std::vector<PieceId>& pieces) {
  std::string text;
  for (const auto piece : pieces) text += vocabulary.texts[piece];
  return text;
}

std::string repeated(const std::string& part, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += part;
  return text;
}

}  // namespace

TEST_CASE("a text is cut where the sum of the scores is highest", "[ai]") {
  const SmallVocabulary v{{"▁", -1}, {"a", -2}, {"b", -2}, {"▁ab", -6}, {"▁a", -3.5}, {"ab", -3.2}};
  const auto tokenizer = v.tokenizer();

  CHECK(text_of(v, tokenizer.encode("ab")) == "▁ab");
  CHECK(tokenizer.encode("ab") == std::vector<PieceId>{6, 11});        // -4.2
  CHECK(tokenizer.encode("a b") == std::vector<PieceId>{6, 7, 6, 8});  // -3 before -3.5
  CHECK(tokenizer.encode("").empty());
}

TEST_CASE("characters without a piece are unknown, neighbours count as one, reserved never match",
          "[ai]") {
  const auto tokenizer = letters().tokenizer();
  const PieceId mark = 6, a = 8;

  CHECK(tokenizer.encode("xyz") == std::vector<PieceId>{mark, kUnknownPiece});
  CHECK(tokenizer.encode("x\u65E5\u672Ca") == std::vector<PieceId>{mark, kUnknownPiece, a});
  CHECK(tokenizer.encode("a?a") == std::vector<PieceId>{12, kUnknownPiece, a});
  CHECK(tokenizer.encode("x x") == std::vector<PieceId>{mark, kUnknownPiece, mark, kUnknownPiece});
  CHECK(tokenizer.encode("\xFF") == std::vector<PieceId>{mark, kUnknownPiece});
}

TEST_CASE("the later of two pieces with one text counts", "[ai]") {
  const SmallVocabulary v{{"▁", -1}, {"a", -1}, {"a", -9}};
  CHECK(v.tokenizer().encode("a") == std::vector<PieceId>{6, 8});
}

TEST_CASE("a text of one line is packed by sentences without anything in front", "[ai]") {
  const auto tokenizer = letters().tokenizer();
  const auto sentence = repeated("b", 27) + ".";  // 29 pieces with its mark

  const auto windows = windows_of(tokenizer, repeated(sentence + " ", 7));

  REQUIRE(windows.size() == 3);
  CHECK(windows[0].size() == 87);
  CHECK(windows[1].size() == 87);
  CHECK(windows[2].size() == 29);
  CHECK(text_of(letters(), windows[2]) == "▁" + sentence);
}

TEST_CASE("the first line stands in front of every window of the others", "[ai]") {
  const auto tokenizer = letters().tokenizer();

  const auto windows = windows_of(tokenizer, "h  h.\n" + repeated("aa. ", 40) + "\n\n a\tb\n");

  REQUIRE(windows.size() == 2);
  for (const auto& window : windows) {
    CHECK(window.size() <= kWindowPieces);
    CHECK(text_of(letters(), window).starts_with("▁h▁h.▁aa."));
  }
  CHECK(text_of(letters(), windows[1]).ends_with("▁aa.▁a▁b"));
}

TEST_CASE("a first line becomes a sentence where it is none", "[ai]") {
  const auto tokenizer = letters().tokenizer();

  const auto windows = windows_of(tokenizer, "h\naa");

  REQUIRE(windows.size() == 1);
  CHECK(text_of(letters(), windows[0]) == "▁h.▁aa");
}

TEST_CASE("a first line without others is the text; a long one is cut to leave room", "[ai]") {
  const auto tokenizer = letters().tokenizer();

  const auto alone = windows_of(tokenizer, "h h.\n \n\t");
  const auto longer = windows_of(tokenizer, repeated("h", 500) + "\na");

  REQUIRE(alone.size() == 1);
  CHECK(text_of(letters(), alone[0]) == "▁h▁h.");
  REQUIRE(longer.size() == 1);
  CHECK(longer[0].size() == kMaxHeadPieces + 1);
}

TEST_CASE("a sentence that fits no window is cut between words, a word that fits none inside",
          "[ai]") {
  const auto tokenizer = letters().tokenizer();

  const auto sentence = windows_of(tokenizer, repeated("abba ", 60));
  const auto word = windows_of(tokenizer, repeated("b", 200));

  REQUIRE(sentence.size() == 3);
  for (const auto& window : sentence) {
    CHECK(window.size() <= kWindowPieces);
    CHECK(tokenizer.begins_word(window.front()));
    CHECK(text_of(letters(), window).ends_with("▁abba"));
  }
  REQUIRE(word.size() == 3);
  CHECK(word[0].size() == kWindowPieces);
  CHECK(word[2].size() == 201 - 2 * kWindowPieces);
}

TEST_CASE("no piece of a long line without full stops is lost", "[ai]") {
  const auto tokenizer = letters().tokenizer();
  const auto words = repeated("abb ", 900), unbroken = repeated("b", 5000);
  const auto count = [&](const std::string& text, char letter) {
    std::ptrdiff_t found = 0;
    for (const auto& window : windows_of(tokenizer, text)) {
      const auto piece_text = text_of(letters(), window);
      found += std::count(piece_text.begin(), piece_text.end(), letter);
    }
    return found;
  };

  CHECK(count(words, 'a') == 900);
  CHECK(count(words, 'b') == 1800);
  CHECK(count(unbroken, 'b') == 5000);
}

TEST_CASE("white space alone has no window", "[ai]") {
  const auto tokenizer = letters().tokenizer();
  for (const std::string text : {"", " ", "\n\n", " \t\r\n\u00A0\u3000 "})
    CHECK(windows_of(tokenizer, text).empty());
}

}  // namespace indx::embed
