#include "store/tokenizer.hpp"

#include <catch2/catch.hpp>

#include <vector>

namespace indx {
namespace {

std::vector<std::string> read_words(std::string_view text) {
  std::vector<std::string> words;
  for (WordReader reader(text); reader.next();) words.emplace_back(reader.word());
  return words;
}

}  // namespace

TEST_CASE("words are folded without case and combining marks in every script", "[store]") {
  CHECK(read_words("Café CRÈME nai\xCC\x88ve") ==
        std::vector<std::string>{"cafe", "creme", "naive"});
  CHECK(read_words("Ελληνικός ΕΛΛΗΝΙΚΟΣ ελληνικος") ==
        std::vector<std::string>{"ελληνικοσ", "ελληνικοσ", "ελληνικοσ"});
  CHECK(read_words("Ёлка Йод") == std::vector<std::string>{"елка", "иод"});
  CHECK(read_words("שָׁלוֹם") == read_words("שלום"));
}

TEST_CASE("sharp s, dotless i and o with stroke keep their identity", "[store]") {
  CHECK(read_words("STRASSE") != read_words("Straße"));
  CHECK(read_words("STRAẞE") == read_words("straße"));
  CHECK(read_words("kapı") != read_words("kapi"));
  CHECK(read_words("Smørrebrød") == std::vector<std::string>{"smørrebrød"});
}

TEST_CASE("each character of an unspaced script is a word of its own", "[store]") {
  CHECK(read_words("重跑gen后引用") ==
        std::vector<std::string>{"重", "跑", "gen", "后", "引", "用"});
  CHECK(read_words("한국 text") == std::vector<std::string>{"한", "국", "text"});
  CHECK(read_words("\u1112\u1161\u11ab") ==
        std::vector<std::string>{"한"});  // written as single letters
}

TEST_CASE("a word knows its bytes, its combining marks included", "[store]") {
  WordReader reader("«Cafe\xCC\x81», ไทย");

  REQUIRE(reader.next());
  CHECK(reader.begin() == 2);
  CHECK(reader.end() == 8);
  REQUIRE(reader.next());
  CHECK(reader.begin() == 12);
}

TEST_CASE("hostile bytes are read without a fault", "[store]") {
  CHECK(read_words("\xFF\xFE\xC3").empty());
  CHECK(read_words("a\xFFz") == std::vector<std::string>{"a", "z"});
  CHECK(read_words(std::string("a\0b", 3)) == std::vector<std::string>{"a", "b"});
  CHECK(read_words(std::string(100000, 'x')).size() == 1);
  CHECK(read_words("\xCC\x81\xCC\x81").empty());
}

TEST_CASE("text folded for raw checks keeps punctuation", "[store]") {
  CHECK(fold_for_search("Don’t É C++") == "don't e c++");
}

}  // namespace indx
