#include "jobs/job_state.hpp"
#include "tests/jobs/queue_fixture.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>

namespace indx {
namespace {

struct ControlFixture : QueueFixture {
  static JobRequest unique(OnDuplicate on_duplicate, Json input = {{"scope", "**"}}) {
    auto asked = request();
    asked.unique_key = "all";
    asked.on_duplicate = on_duplicate;
    asked.input = std::move(input);
    return asked;
  }
  JobRequest child_of(const Job& parent) {
    auto asked = request();
    asked.parent = parent.id.value;
    return asked;
  }
  std::int64_t count(const std::string& kind, JobState state) {
    for (const auto& one : queue.counts().value())
      if (one.kind == kind && one.state == state) return one.count;
    return 0;
  }
  JobState state(const Job& job) { return get(job.id).state; }
};

JobOutcome waits() { return {.kind = JobOutcome::Kind::Waiting}; }

}  // namespace

// ---- unique keys

TEST_CASE_METHOD(ControlFixture, "a request with the key of a live job joins it or is refused",
                 "[jobs]") {
  const auto live = add(unique(OnDuplicate::Join));

  const auto joined = queue.enqueue(unique(OnDuplicate::Join)).value();
  CHECK_FALSE(joined.is_new);
  CHECK(joined.job.id == live.id);
  const auto refused = queue.enqueue(unique(OnDuplicate::Reject));
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().reason == Reason::Conflict);
  CHECK(refused.error().details["job_id"] == live.id.value);
  auto other_kind = unique(OnDuplicate::Reject);
  other_kind.kind = "relate";
  CHECK(queue.enqueue(other_kind).value().is_new);
  CHECK(queue.count_live().value() == 2);
}

TEST_CASE_METHOD(ControlFixture, "a unique key is free when its job has ended, however it ended",
                 "[jobs][jobs-20]") {
  for (const auto& outcome : {success(), failure(Reason::NotFound)}) {
    add(unique(OnDuplicate::Join));
    finish(*claim(), outcome);
    CHECK(queue.enqueue(unique(OnDuplicate::Reject)).value().is_new);
    REQUIRE(claim().has_value());
    REQUIRE(queue.rescue("b", true).has_value());  // its process dies: the key stays its own
    CHECK(queue.enqueue(unique(OnDuplicate::Reject)).error().reason == Reason::Conflict);
    finish(*claim(), success());
  }
}

TEST_CASE_METHOD(ControlFixture,
                 "replacing gives a waiting job the new input and lets a running one run once more",
                 "[jobs]") {
  const auto live = add(unique(OnDuplicate::Join, 1));
  CHECK(queue.enqueue(unique(OnDuplicate::Replace, 2)).value().job.id == live.id);
  const auto running = *claim();
  CHECK(running.input == 2);

  queue.enqueue(unique(OnDuplicate::Replace, 3)).value();
  queue.enqueue(unique(OnDuplicate::Replace, 4)).value();
  CHECK(get(live.id).input == 2);
  const auto ended = queue.finish(lease_of(running), success(), known).value();

  REQUIRE(ended.others.size() == 1);
  CHECK(ended.job.state == JobState::Succeeded);
  const auto again = *claim();
  CHECK(again.id == ended.others[0].id);
  CHECK(again.input == 4);
  finish(again, success());
  CHECK_FALSE(claim().has_value());
}

TEST_CASE_METHOD(ControlFixture,
                 "a job that shall run once more does so even when it fails, not when it is "
                 "cancelled",
                 "[jobs]") {
  add(unique(OnDuplicate::Join, 1));
  auto running = *claim();
  queue.enqueue(unique(OnDuplicate::RunAgain, 1)).value();
  finish(running, failure(Reason::NotFound));
  running = *claim();
  CHECK(running.input == 1);

  queue.enqueue(unique(OnDuplicate::RunAgain, 2)).value();
  REQUIRE(queue.request_cancel(running.id).has_value());
  CHECK(finish(running, returned()).state == JobState::Cancelled);
  CHECK(queue.count_live().value() == 0);
}

