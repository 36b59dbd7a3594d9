#include "actors/path_patterns.hpp"

#include "base/random.hpp"
#include "base/text.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

namespace indx {

TEST_CASE("names, folders and globs name the same files as when each is tried on each path",
          "[actors][A71]") {
  SeededRandom random(7);
  const auto word = [&] {
    return std::string(1 + random.next() % 2, static_cast<char>('a' + random.next() % 2));
  };
  const auto path = [&] {
    std::string text = word();
    for (auto depth = random.next() % 3; depth > 0; --depth) text += "/" + word();
    return text;
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> patterns;
    for (auto left = random.next() % 5; left > 0; --left)
      patterns.push_back(random.next() % 3 == 0 ? path() + "*" : path());
    PathPatterns tested(patterns);
    auto unmatched = patterns;
    for (int i = 0; i < 20; ++i) {
      const auto one = path();
      bool is_named = false;
      for (const auto& pattern : patterns) {
        if (pattern != one && !one.starts_with(pattern + "/") && !glob_match(pattern, one))
          continue;
        is_named = true;
        std::erase(unmatched, pattern);
      }
      INFO(one << " in " << join(patterns, ", "));
      CHECK(tested.matches(one) == is_named);
    }
    std::sort(unmatched.begin(), unmatched.end());
    unmatched.erase(std::unique(unmatched.begin(), unmatched.end()), unmatched.end());
    CHECK(tested.unmatched() == unmatched);
  }
}

TEST_CASE("a name with the signs of a glob is a name too", "[actors]") {
  PathPatterns patterns({"a[1].md", "b{x"});

  CHECK(patterns.matches("a[1].md"));
  CHECK_FALSE(patterns.matches("b"));
  CHECK(patterns.unmatched() == std::vector<std::string>{"b{x"});
}

}  // namespace indx
