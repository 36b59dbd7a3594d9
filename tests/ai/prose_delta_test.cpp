#include "ai/prose_delta.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <vector>

namespace indx {
namespace {

/// What comes of the pieces between the cuts, which are in order.
std::string prose_of(const std::string& json, const std::vector<std::size_t>& cuts = {}) {
  ProseDelta prose("text");
  std::string all;
  std::size_t begin = 0;
  for (const auto cut : cuts) {
    all += prose.feed(std::string_view(json).substr(begin, cut - begin));
    begin = cut;
  }
  return all + prose.feed(std::string_view(json).substr(begin));
}

/// Characters of one to four bytes, every kind of escape, names that look like the wanted one.
const std::string kProseReply =
    R"( {"tldr": "no \"text\": \"x\"", "points": [{"text": "inner", "n": [1, {"text": "deep"}]}],)"
    R"( "texts": "no", "tex": "", "t\u0065xt" : " \n Grüße \u00fc \ud83d\udc4b\ud83c\udffd 東京)"
    R"( \"quoted\" \\ \/ \t a\u0000b {not: a, member} 👋 end. \n", "after": "no", "text": "twice"} )";

std::string meant_prose() {
  const auto reply = Json::parse(kProseReply);
  std::string first;
  // The reader keeps the first of two members, the parser the last.
  const auto text = kProseReply.find("\"t\\u0065xt\"");
  const auto cut = kProseReply.substr(text);
  first = Json::parse("{" + cut.substr(0, cut.find(", \"after\"")) + "}")
              .begin()
              .value()
              .get<std::string>();
  return std::string(trim(first));
}

}  // namespace

TEST_CASE("the prose of a reply is the same wherever its bytes are cut", "[ai][D42]") {
  const auto whole = meant_prose();
  REQUIRE(whole.size() > 40);
  REQUIRE(prose_of(kProseReply) == whole);

  std::vector<std::size_t> every;
  for (std::size_t i = 1; i < kProseReply.size(); ++i) every.push_back(i);
  CHECK(prose_of(kProseReply, every) == whole);
  std::size_t wrong = 0;
  for (std::size_t first = 0; first <= kProseReply.size(); ++first)
    for (std::size_t second = first; second <= kProseReply.size(); second += 3)
      wrong += prose_of(kProseReply, {first, second}) == whole ? 0 : 1;
  CHECK(wrong == 0);
}

TEST_CASE("each delta of a prose is valid text and none is taken back", "[ai][D42]") {
  ProseDelta prose("text");
  std::string all;
  const auto whole = meant_prose();
  for (const char byte : kProseReply) {
    const auto delta = prose.feed(std::string_view(&byte, 1));
    if (!is_valid_utf8(delta)) FAIL("half a character was told");
    all += delta;
    if (!whole.starts_with(all)) FAIL("`" + all + "` is no beginning");
  }
  CHECK(all == whole);
}

TEST_CASE("a prose begins before its reply ends", "[ai][D42]") {
  ProseDelta prose("answer");
  CHECK(prose.feed(R"({"citations": [], "answer": "One)") == "One");
  CHECK(prose.feed(" two ").empty() == false);
  CHECK(prose.feed("three") == " three");
}

TEST_CASE("texts of every kind survive JSON and any cuts", "[ai][D42]") {
  std::mt19937 random(7);  // a fixed seed: the same texts in every run
  const std::vector<std::string> parts = {"a",  " ",  "\n",       "\"", "\\",
                                          "ü",  "東", "👋🏽", "\t", "}",
                                          "{",  "]",  ",",        ":",  "\"text\": \"x\"",
                                          "\b", "\f", "\r",       "/",  std::string(1, '\0')};
  std::uniform_int_distribution<std::size_t> part(0, parts.size() - 1), count(0, 30);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (auto n = count(random); n > 0; --n) text += parts[part(random)];
    const bool is_ascii = round % 2 == 0;
    const auto json =
        Json{{"other", {text, {{"text", "no"}}}}, {"text", text}, {"more", text}}.dump(-1, ' ',
                                                                                       is_ascii);
    std::uniform_int_distribution<std::size_t> place(0, json.size());
    std::vector<std::size_t> cuts(4);
    for (auto& cut : cuts) cut = place(random);
    std::sort(cuts.begin(), cuts.end());
    INFO(json);
    CHECK(prose_of(json, cuts) == trim(text));
  }
}

TEST_CASE("what is no prose gives nothing", "[ai][D42]") {
  CHECK(prose_of(R"({"text": null, "b": "text"})").empty());
  CHECK(prose_of(R"({"text": ["a", "b"], "c": "d"})").empty());
  CHECK(prose_of(R"({"text": {"text": "a"}, "c": "d"})").empty());
  CHECK(prose_of(R"({"text": 5, "c": "d"})").empty());
  CHECK(prose_of(R"({"a": {"text": "inner"}})").empty());
  CHECK(prose_of(R"({"text": "  \n "})").empty());
  CHECK(prose_of("I cannot answer as JSON.").empty());
  CHECK(prose_of("").empty());
  CHECK(prose_of(R"({"Text": "x", "text ": "y", "texttext": "z"})").empty());
}

TEST_CASE("a fence and words in front of a reply are passed over", "[ai][D42]") {
  CHECK(prose_of("Here it is:\n```json\n{\"text\": \"Yes.\"}\n```\n{\"text\": \"No.\"}") == "Yes.");
}

TEST_CASE("broken JSON gives valid text and an end", "[ai][D42]") {
  CHECK(prose_of(R"({"text": "half a)") == "half a");
  CHECK(prose_of(R"({"text": "\ud83d alone"})") == "\xEF\xBF\xBD alone");
  CHECK(prose_of(R"({"text": "\udc4b\ud83d\ud83d\udc4b"})") ==
        "\xEF\xBF\xBD\xEF\xBF\xBD\xF0\x9F\x91\x8B");
  CHECK(prose_of("{\"text\": \"\\u12\"}") == "\xEF\xBF\xBD");
  CHECK(prose_of("{\"text\": \"a\xC3\"}") == "a\xEF\xBF\xBD");
  CHECK(prose_of("{\"text\": \"\xE6\x9D"
                 "a\x80\xF0\x9F\"}") ==
        "\xEF\xBF\xBD\xEF\xBF\xBD"
        "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(prose_of("}}]]{\"text\": \"on\"") == "on");

  std::mt19937 random(11);
  std::uniform_int_distribution<int> byte(0, 255);
  std::uniform_int_distribution<std::size_t> place(0, kProseReply.size() - 1);
  for (int round = 0; round < 500; ++round) {
    auto json = kProseReply;
    for (int n = 0; n < 3; ++n) json[place(random)] = static_cast<char>(byte(random));
    const auto at = place(random);
    const auto prose = prose_of(json, {at});
    if (!is_valid_utf8(prose) || prose != prose_of(json)) FAIL(json);
  }
}

}  // namespace indx
