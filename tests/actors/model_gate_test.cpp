#include "actors/model_gate.hpp"

#include "tests/support/fake_clock.hpp"
#include "tests/support/metrics_text.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace indx {
namespace {

Error busy_for(milliseconds time) {
  return make_error(
      Reason::AiProviderError, "busy",
      {{"cause", "status"}, {"upstream_status", 429}, {"retry_after_ms", time.count()}});
}

/// A gate in which waiting makes the clock go on.
struct GateFixture {
  FakeClock clock;
  Metrics metrics;
  CancelToken cancel;
  std::vector<std::string> told;
  std::function<void()> during_wait;

  ModelGate gate_of(RateLimits limits) {
    return ModelGate(limits, clock, metrics, [this](ModelGate::Time time, const CancelToken&) {
      clock.advance(std::chrono::ceil<milliseconds>(time));
      if (during_wait) std::exchange(during_wait, nullptr)();
    });
  }
  ModelGate::Admission ask(ModelGate& gate, std::int64_t tokens, ModelGate::Time longest) {
    return gate
        .admit(tokens, longest, cancel,
               [this](RateWait why, ModelGate::Time) { told.emplace_back(name(why)); })
        .value();
  }
  double metric(const std::string& name_of, const std::string& limit = "") const {
    std::map<std::string, std::string> labels;
    if (!limit.empty()) labels["limit"] = limit;
    return test::parse_metrics(metrics.text()).value(name_of, labels).value_or(0);
  }
};

}  // namespace

TEST_CASE_METHOD(GateFixture, "a call waits for its turn, and says what for", "[actors]") {
  ModelGate gate = gate_of({.requests_per_minute = 2});
  const auto begun = clock.monotonic();
  CHECK(ask(gate, 0, std::chrono::seconds(60)).is_admitted);
  CHECK(ask(gate, 0, std::chrono::seconds(60)).is_admitted);
  CHECK(clock.monotonic() == begun);
  CHECK(told.empty());

  CHECK(ask(gate, 0, std::chrono::seconds(60)).is_admitted);

  CHECK(clock.monotonic() == begun + std::chrono::seconds(60));
  CHECK(told == std::vector<std::string>{"requests_per_minute"});
  CHECK(metric("indx_model_wait_seconds_count", "requests_per_minute") == 1);
  CHECK(metric("indx_model_wait_seconds_sum", "requests_per_minute") == 60);
  CHECK(metric("indx_model_calls_waiting") == 0);
}

TEST_CASE_METHOD(GateFixture, "a call whose turn is too far away hears so at once", "[actors]") {
  ModelGate gate = gate_of({.tokens_per_minute = 1000});
  const auto begun = clock.monotonic();
  const auto first = ask(gate, 900, std::chrono::seconds(5));
  REQUIRE(first.is_admitted);
  clock.advance(std::chrono::seconds(10));

  const auto second = ask(gate, 900, std::chrono::seconds(5));
  CHECK_FALSE(second.is_admitted);
  CHECK(second.left == std::chrono::seconds(50));
  CHECK(name(second.why) == "tokens_per_minute");
  CHECK(clock.monotonic() == begun + std::chrono::seconds(10));
  CHECK(metric("indx_model_calls_put_off_total", "tokens_per_minute") == 1);

  GenerateReply reply;
  reply.usage = {.input_tokens = 60, .output_tokens = 40, .cost_usd = {}, .source = "reported"};
  gate.settle(first.place, reply);
  CHECK(ask(gate, 900, std::chrono::seconds(5)).is_admitted);
}

TEST_CASE_METHOD(GateFixture, "a Retry-After holds all calls, also those that wait in line",
                 "[actors]") {
  ModelGate gate = gate_of({});
  gate.settle(ask(gate, 0, std::chrono::seconds(5)).place, busy_for(std::chrono::seconds(1)));
  during_wait = [&] { gate.settle(0, busy_for(std::chrono::seconds(3))); };
  const auto begun = clock.monotonic();
  CHECK(ask(gate, 0, std::chrono::seconds(5)).is_admitted);
  CHECK(clock.monotonic() == begun + std::chrono::seconds(4));
  CHECK(told == std::vector<std::string>{"retry_after", "retry_after"});

  gate.settle(0, busy_for(std::chrono::seconds(2)));
  during_wait = [&] { gate.settle(0, busy_for(std::chrono::seconds(20))); };
  const auto refused = ask(gate, 0, std::chrono::seconds(5));
  CHECK_FALSE(refused.is_admitted);
  CHECK(refused.left == std::chrono::seconds(20));

  gate.settle(0, busy_for(std::chrono::hours(24 * 365)));
  CHECK(ask(gate, 0, std::chrono::seconds(5)).left == ModelGate::kLongestHold);
}

TEST_CASE_METHOD(GateFixture, "a call that waits ends at once when it is cancelled", "[actors]") {
  ModelGate gate({.requests_per_minute = 1}, clock, metrics);
  REQUIRE(ask(gate, 0, std::chrono::seconds(60)).is_admitted);
  std::promise<void> waits;
  auto waiting = std::async(std::launch::async, [&] {
    return gate.admit(0, std::chrono::seconds(60), cancel,
                      [&](RateWait, ModelGate::Time) { waits.set_value(); });
  });
  waits.get_future().wait();
  const auto begun = std::chrono::steady_clock::now();
  cancel.cancel(CancelReason::Requested);
  CHECK(waiting.get().error().reason == Reason::Cancelled);
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(1));

  clock.advance(std::chrono::seconds(60));  // its place is free
  cancel = CancelToken();
  CHECK(ask(gate, 0, std::chrono::seconds(0)).is_admitted);
}

TEST_CASE_METHOD(GateFixture, "many threads together start no more calls than the limit says",
                 "[actors]") {
  ModelGate gate({.requests_per_minute = 60}, clock, metrics);
  std::atomic<int> admitted = 0;
  {
    std::vector<std::jthread> lanes;
    for (int lane = 0; lane < 16; ++lane)
      lanes.emplace_back([&] {
        for (int i = 0; i < 10; ++i)
          if (gate.admit(0, std::chrono::seconds(0), cancel, nullptr)->is_admitted) ++admitted;
      });
  }
  CHECK(admitted == 60);
  CHECK(metric("indx_model_calls_put_off_total", "requests_per_minute") == 100);
}

}  // namespace indx
