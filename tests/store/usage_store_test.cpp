#include "store/usage_store.hpp"

#include "tests/support/fake_clock.hpp"
#include "tests/support/state_db.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

UsageRecord call_at(Timestamp at, const std::string& id, double reserved = 0) {
  return {.id = id,
          .operation = "ai_tag",
          .provider = "p",
          .model = "m",
          .job_id = "j1",
          .reserved_usd = reserved,
          .started_at = at};
}

UsageRecord ended(UsageRecord record, double cost) {
  record.status = "succeeded";
  record.reserved_usd = 0;
  record.cost_usd = cost;
  record.finished_at = record.started_at;
  return record;
}

}  // namespace

TEST_CASE("a model call leaves its trace before it is made and its cost after", "[store][G43]") {
  StateDb state;
  FakeClock clock;
  UsageStore usage(state.db);
  auto call = call_at(clock.now(), "u1", 0.5);
  REQUIRE(usage.start(call).has_value());
  CHECK(usage.list("j1").value().at(0).feature == "tag");
  CHECK(usage.reserved_of_day(clock.now()).value() == 0.5);
  CHECK(usage.totals_of_day(clock.now()).value().cost_usd == 0);
  call.status = "succeeded";
  call.input_tokens = 100;
  call.output_tokens = 7;
  call.cost_usd = 0.25;
  call.reserved_usd = 0;
  call.finished_at = clock.now();
  REQUIRE(usage.finish(call).has_value());
  REQUIRE(usage.finish(call).has_value());  // counted once

  const auto calls = usage.list("j1").value();

  REQUIRE(calls.size() == 1);
  CHECK(calls[0].status == "succeeded");
  CHECK(calls[0].cost_usd == 0.25);
  CHECK(calls[0].input_tokens == 100);
  const auto totals = usage.totals_of_day(clock.now()).value();
  CHECK(totals.calls == 1);
  CHECK(totals.output_tokens == 7);
  CHECK(totals.cost_usd == 0.25);
  CHECK(usage.reserved_of_day(clock.now()).value() == 0);
  CHECK(usage.totals_of_day(clock.now() + std::chrono::days(1)).value().calls == 0);
  call.id = "u2";
  CHECK(usage.finish(call).error().reason == Reason::NotFound);
}

TEST_CASE("a count of tokens that a server made up is a record like any other", "[store][G43]") {
  StateDb state;
  const FakeClock clock;
  UsageStore usage(state.db);
  auto call = call_at(clock.now(), "u1", 0.5);
  REQUIRE(usage.start(call).has_value());
  call.status = "succeeded";
  call.input_tokens = 1'000'000'000'000;
  call.output_tokens = 3'000'000'000;
  call.reserved_usd = 0;
  call.finished_at = clock.now();

  REQUIRE(usage.finish(call).has_value());

  CHECK(usage.list("j1").value().at(0).input_tokens == 1'000'000'000'000);
  CHECK(usage.totals_of_day(clock.now()).value().output_tokens == 3'000'000'000);
  CHECK(usage.reserved_of_day(clock.now()).value() == 0);
}

TEST_CASE("a call during which the process died is interrupted and still counted", "[store][G43]") {
  StateDb state;
  const FakeClock clock;
  UsageStore usage(state.db);
  REQUIRE(usage.start(call_at(clock.now(), "u1", 0.5)).has_value());

  CHECK(usage.mark_interrupted().value() == 1);

  CHECK(usage.mark_interrupted().value() == 0);
  CHECK(usage.list("j1").value().at(0).status == "interrupted");
  CHECK(usage.totals_of_day(clock.now()).value().calls == 1);
  CHECK(usage.reserved_of_day(clock.now()).value() == 0.5);  // it may have been billed
}

TEST_CASE("the daily limit counts what is spent, under way and asked for, and ends at midnight UTC",
          "[store][D15][D54][D58]") {
  StateDb state;
  UsageStore usage(state.db);
  const auto noon = parse_time("2026-03-16T12:00:00.000Z").value();
  const auto first = call_at(noon, "u1", 0.4), second = call_at(noon, "u2", 0.4);
  REQUIRE(usage.start_within(first, 1).has_value());
  REQUIRE(usage.start_within(second, 1).has_value());

  // 0.8 are set aside for the two that run
  const auto refused = usage.start_within(call_at(noon, "u3", 0.4), 1);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().reason == Reason::AiQuotaExceeded);
  CHECK(refused.error().http_status() == 429);
  CHECK(refused.error().details["limit"] == "daily_cost");
  CHECK(refused.error().details["reset_at"] == "2026-03-17T00:00:00.000Z");
  CHECK(refused.error().details["retry_after_s"] == 12 * 3600);
  CHECK(usage.list("j1").value().size() == 2);  // what was refused is no call

  REQUIRE(usage.finish(ended(first, 0.1)).has_value());
  REQUIRE(usage.finish(ended(second, 0.1)).has_value());
  REQUIRE(usage.start_within(call_at(noon, "u4", 0.4), 1).has_value());

  state.reopen();  // what is left of the day does not depend on the process
  UsageStore later(state.db);
  CHECK(later.mark_interrupted().value() == 1);
  const auto evening = parse_time("2026-03-16T23:59:59.500Z").value();
  const auto last = later.start_within(call_at(evening, "u5", 0.41), 1);
  REQUIRE_FALSE(last.has_value());
  CHECK(last.error().details["retry_after_s"] == 1);
  CHECK(later.start_within(call_at(evening, "u6", 0), 1).has_value());  // free of charge
  CHECK(later.start_within(call_at(evening + std::chrono::seconds(1), "u7", 0.41), 1).has_value());
}

TEST_CASE("old calls go, their days stay", "[store][G43]") {
  StateDb state;
  UsageStore usage(state.db);
  const auto day = parse_time("2026-03-16T12:00:00.000Z").value();
  for (const auto* id : {"u1", "u2", "u3"}) {
    REQUIRE(usage.start(call_at(day, id)).has_value());
    REQUIRE(usage.finish(ended(call_at(day, id), 0.25)).has_value());
  }
  REQUIRE(usage.start(call_at(day, "open")).has_value());
  REQUIRE(usage.count_invocation(day).has_value());

  CHECK(usage.prune(day, 10).value() == 0);
  CHECK(usage.prune(day + milliseconds(1), 2).value() == 2);
  CHECK(usage.prune(day + milliseconds(1), 9).value() == 1);

  CHECK(usage.list("j1").value().size() == 1);
  const auto totals = usage.totals_of_day(day).value();
  CHECK(totals.calls == 4);
  CHECK(totals.cost_usd == 0.75);
  CHECK(totals.invocations == 1);
}

TEST_CASE("calls are told apart by what they are for", "[store][G43]") {
  CHECK(usage_feature("ai_ask") == "rag");
  CHECK(usage_feature("ai_relate") == "suggest_links");
  CHECK(usage_feature("ai_summarize") == "summarize");
  CHECK(usage_feature("vault_embed") == "embed");
  CHECK(usage_feature("ai_extract") == "extract");
}

}  // namespace indx
