#include "store/passage_words.hpp"

#include <catch2/catch.hpp>

#include <cmath>

namespace indx {

TEST_CASE("a passage is scored by BM25, with inflections as the word itself", "[store]") {
  const PassageWords words({{"prun", 2.0}, {"salt", 1.0}});
  PassageWords::Counts counts;
  words.count("Pruning", counts);
  words.count("They pruned the SALTY one; prunes again.", counts);

  CHECK(counts.frequencies == std::vector<int>{3, 0});
  CHECK(counts.length == 8);
  // As long as the mean: f (k1 + 1) / (f + k1).
  CHECK(words.score(counts, 8) == Approx(2.0 * 3 * 2.2 / (3 + 1.2)));
  CHECK(words.score(counts, 4) < words.score(counts, 8));
  CHECK(words.score({}, 8) == 0);
  CHECK(words.score(counts, 0) == 0);
}

TEST_CASE("a word of all notes still weighs something, a rare one more", "[store]") {
  CHECK(passage_word_weight(100, 100) > 0);
  CHECK(passage_word_weight(1, 100) > passage_word_weight(50, 100));
  CHECK(passage_word_weight(0, 100) == Approx(std::log(202.0)));
}

}  // namespace indx
