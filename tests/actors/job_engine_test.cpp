// Jobs of small operations through the whole engine.
#include "tests/actors/job_engine.hpp"

namespace indx {

TEST_CASE("a job that outlives its lease many times over is started once", "[actors][jobs-4]") {
  std::atomic<int> starts = 0;
  JobEngine running({test_operation("long",
                                    [&](Context&, const TestAsk&) -> Result<TestSaid> {
                                      ++starts;
                                      std::this_thread::sleep_for(milliseconds(1000));
                                      return TestSaid{"done"};
                                    })},
                    [](Config& config) {
                      config.jobs.runners = 2;
                      config.jobs.lease = milliseconds(200);
                      config.jobs.heartbeat = config.jobs.sweep = milliseconds(50);
                    });

  const JobId id = running.begin("long");

  REQUIRE(running.comes_to(id, JobState::Succeeded));
  CHECK(starts == 1);
  CHECK(running.job(id).lease == 1);
  CHECK(running.job(id).attempts == 0);
}

TEST_CASE("a handler that ignores its time limit loses its job, and the next job starts",
          "[actors][jobs-26]") {
  std::atomic<bool> is_released = false;
  std::atomic<int> busy = 0, most_busy = 0;
  std::optional<Result<Json>> late_write;
  JobEngine running(
      {test_operation("deaf",
                      [&](Context& ctx, const TestAsk&) -> Result<TestSaid> {
                        wait_until([&] { return is_released.load(); });
                        late_write = ctx.step("late", 1, [] { return Result<Json>(Json(1)); });
                        return TestSaid{"late"};
                      },
                      {.time_limit = milliseconds(50),
                       .retry = {.base = std::chrono::hours(1), .cap = std::chrono::hours(1)}}),
       test_operation("slow",
                      [&](Context&, const TestAsk&) -> Result<TestSaid> {
                        const int now = ++busy;
                        most_busy = std::max(most_busy.load(), now);
                        std::this_thread::sleep_for(milliseconds(50));
                        --busy;
                        return TestSaid{"done"};
                      })},
      [](Config& config) { config.jobs.stop_grace = milliseconds(100); });
  const JobId deaf = running.begin("deaf");

  const JobId next = running.begin("slow");

  REQUIRE(running.comes_to(next, JobState::Succeeded));
  CHECK(running.job(deaf).state == JobState::Scheduled);
  CHECK(running.job(deaf).attempts == 1);
  REQUIRE(running.job(deaf).error);
  CHECK(running.job(deaf).error->reason == Reason::Timeout);
  CHECK(running.stuck_handlers() == 1);
  CHECK(running.engine->health()["ready"] == true);

  is_released = true;
  REQUIRE(comes_true([&] { return running.stuck_handlers() == 0; }));
  REQUIRE(late_write);
  REQUIRE_FALSE(*late_write);
  CHECK(late_write->error().reason == Reason::StaleLease);
  CHECK(running.job(deaf).state == JobState::Scheduled);
  std::vector<JobId> more;
  for (int i = 0; i < 5; ++i) more.push_back(running.begin("slow"));
  for (const auto& id : more) CHECK(running.comes_to(id, JobState::Succeeded));
  CHECK(most_busy == 1);  // the runner that was stuck is gone
}

TEST_CASE("with two handlers that ignore their time limit the process says that it is stuck",
          "[actors][jobs-26]") {
  std::atomic<bool> is_released = false;
  JobEngine running(
      {test_operation("deaf",
                      [&](Context&, const TestAsk&) -> Result<TestSaid> {
                        wait_until([&] { return is_released.load(); });
                        return TestSaid{"late"};
                      },
                      {.time_limit = milliseconds(50),
                       .retry = {.base = std::chrono::hours(1), .cap = std::chrono::hours(1)}})},
      [](Config& config) { config.jobs.stop_grace = milliseconds(100); });
  for (int i = 0; i < 2; ++i) running.begin("deaf");

  CHECK(comes_true([&] { return running.stuck_handlers() == 2; }));
  CHECK(running.engine->health()["ready"] == false);
  CHECK(running.engine->health()["state"] == "stuck");

  is_released = true;
  CHECK(comes_true([&] { return running.engine->health()["ready"] == true; }));
}

TEST_CASE("a try that takes too long counts, and the last one is dead", "[actors][jobs-26]") {
  std::atomic<int> tries = 0;
  JobEngine running({test_operation("endless",
                                    [&](Context& ctx, const TestAsk&) -> Result<TestSaid> {
                                      ++tries;
                                      INDX_TRY(work_until_cancelled(ctx));
                                      return TestSaid{};
                                    },
                                    {.time_limit = milliseconds(30),
                                     .retry = {.base = milliseconds(1), .cap = milliseconds(1)}})},
                    [](Config& config) { config.jobs.max_attempts = 2; });

  const JobId id = running.begin("endless");

  REQUIRE(running.comes_to(id, JobState::Dead));
  CHECK(tries == 2);
  CHECK(running.job(id).error->reason == Reason::Timeout);
  CHECK(running.stuck_handlers() == 0);
}

TEST_CASE("a cancelled job ends as cancelled and says how far it came", "[actors][jobs-29][E9]") {
  std::atomic<int> done = 0;
  JobEngine running(
      {test_operation("bulk",
                      [&](Context& ctx, const TestAsk&) -> Result<TestSaid> {
                        std::vector<MapItem> items;
                        for (int i = 0; i < 1000; ++i) items.push_back({std::to_string(i), i});
                        INDX_TRY(
                            ctx.map("notes", items, [&](Context&, const MapItem&) -> Result<Json> {
                              std::this_thread::sleep_for(milliseconds(2));
                              ++done;
                              return Json();
                            }));
                        return TestSaid{"all"};
                      })},
      [](Config& config) { config.jobs.lanes_per_job = 4; });
  const JobId id = running.begin("bulk");
  REQUIRE(comes_true([&] { return done >= 300; }));

  REQUIRE(running.call("job_cancel", {{"id", id.value}}).result);
  const int done_by_then = done;

  REQUIRE(running.comes_to(id, JobState::Cancelled));
  CHECK(done <= done_by_then + 4);
  CHECK(done < 1000);
  REQUIRE(running.job(id).result);
  CHECK((*running.job(id).result)["done"] == done.load());
  CHECK((*running.job(id).result)["total"] == 1000);
}

TEST_CASE("ten thousand calls of progress tell few events and keep the last value",
          "[actors][jobs-41]") {
  // Without a total no call is known to be the last; with one many look like it.
  const auto total = GENERATE(std::optional<std::int64_t>(), std::optional<std::int64_t>(5000));
  JobEngine running(
      {test_operation("chatty", [total](Context& ctx, const TestAsk&) -> Result<TestSaid> {
        for (int i = 1; i <= 10000; ++i)
          ctx.progress({.done = i, .total = total, .phase = "count", .current = std::to_string(i)});
        return TestSaid{};
      })});

  const JobId id = running.begin("chatty");

  REQUIRE(running.comes_to(id, JobState::Succeeded));
  CHECK(running.job(id).progress.done == 10000);
  CHECK(running.job(id).progress.current == "10000");
  running.engine->stop();
  const auto log = split(running.logged(), '\n');
  const auto of_job = std::count_if(log.begin(), log.end(), [&](const auto& line) {
    return line.find(id.value) != std::string::npos;
  });
  CHECK(of_job >= 3);  // created, started, finished
  CHECK(of_job <= 200);
}

TEST_CASE("a job is there for its handler to see, whenever it starts", "[actors][jobs-50]") {
  std::atomic<int> seen = 0, missed = 0;
  JobEngine running({test_operation("self",
                                    [&](Context& ctx, const TestAsk& in) -> Result<TestSaid> {
                                      JobFilter filter;
                                      filter.kind = "self";
                                      filter.states = {JobState::Running};
                                      const auto page = INDX_TRY(ctx.jobs().list(filter, 1000, ""));
                                      const bool found = std::any_of(
                                          page.jobs.begin(), page.jobs.end(), [&](const Job& job) {
                                            return job.input.value("number", -1) == in.number;
                                          });
                                      ++(found ? seen : missed);
                                      return TestSaid{};
                                    })},
                    [](Config& config) { config.jobs.runners = 4; });
  std::vector<std::jthread> callers;
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&running, c] {
      for (int i = 0; i < 50; ++i) running.begin("self", {{"number", c * 50 + i}});
    });
  callers.clear();

  CHECK(comes_true([&] { return seen + missed == 200; }));
  CHECK(missed == 0);
}

