// The measures of bench/quality, against values worked out by hand.
#include "bench/quality/lexrank.hpp"
#include "bench/quality/metrics.hpp"
#include "bench/quality/rouge.hpp"
#include "bench/quality/sentences.hpp"

#include <catch2/catch.hpp>

namespace indx::quality {
namespace {

using Ranked = std::vector<std::string>;

TEST_CASE("the reciprocal rank is that of the first relevant item within the depth", "[bench]") {
  const Ranked ranked{"a", "b", "c", "d"};

  CHECK(reciprocal_rank(ranked, {"a"}, 10) == Approx(1));
  CHECK(reciprocal_rank(ranked, {"d", "b"}, 10) == Approx(1.0 / 2));
  CHECK(reciprocal_rank(ranked, {"d"}, 4) == Approx(1.0 / 4));
  CHECK(reciprocal_rank(ranked, {"d"}, 3) == 0);
  CHECK(reciprocal_rank({}, {"a"}, 10) == 0);
}

TEST_CASE("recall is over all relevant items, precision over all places", "[bench]") {
  const Ranked ranked{"a", "b", "a", "c"};

  CHECK(recall_at(ranked, {"a", "c", "z"}, 10) == Approx(2.0 / 3));
  CHECK(recall_at(ranked, {"a", "c", "z"}, 3) == Approx(1.0 / 3));  // a twice counts once
  CHECK(recall_at(ranked, {}, 3) == 0);
  CHECK(precision_at({"a", "b"}, {"a"}, 3) == Approx(1.0 / 3));  // the third place is empty
  CHECK(precision_at({"a", "b", "c", "d"}, {"a", "c", "d"}, 3) == Approx(2.0 / 3));
  CHECK(precision_at({}, {"a"}, 3) == 0);
}

TEST_CASE("the mean of nothing is nothing", "[bench]") {
  CHECK(mean({}) == 0);
  CHECK(mean({1, 0, 0.5}) == Approx(0.5));
}

TEST_CASE("a gain that is the same everywhere has an interval without width", "[bench]") {
  const auto interval = paired_bootstrap({1, 0.5, 0.75}, {0.75, 0.25, 0.5}, 1000, 1);

  CHECK(interval.low == Approx(0.25));
  CHECK(interval.high == Approx(0.25));
}

TEST_CASE("gains that come and go have an interval as wide as the theory says", "[bench]") {
  std::vector<double> ours, theirs;
  for (int i = 0; i < 100; ++i) {
    ours.push_back(i % 2 == 0 ? 1 : 0);
    theirs.push_back(i % 2 == 0 ? 0 : 1);
  }

  const auto interval = paired_bootstrap(ours, theirs, 10000, 1);
  const auto again = paired_bootstrap(ours, theirs, 10000, 1);

  // The mean of 100 draws of +1 and -1 has a standard deviation of .1.
  CHECK(interval.low == Approx(-0.196).margin(0.03));
  CHECK(interval.high == Approx(0.196).margin(0.03));
  CHECK(again.low == interval.low);
  CHECK(again.high == interval.high);
}

TEST_CASE("ROUGE-1 counts a word at most as often as both texts have it", "[bench]") {
  CHECK(rouge1_f("The cat sat on the mat.", "the cat lay on a mat") == Approx(4.0 / 6));
  // One of three, one of two: 2 * 1/3 * 1/2 / (1/3 + 1/2).
  CHECK(rouge1_f("the the the", "The cat") == Approx(0.4));
  CHECK(rouge1_f("one two", "three") == 0);
  CHECK(rouge1_f("", "three") == 0);
  CHECK(rouge1_f("same words", "same words") == Approx(1));
}

TEST_CASE("sentences are those of the prose, by section", "[bench]") {
  const auto sentences = plain_sentences(
      "---\ntitle: A title of words\n---\n# Head of the note\n\nFirst sentence is here. Second one "
      "is there.\n\n## Next\n\n- an item of five words\n- two words\n\n```\nno prose in "
      "code\n```\n");

  REQUIRE(sentences.size() == 3);
  CHECK(sentences[0].text == "First sentence is here");
  CHECK(sentences[1].text == "Second one is there");
  CHECK(sentences[2].text == "an item of five words");
  CHECK(sentences[0].section == sentences[1].section);
  CHECK(sentences[2].section == sentences[1].section + 1);
}

TEST_CASE("LexRank puts the sentence first that is like both others", "[bench]") {
  const std::vector<PlainSentence> sentences{
      {"apples pears", 0}, {"apples plums", 0}, {"pears cherries", 0}};

  const auto scores = lexrank(sentences);

  // x0 = .05 + .85 (x0/3 + x1/2 + x2/2), x1 = x2 = .05 + .85 (x0/3 + x1/2), sum 1.
  REQUIRE(scores.size() == 3);
  CHECK(scores[0] == Approx(0.41606).epsilon(1e-4));
  CHECK(scores[1] == Approx(0.29197).epsilon(1e-4));
  CHECK(scores[2] == Approx(scores[1]));
  CHECK(lexrank({}).empty());
}

TEST_CASE("a summary takes the best sentences until it is long enough, in order of place",
          "[bench]") {
  const std::vector<PlainSentence> sentences{{"one two three", 0}, {"four five", 0}, {"six", 0}};

  CHECK(best_sentences(sentences, {0.2, 0.5, 0.3}, 2) == "four five");
  CHECK(best_sentences(sentences, {0.4, 0.5, 0.1}, 3) == "one two three four five");
  CHECK(best_sentences(sentences, {0.4, 0.5, 0.1}, 0) == "four five");  // never nothing
  CHECK(best_sentences({}, {}, 5).empty());
}

}  // namespace
}  // namespace indx::quality
