#include "ops/rate_limiter.hpp"

#include "tests/support/fake_clock.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

TEST_CASE("a burst over the limit has to wait, and time gives calls back", "[ops][A83]") {
  FakeClock clock;
  CallLimiter limiter(clock, 60);
  for (int i = 0; i < 60; ++i) CHECK_FALSE(limiter.take("a"));

  const auto wait = limiter.take("a");

  REQUIRE(wait);
  CHECK(std::chrono::ceil<std::chrono::seconds>(*wait).count() == 1);
  CHECK_FALSE(limiter.take("b"));
  clock.advance(milliseconds(1001));
  CHECK_FALSE(limiter.take("a"));
  CHECK(limiter.take("a"));
}

TEST_CASE("a limit of 0 is none", "[ops]") {
  FakeClock clock;
  CallLimiter limiter(clock, 0);

  for (int i = 0; i < 10000; ++i) REQUIRE_FALSE(limiter.take("a"));
}

}  // namespace
}  // namespace indx
