#include "tests/jobs/queue_fixture.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

JobOutcome snoozed(std::optional<milliseconds> retry_after = std::nullopt) {
  return {.kind = JobOutcome::Kind::Snoozed,
          .error = make_error(Reason::AiProviderError, "busy", {{"upstream_status", 429}}),
          .retry_after = retry_after};
}

/// A queue in which any number of snoozes can be gone through.
struct SnoozeFixture : QueueFixture {
  Job claim_later() {
    clock.advance(std::chrono::hours(1));
    auto job = claim();
    REQUIRE(job.has_value());
    return std::move(*job);
  }
  void use_up_snoozes() {
    for (int i = 0; i < kMaxSnoozes; ++i)
      REQUIRE(finish(claim_later(), snoozed()).state == JobState::Sleeping);
  }
};

}  // namespace

TEST_CASE_METHOD(SnoozeFixture,
                 "a job whose provider asks to be left alone waits as long and loses no attempt",
                 "[jobs]") {
  const auto id = add().id;
  const auto slept = finish(*claim(), snoozed(milliseconds(30000)));
  CHECK(slept.state == JobState::Sleeping);
  CHECK(slept.attempts == 0);
  CHECK(slept.snoozes == 1);
  CHECK(slept.run_at >= clock.now() + milliseconds(30000));
  CHECK(slept.run_at <= clock.now() + milliseconds(32000));
  CHECK(get(id).snoozes == 1);
  CHECK(to_json(get(id))["error"]["code"] == "ai_provider_error");

  clock.advance(milliseconds(29999));
  CHECK_FALSE(claim().has_value());
  clock.advance(milliseconds(3000));
  const auto done = finish(*claim(), success());
  CHECK(done.state == JobState::Succeeded);
  CHECK_FALSE(done.error.has_value());
  const auto faults = queue.faults(id).value();
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].what == "snoozed");
  CHECK(faults[0].error.message == "busy");
}

TEST_CASE_METHOD(SnoozeFixture, "without a Retry-After each snooze in a row is longer", "[jobs]") {
  add();
  auto job = *claim();
  for (const int least : {1000, 2000, 4000, 8000}) {
    const auto slept = finish(job, snoozed());
    CHECK(slept.run_at >= clock.now() + milliseconds(least));
    CHECK(slept.run_at <= clock.now() + milliseconds(least + least / 2 + 150));
    job = claim_later();
  }
}

TEST_CASE_METHOD(SnoozeFixture, "a job that gets nowhere is not snoozed for ever", "[jobs]") {
  const auto id = add().id;
  use_up_snoozes();
  for (int attempt = 1; attempt < 5; ++attempt) {
    const auto tried = finish(claim_later(), snoozed());
    CHECK(tried.state == JobState::Scheduled);
    CHECK(tried.attempts == attempt);
  }
  CHECK(finish(claim_later(), snoozed()).state == JobState::Dead);
  CHECK(queue.faults(id)->back().what == "failed");

  CHECK(queue.retry(id)->snoozes == 0);
  CHECK(finish(*claim(), snoozed()).state == JobState::Sleeping);
}

TEST_CASE_METHOD(SnoozeFixture, "snoozes count from the last step that was stored", "[jobs]") {
  add();
  use_up_snoozes();
  const auto job = claim_later();
  REQUIRE(queue.put_step(lease_of(job), {"k", "h", 1}).has_value());
  const auto slept = finish(job, snoozed());
  CHECK(slept.state == JobState::Sleeping);
  CHECK(slept.snoozes == 1);
  CHECK(finish(claim_later(), snoozed()).snoozes == 2);
}

TEST_CASE_METHOD(SnoozeFixture, "a pause of more than a day is a failure like any other",
                 "[jobs]") {
  add();
  const auto tried = finish(*claim(), snoozed(kLongestSnooze + milliseconds(1)));
  CHECK(tried.state == JobState::Scheduled);
  CHECK(tried.attempts == 1);
  CHECK(tried.run_at > clock.now() + kLongestSnooze);
}

TEST_CASE_METHOD(SnoozeFixture, "a job that is cancelled or paused meanwhile is not snoozed",
                 "[jobs]") {
  add();
  auto job = *claim();
  REQUIRE(queue.request_cancel(job.id).has_value());
  CHECK(finish(job, snoozed()).state == JobState::Cancelled);

  add();
  job = *claim();
  REQUIRE(queue.pause(job.id).has_value());
  CHECK(finish(job, snoozed()).state == JobState::Paused);
  CHECK(queue.resume(job.id)->state == JobState::Scheduled);

  CHECK(queue.request_cancel(job.id)->job.state == JobState::Cancelled);
}

}  // namespace indx