TEST_CASE_METHOD(ControlFixture, "a job that has not begun and is asked for again runs once",
                 "[jobs]") {
  add(unique(OnDuplicate::RunAgain));
  queue.enqueue(unique(OnDuplicate::RunAgain)).value();
  finish(*claim(), success());
  CHECK_FALSE(claim().has_value());
}

// ---- order and limits

TEST_CASE_METHOD(ControlFixture, "waiting makes up for priority, a minute a step", "[jobs]") {
  const auto old = add();
  clock.advance(milliseconds(59999));
  auto urgent = request();
  urgent.priority = 1;
  const auto first = add(urgent);
  clock.advance(milliseconds(2));
  const auto last = add(urgent);

  CHECK(claim()->id == first.id);
  CHECK(claim()->id == old.id);
  CHECK(claim()->id == last.id);
}

TEST_CASE_METHOD(ControlFixture, "no more jobs of a kind or a key run at once than it allows",
                 "[jobs][jobs-22]") {
  known = {{.kind = "tag", .max_running = 2}, {.kind = "relate"}};
  for (int i = 0; i < 3; ++i) add();
  auto keyed = request();
  keyed.kind = "relate";
  keyed.limit_key = "provider";
  keyed.limit_running = 1;
  const auto holder = add(keyed), next = add(keyed);

  const auto claimed = queue.claim("a", known, 10).value();
  REQUIRE(claimed.size() == 3);
  CHECK(count("tag", JobState::Running) == 2);
  CHECK(state(holder) == JobState::Running);
  CHECK(state(next) == JobState::Ready);

  REQUIRE(queue.rescue("b", true).has_value());  // slots are rows: those of a dead process are free
  CHECK(queue.claim("b", known, 10).value().size() == 3);
  CHECK(state(holder) == JobState::Running);
}

TEST_CASE_METHOD(ControlFixture, "several jobs are claimed at once in the order of one by one",
                 "[jobs]") {
  auto urgent = request();
  urgent.priority = 2;
  urgent.kind = "relate";
  known.push_back({.kind = "relate"});
  const auto a = add(), b = add(urgent), c = add(), d = add(urgent);

  const auto claimed = queue.claim("a", known, 3).value();

  REQUIRE(claimed.size() == 3);
  CHECK(claimed[0].id == b.id);
  CHECK(claimed[1].id == d.id);
  CHECK(claimed[2].id == a.id);
  CHECK(claimed[2].lease == 1);
  CHECK(state(c) == JobState::Ready);
}

// ---- pauses

TEST_CASE_METHOD(ControlFixture, "a paused job waits until it is resumed, over restarts",
                 "[jobs][jobs-32]") {
  auto later = request();
  later.run_at = clock.now() + milliseconds(500);
  const auto ready = add(), scheduled = add(later);
  REQUIRE(queue.pause(ready.id).value().state == JobState::Paused);
  REQUIRE(queue.pause(scheduled.id).value().state == JobState::Paused);
  reopen();
  clock.advance(milliseconds(1000));
  CHECK_FALSE(claim().has_value());

  CHECK(queue.resume(ready.id).value().state == JobState::Ready);
  CHECK(claim()->id == ready.id);
  CHECK(queue.resume(scheduled.id).value().state == JobState::Ready);
  CHECK(claim()->id == scheduled.id);
  CHECK(queue.pause({"nothing"}).error().reason == Reason::NotFound);
  CHECK(queue.resume({"nothing"}).error().reason == Reason::NotFound);
}

TEST_CASE_METHOD(ControlFixture, "a running job is asked to pause and pauses however its try ends",
                 "[jobs]") {
  for (const auto& outcome :
       {returned(), failure(Reason::Unavailable), waits(),
        JobOutcome{.kind = JobOutcome::Kind::Sleeping, .wake_at = clock.now() + milliseconds(5)}}) {
    add();
    const auto running = *claim();
    CHECK(queue.pause(running.id).value().pause_requested);
    const auto asked = queue.heartbeat("a").value();
    REQUIRE(asked.size() == 1);
    CHECK(asked[0].is_pause);
    const auto paused = finish(running, outcome);
    CHECK(paused.state == JobState::Paused);
    CHECK(paused.interruptions == 0);
    REQUIRE(queue.request_cancel(paused.id).value().job.state == JobState::Cancelled);
  }
  add();
  const auto orphan = *claim("dead");
  REQUIRE(queue.pause(orphan.id).has_value());
  CHECK(queue.rescue("a", true).value().at(0).state == JobState::Paused);
}

