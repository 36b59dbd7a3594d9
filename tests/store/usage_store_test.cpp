#include "store/usage_store.hpp"

#include "tests/support/fake_clock.hpp"
#include "tests/support/state_db.hpp"

#include <catch2/catch.hpp>

namespace indx {

TEST_CASE("a model call leaves its trace before it is made and its cost after", "[store]") {
  StateDb state;
  FakeClock clock;
  UsageStore usage(state.db);
  UsageRecord call{.id = "u1",
                   .operation = "ai_tag",
                   .provider = "p",
                   .model = "m",
                   .job_id = "j1",
                   .started_at = clock.now()};
  REQUIRE(usage.start(call).has_value());
  call.status = "succeeded";
  call.input_tokens = 100;
  call.output_tokens = 7;
  call.cost_usd = 0.25;
  call.finished_at = clock.now();
  REQUIRE(usage.finish(call).has_value());

  const auto calls = usage.list("j1").value();

  REQUIRE(calls.size() == 1);
  CHECK(calls[0].status == "succeeded");
  CHECK(calls[0].cost_usd == 0.25);
  CHECK(calls[0].input_tokens == 100);
  const auto totals = usage.totals_since(clock.now()).value();
  CHECK(totals.calls == 1);
  CHECK(totals.output_tokens == 7);
  CHECK(totals.cost_usd == 0.25);
  CHECK(usage.totals_since(clock.now() + milliseconds(1)).value().calls == 0);
  call.id = "u2";
  CHECK(usage.finish(call).error().reason == Reason::NotFound);
}

TEST_CASE("a call during which the process died is lost and still counted", "[store]") {
  StateDb state;
  const FakeClock clock;
  UsageStore usage(state.db);
  REQUIRE(usage.start({.id = "u1", .job_id = "j1", .started_at = clock.now()}).has_value());

  CHECK(usage.mark_lost().value() == 1);

  CHECK(usage.mark_lost().value() == 0);
  CHECK(usage.list("j1").value().at(0).status == "lost");
  CHECK(usage.totals_since(clock.now()).value().calls == 1);
}

}  // namespace indx
