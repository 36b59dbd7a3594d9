#include "tests/jobs/queue_fixture.hpp"

#include <catch2/catch.hpp>

namespace indx {

TEST_CASE_METHOD(QueueFixture, "no part of the steps of a cancelled or undone job is used again",
                 "[jobs]") {
  const auto steps_after_retry = [&](const Job& job) {
    REQUIRE(queue.retry(job.id).has_value());
    return queue.count_steps(job.id).value();
  };
  add();
  auto job = *claim();
  for (int i = 0; i < 1500; ++i)
    REQUIRE(queue.put_step(lease_of(job), {"k" + std::to_string(i), "h", 1}).has_value());
  finish(job, {.kind = JobOutcome::Kind::Cancelled});
  REQUIRE(queue.count_steps(job.id).value() == 500);
  CHECK(steps_after_retry(job) == 0);

  job = *claim();
  REQUIRE(queue.put_step(lease_of(job), {"k", "h", 1}).has_value());
  finish(job, failure(Reason::NotFound));
  auto undo = request();
  undo.reverts = job.id.value;
  add(undo);
  CHECK(steps_after_retry(job) == 1);  // not begun; and now it is refused
  finish(*claim(), failure(Reason::Conflict));
  finish(*claim(), failure(Reason::NotFound));
  CHECK(steps_after_retry(job) == 0);
}

TEST_CASE_METHOD(QueueFixture, "a clock that is set back does not wake a parent for ever",
                 "[jobs][jobs-61]") {
  add();
  const auto parent = *claim();
  auto child = request();
  child.parent = parent.id.value;
  add(child);
  add(child);
  finish(parent, {.kind = JobOutcome::Kind::Waiting});
  finish(*claim(), failure(Reason::NotFound));
  clock.set(clock.now() - std::chrono::hours(1));
  std::optional<Job> again;
  while (auto job = claim())
    if (job->id == parent.id) again = job;
  REQUIRE(again.has_value());
  CHECK(finish(*again, {.kind = JobOutcome::Kind::Waiting}).state == JobState::Waiting);
}

}  // namespace indx