TEST_CASE_METHOD(ControlFixture, "a job that ends before it can pause has ended", "[jobs]") {
  add();
  const auto running = *claim();
  REQUIRE(queue.pause(running.id).has_value());
  CHECK(finish(running, success()).state == JobState::Succeeded);
  CHECK(queue.pause(running.id).error().reason == Reason::Conflict);
  CHECK(queue.resume(running.id).value().state == JobState::Succeeded);
}

TEST_CASE_METHOD(ControlFixture, "a pause of a kind or of all holds jobs back, also orphans",
                 "[jobs][jobs-32]") {
  known.push_back({.kind = "relate"});
  auto other = request();
  other.kind = "relate";
  add();
  REQUIRE(claim("dead").has_value());
  const auto waiting = add(), free = add(other);
  REQUIRE(queue.pause_kind("tag", "tok_1").has_value());
  REQUIRE(queue.pause_kind("tag", "tok_1").has_value());
  reopen();
  REQUIRE(queue.rescue("a", true).has_value());

  CHECK(claim()->id == free.id);
  CHECK_FALSE(claim().has_value());
  const auto pauses = queue.pauses().value();
  REQUIRE(pauses.size() == 1);
  CHECK(pauses[0].what == "tag");
  CHECK(pauses[0].subject == "tok_1");
  REQUIRE(queue.pause_kind("*", "tok_1").has_value());
  REQUIRE(queue.resume_kind("tag").has_value());
  CHECK_FALSE(claim().has_value());
  REQUIRE(queue.resume_kind("*").has_value());
  CHECK(queue.claim("a", known, 5).value().size() == 2);
  CHECK(state(waiting) == JobState::Running);
}

// ---- sleep and children

TEST_CASE_METHOD(ControlFixture, "a sleeping job holds no lease and costs no attempt", "[jobs]") {
  add();
  const auto sleeping = finish(*claim(), {.kind = JobOutcome::Kind::Sleeping,
                                          .wake_at = clock.now() + std::chrono::hours(1)});
  CHECK(sleeping.state == JobState::Sleeping);
  CHECK(sleeping.attempts + sleeping.interruptions == 0);
  CHECK(sleeping.leased_by.empty());
  CHECK_FALSE(claim().has_value());
  clock.advance(milliseconds(3600000));
  CHECK(claim()->lease == 2);
}

TEST_CASE_METHOD(ControlFixture, "a parent waits without a lease until its last child has ended",
                 "[jobs][jobs-27]") {
  known = {{.kind = "tag", .max_running = 1}};
  add();
  auto parent = *claim();
  for (int i = 0; i < 3; ++i) add(child_of(parent));
  CHECK(finish(parent, waits()).state == JobState::Waiting);

  for (int i = 0; i < 3; ++i) {
    const auto child = *claim();
    CHECK(child.parent == parent.id.value);
    const auto ended = queue.finish(lease_of(child), success(i), known).value();
    CHECK(ended.others.size() == (i == 2 ? 1 : 0));
  }
  parent = *claim();
  CHECK(parent.lease == 2);
  const auto children = queue.children(parent.id).value();
  REQUIRE(children.size() == 3);
  for (int i = 0; i < 3; ++i) CHECK(children[static_cast<std::size_t>(i)].result == Json(i));
}

TEST_CASE_METHOD(ControlFixture, "a parent never waits for children that have ended already",
                 "[jobs][jobs-61]") {
  add();
  auto parent = *claim();
  add(child_of(parent));
  finish(*claim(), success());
  CHECK(finish(parent, waits()).state == JobState::Ready);

  parent = *claim();
  add(child_of(parent));
  add(child_of(parent));
  finish(*claim(), failure(Reason::NotFound));
  CHECK(finish(parent, waits()).state == JobState::Ready);  // it may not want the other one
}

