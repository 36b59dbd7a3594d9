#include "jobs/retry_policy.hpp"

#include <catch2/catch.hpp>

namespace indx {

TEST_CASE("the delay doubles up to the cap and jitter only adds, by up to half", "[jobs][E8]") {
  SeededRandom random(1);
  const RetryPolicy policy{.base = milliseconds(1000), .cap = milliseconds(10000)};
  const int expected[] = {1000, 2000, 4000, 8000, 10000, 10000};

  for (int attempt = 1; attempt <= 6; ++attempt)
    for (int i = 0; i < 200; ++i) {
      const auto delay = retry_delay(policy, attempt, milliseconds(0), random).count();
      CHECK(delay >= expected[attempt - 1]);
      CHECK(delay <= expected[attempt - 1] * 3 / 2);
    }
  CHECK(retry_delay(policy, 2000000000, milliseconds(0), random).count() >= 10000);
}

TEST_CASE("a server's Retry-After is never undercut", "[jobs][E8]") {
  SeededRandom random(2);
  for (int i = 0; i < 200; ++i) {
    const auto delay = retry_delay({}, 1, milliseconds(60000), random);
    CHECK(delay >= milliseconds(60000));
    CHECK(delay <= milliseconds(60500));
  }
}

}  // namespace indx
