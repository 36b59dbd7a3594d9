#include "base/word_stem.hpp"

#include <catch2/catch.hpp>

namespace indx {

TEST_CASE("inflections of an English word share a stem, other words keep theirs", "[base]") {
  for (const auto* word : {"pruned", "pruning", "prunes", "prune"})
    CHECK(word_stem(word) == "prun");
  for (const auto* word : {"plan", "plans", "planned", "planning"})
    CHECK(word_stem(word) == "plan");
  CHECK(word_stem("stories") == "story");
  CHECK(word_stem("class") == "class");
  CHECK(word_stem("status") == "status");
  CHECK(word_stem("red") == "red");
  CHECK(word_stem("") == "");
  CHECK(singular("boxes") == "box");
  CHECK(singular("analysis") == "analysis");
  CHECK(word_stem("\u6728") == "\u6728");
}

}  // namespace indx