TEST_CASE_METHOD(ControlFixture, "a parent is woken by a child that fails", "[jobs][jobs-61]") {
  add();
  const auto parent = *claim();
  add(child_of(parent));
  add(child_of(parent));
  finish(parent, waits());
  clock.advance(milliseconds(10));
  const auto ended = queue.finish(lease_of(*claim()), failure(Reason::NotFound), known).value();
  REQUIRE(ended.others.size() == 1);
  CHECK(ended.others[0].id == parent.id);
  clock.advance(milliseconds(10));
  std::optional<Job> again;
  while (auto job = claim())
    if (job->id == parent.id) again = job;
  REQUIRE(again.has_value());
  CHECK(finish(*again, waits()).state == JobState::Waiting);  // that failure has been seen
}

TEST_CASE_METHOD(ControlFixture, "whoever ends a parent ends its children", "[jobs]") {
  add();
  const auto parent = *claim();
  const auto waiting = add(child_of(parent)), running = add(child_of(parent));
  REQUIRE(queue.pause(waiting.id).has_value());
  const auto child = *claim();
  const auto grandchild = add(child_of(waiting));
  finish(parent, waits());

  const auto ended = queue.request_cancel(parent.id).value();

  CHECK(ended.job.state == JobState::Cancelled);
  CHECK(ended.others.size() == 3);
  CHECK(state(waiting) == JobState::Cancelled);
  CHECK(state(grandchild) == JobState::Cancelled);
  CHECK(get(running.id).cancel_requested);
  CHECK(finish(child, returned()).state == JobState::Cancelled);
}

// ---- errors and second chances

TEST_CASE_METHOD(ControlFixture, "the errors of all tries stay, the last twenty", "[jobs]") {
  auto asked = request();
  asked.max_attempts = 30;
  asked.max_crashes = 30;
  const auto id = add(asked).id;
  REQUIRE(claim("dead").has_value());
  REQUIRE(queue.rescue("a", true).has_value());
  for (int i = 0; i < 21; ++i) {
    auto outcome = failure(Reason::Unavailable, "busy " + std::to_string(i));
    if (i == 20) outcome.kind = JobOutcome::Kind::TimedOut;
    finish(*claim(), outcome);
    clock.advance(std::chrono::hours(1));
  }
  const auto faults = queue.faults(id).value();
  REQUIRE(faults.size() == 20);
  CHECK(faults.front().error.message == "busy 1");
  CHECK(faults.back().what == "timed_out");
  CHECK(get(id).attempts == 21);

  const auto other = add(request());
  REQUIRE(claim("dead").has_value());
  while (claim("dead")) {
  }
  REQUIRE(queue.rescue("a", true).has_value());
  CHECK(queue.faults(other.id).value().at(0).what == "crashed");
}

TEST_CASE_METHOD(ControlFixture, "a kind has a retry policy of its own", "[jobs][E8]") {
  known = {{.kind = "tag", .retry = {milliseconds(60000), milliseconds(60000)}}};
  add();
  CHECK(finish(*claim(), failure(Reason::Unavailable)).run_at >= clock.now() + milliseconds(60000));
}

TEST_CASE_METHOD(ControlFixture, "a dead job is tried again with its steps and its old errors",
                 "[jobs]") {
  auto asked = request();
  asked.max_attempts = 1;
  const auto id = add(asked).id;
  const auto first = *claim();
  REQUIRE(queue.put_step(lease_of(first), {"k", "h", 7}).has_value());
  CHECK(finish(first, failure(Reason::Unavailable, "down")).state == JobState::Dead);

  const auto again = queue.retry(id).value();
  CHECK(again.state == JobState::Ready);
  CHECK(again.attempts == 0);
  const auto second = *claim();
  CHECK(second.lease == 2);
  CHECK(queue.find_step(id, "k", "h").value() == Json(7));
  CHECK(queue.faults(id).value().at(0).error.message == "down");
  CHECK(finish(second, success()).state == JobState::Succeeded);
  CHECK(queue.retry(id).error().reason == Reason::Conflict);
  CHECK(queue.retry({"nothing"}).error().reason == Reason::NotFound);
}

