#include "http/byte_ranges.hpp"

#include "base/random.hpp"
#include "base/text.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

using Kind = RangeAnswer::Kind;

std::string shown_ranges(const std::string& range_header, std::uint64_t size = 100) {
  const auto answer = read_ranges(range_header, size);
  if (answer.kind == Kind::Whole) return "whole";
  if (answer.kind == Kind::None) return "none";
  std::string text;
  for (const auto& range : answer.ranges)
    text += cat(text.empty() ? "" : " ", range.begin, "+", range.size);
  return text;
}

}  // namespace

TEST_CASE("a range is read from its start, to its end, or from the end", "[http][A25]") {
  CHECK(shown_ranges("bytes=0-9") == "0+10");
  CHECK(shown_ranges("bytes=90-") == "90+10");
  CHECK(shown_ranges("bytes=-7") == "93+7");
  CHECK(shown_ranges("bytes=95-1000") == "95+5");
  CHECK(shown_ranges("bytes=-1000") == "0+100");
  CHECK(shown_ranges(" Bytes = 1-1 ") == "1+1");
  CHECK(shown_ranges("bytes=0-18446744073709551615999") == "0+100");
}

TEST_CASE("ranges of which nothing exists are told apart from those to be ignored", "[http][A25]") {
  for (const auto* range_header : {"bytes=100-", "bytes=100-200", "bytes=-0", "bytes=500-,600-"})
    CHECK(shown_ranges(range_header) == "none");
  CHECK(shown_ranges("bytes=0-", 0) == "none");
  for (const auto* range_header :
       {"", "bytes", "bytes=", "bytes=,", "items=0-9", "bytes=a-b", "bytes=5-4", "bytes=-",
        "bytes=0-1,x", "bytes=+1-2", "bytes=0x1-2"})
    CHECK(shown_ranges(range_header) == "whole");
}

TEST_CASE("several ranges are kept in order, joined where they touch, and bounded", "[http][A25]") {
  CHECK(shown_ranges("bytes=0-1, 10-19,-5") == "0+2 10+10 95+5");
  CHECK(shown_ranges("bytes=0-4,5-9,8-12") == "0+13");
  CHECK(shown_ranges("bytes=200-,0-1") == "0+2");
  CHECK(shown_ranges("bytes=50-60,0-1") == "50+11 0+2");
  CHECK(shown_ranges("bytes=50-99,0-60") == "whole");
  std::string many = "bytes=0-0";
  for (std::size_t i = 1; i <= kMaxRanges; ++i) many += cat(",", i * 3, "-", i * 3);
  CHECK(shown_ranges(many, 1000) == "whole");
}

TEST_CASE("whatever a Range range_header says, what is sent lies in the file", "[http][A25]") {
  SeededRandom random(7);
  const std::string alphabet = "0123456789-,, =bytes";
  for (int round = 0; round < 20000; ++round) {
    std::string range_header = random.next() % 4 == 0 ? "" : "bytes=";
    for (auto left = random.next() % 24; left > 0; --left)
      range_header += alphabet[random.next() % alphabet.size()];
    const auto size = random.next() % 50;
    const auto answer = read_ranges(range_header, size);
    std::uint64_t total = 0;
    for (const auto& range : answer.ranges) {
      REQUIRE(range.size > 0);
      REQUIRE(range.begin + range.size <= size);
      total += range.size;
    }
    REQUIRE(total <= size);
    REQUIRE((answer.kind == Kind::Parts) == !answer.ranges.empty());
  }
}

}  // namespace indx
