#include "tests/actors/job_engine.hpp"
#include "tests/support/metrics_text.hpp"
#include "tests/support/model_server.hpp"

#include <map>

namespace indx {
namespace {

using std::chrono::seconds;

GenerateRequest question(const std::string& about) {
  GenerateRequest asked;
  asked.messages = {{"user", about}};
  asked.max_output_tokens = 10;
  return asked;
}

/// Asks the model about `number` items, each a step.
Result<TestSaid> ask_all(Context& ctx, const TestAsk& in) {
  std::vector<MapItem> items;
  for (int i = 0; i < in.number; ++i) items.push_back({cat("item-", i), Json::object()});
  ctx.progress({.done = 0, .total = in.number, .unit = "items", .phase = "ask"});
  const auto replies =
      INDX_TRY(ctx.map("ask", items, [](Context& lane, const MapItem& item) -> Result<Json> {
        return to_json(INDX_TRY(lane.models().generate(question(item.id), item.id)));
      }));
  for (const auto& reply : replies)
    if (!reply.has_value()) return reply.error();
  return TestSaid{cat(replies.size(), " answers")};
}

Operation ask_now() {
  auto operation =
      test_operation("ask_now", [](Context& ctx, const TestAsk& in) -> Result<TestSaid> {
        return TestSaid{INDX_TRY(ctx.models().generate(question(in.what), "")).text};
      });
  operation.execution = Execution::Inline;
  operation.effect = Effect::Reads;
  operation.needs_provider = true;
  return operation;
}

/// Takes no notice of a second call that fails.
Result<TestSaid> ask_carelessly(Context& ctx, const TestAsk&) {
  INDX_TRY(ctx.step("first", 1, [&]() -> Result<Json> {
    return to_json(INDX_TRY(ctx.models().generate(question("first"), "")));
  }));
  const auto second = ctx.models().generate(question("second"), "");
  return TestSaid{second.has_value() ? "both" : "incomplete"};
}

struct LimitedEngine {
  explicit LimitedEngine(const std::function<void(AiConfig&)>& configure = {})
      : running({test_operation("ask_all", ask_all), ask_now(),
                 test_operation("careless", ask_carelessly), quick_operation("quick")},
                [&](Config& config) {
                  config.ai.provider = "openai";
                  config.ai.model = "m";
                  config.ai.openai_base_url = model.base_url();
                  if (configure) configure(config.ai);
                }) {}

  int calls() const { return model.counts()["calls"].get<int>(); }
  std::vector<Json> events_of(const JobId& id, const std::string& kind) const {
    std::vector<Json> found;
    const auto history = running.call("job_events", {{"id", id.value}}).result;
    REQUIRE(history);
    for (const auto& event : (*history)["events"])
      if (event["kind"] == kind) found.push_back(event["data"]);
    return found;
  }
  bool cancels(const JobId& id) const {
    return running.call("job_cancel", {{"id", id.value}}).result.has_value() &&
           running.comes_to(id, JobState::Cancelled);
  }
  double metric(const std::string& name_of, std::map<std::string, std::string> labels) const {
    return test::parse_metrics(running.dispatcher->metrics()->text())
        .value(name_of, labels)
        .value_or(0);
  }