TEST_CASE_METHOD(ControlFixture, "many dead jobs come back spread over a while", "[jobs]") {
  for (int i = 0; i < 200; ++i) {
    add();
    finish(*claim(), failure(Reason::NotFound));
  }
  auto other = request();
  other.owner.subject = "tok_2";
  add(other);
  finish(*claim(), failure(Reason::NotFound));

  const auto redriven =
      queue
          .redrive({.states = {JobState::Failed, JobState::Succeeded}, .subject = "tok_1"},
                   milliseconds(20000), 150)
          .value();

  CHECK(redriven.size() == 150);
  std::vector<std::int64_t> starts;
  for (const auto& job : redriven) starts.push_back((job.run_at - clock.now()).count());
  std::sort(starts.begin(), starts.end());
  CHECK(starts.back() < 20000);
  for (std::size_t i = 0; i + 30 < starts.size(); ++i) CHECK(starts[i + 30] - starts[i] >= 1000);
  CHECK(count("tag", JobState::Failed) == 51);
}

TEST_CASE_METHOD(ControlFixture, "a job whose unique key is taken is not tried again", "[jobs]") {
  const auto old = add(unique(OnDuplicate::Join));
  finish(*claim(), failure(Reason::NotFound));
  const auto live = add(unique(OnDuplicate::Join));

  const auto refused = queue.retry(old.id);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().details["job_id"] == live.id.value);
  CHECK(queue.redrive({.states = {JobState::Failed}}, milliseconds(0), 10).value().empty());
}

// ---- counts, results, upkeep

TEST_CASE_METHOD(ControlFixture, "the counters say what the table says", "[jobs]") {
  for (int i = 0; i < 6; ++i) add();
  finish(*claim(), success());
  finish(*claim(), failure(Reason::NotFound));
  REQUIRE(queue.pause(claim()->id).has_value());
  REQUIRE(queue.request_cancel(add().id).has_value());
  auto query = db.prepare("SELECT kind, state, COUNT(*) FROM jobs GROUP BY kind, state");
  std::int64_t rows = 0;
  while (query.step().value()) {
    CHECK(count(query.text(0), *parse_job_state(query.text(1))) == query.integer(2));
    ++rows;
  }
  CHECK(rows == static_cast<std::int64_t>(queue.counts().value().size()));
  clock.advance(std::chrono::hours(24 * 40));
  REQUIRE(queue.prune(clock.now(), 1000).has_value());
  CHECK(count("tag", JobState::Succeeded) == 0);
  CHECK(count("tag", JobState::Ready) == 3);
}

TEST_CASE_METHOD(ControlFixture, "a large result is kept in a file and given whole", "[jobs]") {
  const std::string large(300000, 'r');
  const auto id = add().id;
  finish(*claim(), success(large));
  CHECK(get(id).result == Json(large));
  CHECK(queue.sweep_spill().value() == 0);
  CHECK_FALSE(queue.list({}, 10, "").value().jobs.at(0).result.has_value());

  std::filesystem::remove_all(dir.path() + "/spill");
  CHECK_FALSE(get(id).result.has_value());
  CHECK(get(id).error->reason == Reason::Internal);
  CHECK(get(id).state == JobState::Succeeded);  // what it wrote can still be undone
  CHECK_FALSE(queue.find(id).value()->error.has_value());
  clock.advance(std::chrono::hours(24 * 8));
  CHECK(queue.prune(clock.now() - std::chrono::hours(24 * 7), 10).value() == 1);
}

TEST_CASE_METHOD(ControlFixture, "failed jobs are kept longer, and what a live parent still wants",
                 "[jobs]") {
  const auto succeeded = add();
  finish(*claim(), success());
  const auto failed_job = add();
  finish(*claim(), failure(Reason::NotFound));
  const auto parent = add();
  REQUIRE(claim()->id == parent.id);
  const auto child = add(child_of(parent));
  finish(*claim(), success());
  clock.advance(std::chrono::hours(24 * 8));

  REQUIRE(queue.prune(clock.now() - std::chrono::hours(24 * 7), 1000).has_value());
  CHECK_FALSE(queue.get(succeeded.id).value().has_value());
  CHECK(queue.get(failed_job.id).value().has_value());
  CHECK(queue.get(child.id).value().has_value());
  clock.advance(std::chrono::hours(24 * 30));
  REQUIRE(queue.prune(clock.now() - std::chrono::hours(24 * 7), 1000).has_value());
  CHECK_FALSE(queue.get(failed_job.id).value().has_value());
}

}  // namespace indx