TEST_CASE("a job sleeps over a restart and holds no runner meanwhile", "[actors][jobs]") {
  std::atomic<int> tries = 0;
  JobEngine running({test_operation("nap",
                                    [&](Context& ctx, const TestAsk&) -> Result<TestSaid> {
                                      ++tries;
                                      INDX_TRY(ctx.sleep("nap", milliseconds(1500)));
                                      return TestSaid{"awake"};
                                    }),
                     quick_operation("quick")});
  const auto begun = std::chrono::steady_clock::now();
  const JobId id = running.begin("nap");
  REQUIRE(running.comes_to(id, JobState::Sleeping));
  CHECK(running.call("quick", {{"what", "meanwhile"}}).result);

  running.stop();
  running.start();

  REQUIRE(running.comes_to(id, JobState::Succeeded));
  CHECK(std::chrono::steady_clock::now() - begun >= milliseconds(1490));
  CHECK(tries == 2);
  CHECK(running.job(id).attempts == 0);
  CHECK(running.job(id).interruptions == 0);
}

TEST_CASE("a job that is paused while it runs stops, and goes on from its steps",
          "[actors][jobs]") {
  std::atomic<int> tries = 0, steps = 0;
  std::atomic<bool> may_end = false;
  JobEngine running(
      {test_operation("patient", [&](Context& ctx, const TestAsk&) -> Result<TestSaid> {
        INDX_TRY(ctx.step("once", 1, [&]() -> Result<Json> {
          ++steps;
          return Json(1);
        }));
        ++tries;
        if (!may_end) INDX_TRY(work_until_cancelled(ctx));
        return TestSaid{"done"};
      })});
  const JobId id = running.begin("patient");
  REQUIRE(comes_true([&] { return tries == 1; }));

  REQUIRE(running.call("job_pause", {{"id", id.value}}).result);
  REQUIRE(running.comes_to(id, JobState::Paused));
  running.stop();
  running.start();
  CHECK(running.job(id).state == JobState::Paused);
  may_end = true;
  REQUIRE(running.call("job_resume", {{"id", id.value}}).result);

  REQUIRE(running.comes_to(id, JobState::Succeeded));
  CHECK(tries == 2);
  CHECK(steps == 1);
  CHECK(running.job(id).attempts == 0);
}

