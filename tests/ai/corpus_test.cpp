#include "ai/extractive/corpus.hpp"

#include <catch2/catch.hpp>

#include <cmath>

namespace indx {
namespace {

Corpus corpus_of(const std::vector<std::pair<std::string, std::string>>& notes) {
  Corpus corpus;
  for (const auto& [path, text] : notes) corpus.add(path, text, {path.substr(0, 1)});
  corpus.finish();
  return corpus;
}

}  // namespace

TEST_CASE("content words are folded, without stop words, numbers and possessives", "[ai]") {
  CHECK(content_words("The Gardener's 12 ROSES aren't in 2024, but GPT4 is.") ==
        std::vector<std::string>{"gardener", "roses", "gpt4"});
  CHECK(content_words("Straße und ÄPFEL sind für die Küche") ==
        std::vector<std::string>{"straße", "äpfel", "küche"});
  CHECK(content_words("don’t over-engineer l’été") ==
        std::vector<std::string>{"engineer", "l'été"});
  CHECK(content_words("").empty());
  CHECK(content_words("\xFF\xFE a \x80").empty());
}

TEST_CASE("scripts without spaces give overlapping pairs", "[ai]") {
  CHECK(content_words("日本語 and 木") == std::vector<std::string>{"日本", "本語", "木"});
  CHECK(content_words("한국어") == std::vector<std::string>{"한국", "국어"});
}

TEST_CASE("document frequencies and their inverse follow the formula", "[ai]") {
  const auto corpus = corpus_of({{"a.md", "rose rose tulip"}, {"b.md", "rose"}, {"c.md", "oak"}});

  CHECK(corpus.size() == 3);
  CHECK(corpus.document_frequency("rose") == 2);
  CHECK(corpus.document_frequency("pine") == 0);
  CHECK(corpus.inverse_document_frequency("rose") == Approx(std::log(4.0 / 3.0) + 1));
  CHECK(corpus.inverse_document_frequency("pine") == Approx(std::log(4.0) + 1));
}

TEST_CASE("the nearest notes come best first, ties by path, without the excepted one", "[ai]") {
  const auto corpus = corpus_of({{"d.md", "rose tulip"},
                                 {"b.md", "rose tulip"},
                                 {"c.md", "rose oak elm ash"},
                                 {"e.md", "granite"},
                                 {"a.md", "rose tulip"}});

  const auto nearest = corpus.nearest("tulip rose", 10, "a.md");

  REQUIRE(nearest.size() == 3);
  CHECK(nearest[0].path == "b.md");
  CHECK(nearest[1].path == "d.md");
  CHECK(nearest[2].path == "c.md");
  CHECK(nearest[0].similarity == Approx(1).margin(1e-6));
  CHECK(nearest[0].tags == std::vector<std::string>{"b"});
  CHECK(nearest[2].similarity < 0.6);
  CHECK(corpus.nearest("tulip", 1, "").size() == 1);
  CHECK(corpus.nearest("the", 5, "").empty());
}

TEST_CASE("the words that two notes share come in order of their weight", "[ai]") {
  const auto corpus = corpus_of({{"a.md", "rose tulip oak"}, {"b.md", "oak"}, {"c.md", "oak"}});
  CHECK(corpus.shared_words("oak tulip granite", "a.md", 5) ==
        std::vector<std::string>{"tulip", "oak"});
  CHECK(corpus.shared_words("oak", "none.md", 5).empty());
}

TEST_CASE("an empty corpus answers", "[ai]") {
  Corpus corpus;
  corpus.finish();
  CHECK(corpus.nearest("rose", 5, "").empty());
  CHECK(corpus.inverse_document_frequency("rose") == 1);
}

}  // namespace indx