  ModelServer model;
  JobEngine running;
};

}  // namespace

TEST_CASE("a 429 with a long Retry-After puts its job off without an attempt, and all other calls",
          "[actors][jobs]") {
  LimitedEngine limited;
  const auto& running = limited.running;
  limited.model.script(
      {{"fault", "status"}, {"status", 429}, {"retry_after", "120"}, {"times", 100}});
  const auto begun = SystemClock().now();
  const JobId id = running.begin("ask_all", {{"number", 50}});
  REQUIRE(running.comes_to(id, JobState::Sleeping));

  const Job slept = running.job(id);
  CHECK(slept.attempts == 0);
  CHECK(slept.snoozes == 1);
  CHECK(slept.run_at >= begun + seconds(120));
  CHECK(slept.progress.waits_for == "retry_after");
  CHECK(limited.calls() >= 1);
  CHECK(limited.calls() <= 8);  // one a lane: no other was begun, none was repeated
  const auto told = limited.events_of(id, "job.snoozed");
  REQUIRE(told.size() == 1);
  CHECK(told[0]["reason"] == "ai_provider_error");
  CHECK(told[0]["error"]["details"]["upstream_status"] == 429);
  CHECK(limited.metric("indx_job_snoozes_total", {{"kind", "ask_all"}}) == 1);
  const Json shown = running.call("job_get", {{"id", id.value}}).result.value();
  CHECK(shown["job"]["snoozes"] == 1);
  CHECK(shown["job"]["error"]["code"] == "ai_provider_error");
  CHECK(shown["faults"][0]["what"] == "snoozed");

  const int before = limited.calls();
  CHECK(running.call("quick", {{"what", "meanwhile"}}).result);  // the one runner is free
  const JobId other = running.begin("ask_all", {{"number", 3}});
  REQUIRE(running.comes_to(other, JobState::Sleeping));
  CHECK(running.job(other).snoozes == 0);  // it asked for nothing
  CHECK(running.job(other).progress.waits_for == "retry_after");
  const auto refused = running.call("ask_now", {{"what", "hello"}});
  REQUIRE_FALSE(refused.result);
  CHECK(refused.result.error().reason == Reason::RateLimited);
  CHECK(refused.result.error().details["retry_after_s"].get<int>() > 60);
  CHECK(limited.calls() == before);
  CHECK(limited.cancels(id));
  CHECK(limited.cancels(other));
}

TEST_CASE("no more calls than the limit start in a minute, and their job sleeps until the next",
          "[actors][jobs]") {
  LimitedEngine limited([](AiConfig& ai) { ai.requests_per_minute = 3; });
  const auto& running = limited.running;
  const auto begun = SystemClock().now();
  const JobId id = running.begin("ask_all", {{"number", 40}});
  REQUIRE(running.comes_to(id, JobState::Sleeping));

  const Job slept = running.job(id);
  CHECK(limited.calls() == 3);
  CHECK(slept.step_count == 3);  // no answer is asked for again
  CHECK(slept.attempts == 0);
  CHECK(slept.snoozes == 0);
  CHECK(slept.progress.waits_for == "requests_per_minute");
  CHECK(slept.run_at > begun + seconds(50));
  CHECK(slept.run_at <= SystemClock().now() + seconds(60));
  CHECK(limited.metric("indx_model_calls_put_off_total", {{"limit", "requests_per_minute"}}) >= 1);
  CHECK(running.call("quick", {{"what", "meanwhile"}}).result);
  const auto refused = running.call("ask_now", {{"what", "hello"}});
  REQUIRE_FALSE(refused.result);
  CHECK(refused.result.error().details["limit"] == "requests_per_minute");
  CHECK(limited.calls() == 3);
  CHECK(limited.cancels(id));
}

TEST_CASE("a job that was put off is given back, whatever its handler makes of that",
          "[actors][jobs]") {
  LimitedEngine limited([](AiConfig& ai) { ai.requests_per_minute = 1; });
  const JobId id = limited.running.begin("careless");
  REQUIRE(comes_true([&] {
    return limited.running.job(id).state != JobState::Running && limited.running.job(id).lease > 0;
  }));
  CHECK(limited.running.job(id).state == JobState::Sleeping);
  CHECK(limited.running.job(id).step_count == 1);
  CHECK(limited.cancels(id));
}

TEST_CASE("a job whose calls wait for their turn says so, and ends within a second of its cancel",
          "[actors][jobs]") {
  LimitedEngine limited;
  const auto& running = limited.running;
  limited.model.script(
      {{"fault", "status"}, {"status", 429}, {"retry_after", "4"}, {"if_contains", "item-3"}});
  const JobId id = running.begin("ask_all", {{"number", 2000}});
  REQUIRE(comes_true([&] { return running.job(id).progress.waits_for == "retry_after"; }));
  CHECK(running.job(id).state == JobState::Running);

  const auto begun = std::chrono::steady_clock::now();
  CHECK(limited.cancels(id));
  CHECK(std::chrono::steady_clock::now() - begun < seconds(1));
}

TEST_CASE("a job that was put off goes on by itself and keeps what it was told", "[actors][jobs]") {
  std::atomic<int> tries = 0;
  const auto handler = [&](Context&, const TestAsk&) -> Result<TestSaid> {
    if (++tries <= 2)
      return make_error(Reason::AiProviderError, "busy",
                        {{"cause", "status"}, {"upstream_status", 429}, {"retry_after_ms", 20}});
    return TestSaid{"done"};
  };
  const JobPolicy policy{.retry = {milliseconds(1), milliseconds(1)}};
  JobEngine running({test_operation("pestered", handler, policy)});
  const JobId id = running.begin("pestered");
  REQUIRE(running.comes_to(id, JobState::Succeeded));
  CHECK(tries == 3);
  CHECK(running.job(id).attempts == 0);
  CHECK_FALSE(running.job(id).error.has_value());
  const Json shown = running.call("job_get", {{"id", id.value}}).result.value();
  REQUIRE(shown["faults"].size() == 2);
  CHECK(shown["faults"][1]["error"]["message"] == "busy");
}

}  // namespace indx