TEST_CASE("requests with the same unique key share one live job", "[actors][jobs]") {
  std::atomic<int> tries = 0;
  std::atomic<bool> may_end = false;
  JobPolicy unique;
  unique.unique_key = [](const Json& input) { return input.value("what", ""); };
  JobEngine running({test_operation(
      "only",
      [&](Context&, const TestAsk& in) -> Result<TestSaid> {
        ++tries;
        wait_until([&] { return may_end.load(); });
        return TestSaid{in.what};
      },
      unique)});
  const JobId first = running.begin("only", {{"what", "a"}});
  REQUIRE(comes_true([&] { return tries == 1; }));

  const auto joined = running.call("only", {{"what", "a"}}, true, "key-1");
  const auto repeated = running.call("only", {{"what", "a"}}, true, "key-1");
  const auto other = running.begin("only", {{"what", "b"}});
  std::optional<Answer> waited;
  std::jthread waiter([&] { waited = running.call("only", {{"what", "a"}}); });
  std::this_thread::sleep_for(milliseconds(50));
  may_end = true;
  waiter.join();

  CHECK(joined.job_id == first.value);
  CHECK(repeated.job_id == first.value);
  CHECK(other != first);
  REQUIRE(waited);
  REQUIRE(waited->result);
  CHECK((*waited->result)["text"] == "a");
  REQUIRE(running.comes_to(other, JobState::Succeeded));
  CHECK(running.call("only", {{"what", "a"}}, true, "key-1").job_id == first.value);
  CHECK(running.begin("only", {{"what", "a"}}) != first);  // it ended, so the key is free
}

TEST_CASE("an engine that stops gives back the job of a handler that ignores it, and says so",
          "[actors][E25]") {
  std::atomic<bool> is_released = false;
  std::atomic<int> starts = 0, stuck_stops = 0;
  JobEngine running(
      {test_operation("deaf",
                      [&](Context&, const TestAsk&) -> Result<TestSaid> {
                        ++starts;
                        wait_until([&] { return is_released.load(); });
                        return TestSaid{"done"};
                      })},
      [](Config& config) { config.jobs.stop_grace = milliseconds(100); },
      [&] {
        ++stuck_stops;
        is_released = true;  // a process would end here
      });
  const JobId id = running.begin("deaf");
  REQUIRE(comes_true([&] { return starts == 1; }));

  running.engine->stop();
  running.stop();
  running.start();

  CHECK(stuck_stops == 1);
  REQUIRE(running.comes_to(id, JobState::Succeeded));
  CHECK(starts == 2);
  CHECK(running.job(id).attempts == 0);
  CHECK(running.job(id).crashes == 0);
  CHECK(running.job(id).interruptions == 1);
}

TEST_CASE("jobs go on when a runner that waits for one crashes", "[actors][E22]") {
  JobEngine running({quick_operation("quick")});
  REQUIRE(running.call("quick", {{"what", "1"}}).result);

  running.engine->crash_actor("job_runner_0");

  for (int i = 0; i < 20; ++i) {
    const JobId id = running.begin("quick", {{"number", i}});
    CHECK(running.comes_to(id, JobState::Succeeded));
  }
}

}  // namespace indx
