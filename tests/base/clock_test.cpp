#include "base/clock.hpp"

#include <catch2/catch.hpp>

#include <random>

namespace indx {

TEST_CASE("a time is written in RFC 3339 with milliseconds, and read back as the same", "[base]") {
  CHECK(format_time(from_millis(0)) == "1970-01-01T00:00:00.000Z");
  CHECK(format_time(from_millis(-1)) == "1969-12-31T23:59:59.999Z");
  CHECK(format_time(from_millis(951'827'696'789)) == "2000-02-29T12:34:56.789Z");
  CHECK(format_time(from_millis(1'773'655'200'123)) == "2026-03-16T10:00:00.123Z");

  std::mt19937_64 random(1);
  std::uniform_int_distribution<std::int64_t> any(-62'167'219'200'000, 253'402'300'799'999);
  for (int i = 0; i < 10'000; ++i) {
    const Timestamp time = from_millis(any(random));
    REQUIRE(parse_time(format_time(time)) == time);
  }
}

TEST_CASE("a time outside the years that RFC 3339 has is written as the nearest in them", "[base]") {
  CHECK(format_time(from_millis(253'402'300'800'000)) == "9999-12-31T23:59:59.999Z");
  CHECK(format_time(Timestamp::max()) == "9999-12-31T23:59:59.999Z");
  CHECK(format_time(from_millis(-62'167'219'200'001)) == "0000-01-01T00:00:00.000Z");
  CHECK(format_time(Timestamp::min()) == "0000-01-01T00:00:00.000Z");
}

}  // namespace indx
