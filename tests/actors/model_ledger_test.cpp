#include "tests/actors/job_engine.hpp"
#include "tests/support/model_server.hpp"

namespace indx {
namespace {

GenerateRequest ledger_question() {
  GenerateRequest asked;
  asked.messages = {{"user", "What does it cost?"}};
  asked.max_output_tokens = 10;
  return asked;
}

}  // namespace

TEST_CASE("what a try paid for is recorded, though its step comes too late to be stored",
          "[actors][jobs][G43][D54]") {
  ModelServer model;
  std::atomic<bool> is_asked = false, is_released = false;
  std::optional<Result<Json>> late_step;
  JobEngine running(
      {test_operation("deaf",
                      [&](Context& ctx, const TestAsk&) -> Result<TestSaid> {
                        late_step = ctx.step("ask", 1, [&]() -> Result<Json> {
                          const auto reply = INDX_TRY(ctx.models().generate(ledger_question(), ""));
                          is_asked = true;
                          wait_until([&] { return is_released.load(); });
                          return to_json(reply);
                        });
                        return TestSaid{"late"};
                      },
                      {.time_limit = milliseconds(2000),
                       .retry = {.base = std::chrono::hours(1), .cap = std::chrono::hours(1)}})},
      [&](Config& config) {
        config.ai.provider = "openai";
        config.ai.model = "m";
        config.ai.openai_base_url = model.base_url();
        config.ai.prices = {{"openai/m", {10, 10}}};
        config.jobs.stop_grace = milliseconds(100);
      });
  const auto spent = [&] {
    const auto status = running.call("ai_status", Json::object()).result;
    return status ? status->value("spend_today_usd", 0.0) : 0.0;
  };
  running.begin("deaf");
  REQUIRE(comes_true([&] { return is_asked.load(); }));
  CHECK(comes_true([&] { return running.stuck_handlers() == 1; }));  // the job was taken from it
  CHECK(spent() == 0);

  is_released = true;

  REQUIRE(comes_true([&] { return running.stuck_handlers() == 0; }));
  REQUIRE(late_step);
  REQUIRE_FALSE(late_step->has_value());
  CHECK(late_step->error().reason == Reason::StaleLease);
  CHECK(spent() > 0);
}

TEST_CASE("a job that fails and succeeds then tells of both, each once", "[actors][jobs][D68]") {
  std::atomic<int> tries = 0;
  JobEngine running({test_operation("flaky",
                                    [&](Context& ctx, const TestAsk&) -> Result<TestSaid> {
                                      const bool is_ok = ++tries == 3;
                                      ctx.emit("ai.invocation", {{"op", "flaky"}, {"ok", is_ok}});
                                      if (is_ok) return TestSaid{"done"};
                                      return make_error(Reason::Unavailable, "Not now.");
                                    },
                                    {.retry = {.base = milliseconds(1), .cap = milliseconds(1)}})});

  const JobId id = running.begin("flaky");

  REQUIRE(running.comes_to(id, JobState::Succeeded));
  const auto history = running.call("job_events", {{"id", id.value}}).result;
  REQUIRE(history);
  Json told = Json::array();
  for (const auto& event : (*history)["events"])
    if (event["kind"] == "ai.invocation") told.push_back(event["data"]["ok"]);
  CHECK(told == Json({false, true}));
}

}  // namespace indx
