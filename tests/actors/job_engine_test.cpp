// Jobs of small operations through the whole engine.
#include "base/text.hpp"
#include "jobs/job_state.hpp"
#include "ops/define.hpp"
#include "ops/jobs.hpp"
#include "tests/actors/engine_fixture.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

namespace indx {
namespace {

using std::chrono::milliseconds;

struct Ask {
  std::string what;
  int number = 0;
};
struct Said {
  std::string text;
};
using Handler = std::function<Result<Said>(Context&, const Ask&)>;

Operation operation(const std::string& name, Handler handler, JobPolicy policy = {}) {
  return define<Ask, Said>({
      .name = name,
      .summary = "Does what the test says.",
      .guidance = "For tests.",
      .scopes = {Scope::VaultRead},
      .route = {"POST", "/v1/test/" + name},
      .execution = Execution::Job,
      .effect = Effect::Writes,
      .job = std::move(policy),
      .input = {field("what", &Ask::what, "Anything.", optional),
                field("number", &Ask::number, "Any number.", optional)},
      .output = {field("text", &Said::text, "What came of it.")},
      .handler = std::move(handler),
  });
}

Operation quick(const std::string& name) {
  return operation(name, [](Context&, const Ask& in) -> Result<Said> { return Said{in.what}; });
}

void wait_until(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::sleep_for(milliseconds(1));
}

Status work_until_cancelled(Context& ctx) {
  wait_until([&] { return ctx.cancel().is_cancelled(); });
  return make_error(Reason::Cancelled, "stopped");
}

/// An engine with operations of the test beside those of the product. It can stop and start again.
class JobEngine {
 public:
  explicit JobEngine(std::vector<Operation> operations,
                     const std::function<void(Config&)>& configure = {})
      : registry_(with_product(std::move(operations))) {
    config_.vault_dir = folder_.path();
    config_.index_dir = folder_.path() + "/.indx";
    config_.durability = Durability::Off;
    config_.watch = false;
    config_.rate_limit_per_minute = 0;
    config_.jobs.runners = 1;
    config_.jobs.heartbeat = config_.jobs.sweep = milliseconds(100);
    if (configure) configure(config_);
    start();
  }
  JobEngine(const JobEngine&) = delete;
  JobEngine& operator=(const JobEngine&) = delete;
  ~JobEngine() { stop(); }

  void start() {
    auto started = Engine::start(config_, registry_, {});
    REQUIRE(started);
    engine = std::move(*started);
    dispatcher = make_dispatcher(registry_, *engine);
  }
  void stop() {
    dispatcher.reset();
    engine.reset();
  }

  Answer call(const std::string& name, const Json& input, bool is_async = false,
              const std::string& key = "") const {
    Call call;
    call.operation = registry_.find(name);
    call.input = input;
    call.is_async = is_async;
    call.idempotency_key = key;
    auto principal = dispatcher->authenticate(engine->owner_token());
    if (!principal) return {principal.error(), 401, "", false, false};
    call.principal = *principal;
    return dispatcher->call_and_wait(std::move(call));
  }
  JobId begin(const std::string& name, const Json& input = Json::object()) const {
    return {call(name, input, true).job_id};
  }
  Job job(const JobId& id) const { return engine->job(id).value(); }
  bool comes_to(const JobId& id, JobState state) const {
    return comes_true([&] { return job(id).state == state; });
  }
  int stuck_handlers() const { return engine->health().value("stuck_handlers", -1); }
  std::string logged() const { return folder_.read(".indx/events.log"); }

  std::unique_ptr<Engine> engine;
  std::unique_ptr<Dispatcher> dispatcher;

 private:
  static Registry with_product(std::vector<Operation> operations) {
    const Registry product = make_registry();
    operations.insert(operations.end(), product.all().begin(), product.all().end());
    return Registry(std::move(operations));
  }
  TempFolder folder_;
  Config config_;
  const Registry registry_;
};

}  // namespace

TEST_CASE("a job that outlives its lease many times over is started once", "[actors][jobs-4]") {
  std::atomic<int> starts = 0;
  JobEngine running({operation("long",
                               [&](Context&, const Ask&) -> Result<Said> {
                                 ++starts;
                                 std::this_thread::sleep_for(milliseconds(1000));
                                 return Said{"done"};
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
      {operation("deaf",
                 [&](Context& ctx, const Ask&) -> Result<Said> {
                   wait_until([&] { return is_released.load(); });
                   late_write = ctx.step("late", 1, [] { return Result<Json>(Json(1)); });
                   return Said{"late"};
                 },
                 {.time_limit = milliseconds(50),
                  .retry = {.base = std::chrono::hours(1), .cap = std::chrono::hours(1)}}),
       operation("slow",
                 [&](Context&, const Ask&) -> Result<Said> {
                   const int now = ++busy;
                   most_busy = std::max(most_busy.load(), now);
                   std::this_thread::sleep_for(milliseconds(50));
                   --busy;
                   return Said{"done"};
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

TEST_CASE("a try that takes too long counts, and the last one is dead", "[actors][jobs-26]") {
  std::atomic<int> tries = 0;
  JobEngine running({operation("endless",
                               [&](Context& ctx, const Ask&) -> Result<Said> {
                                 ++tries;
                                 INDX_TRY(work_until_cancelled(ctx));
                                 return Said{};
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

TEST_CASE("a parent that waits for its children leaves them the only runner", "[actors][jobs-27]") {
  JobEngine running(
      {quick("part"), operation("whole", [](Context& ctx, const Ask&) -> Result<Said> {
         const auto parts = INDX_TRY(ctx.run_children("parts",
                                                      {{"a", "part", {{"what", "x"}}},
                                                       {"b", "part", {{"what", "y"}}},
                                                       {"c", "part", {{"what", "z"}}}},
                                                      MapOptions::OnFailure::Collect));
         std::string text;
         for (const auto& part : parts) text += part.value()["text"].get<std::string>();
         return Said{text};
       })});

  const JobId id = running.begin("whole");

  REQUIRE(running.comes_to(id, JobState::Succeeded));
  CHECK((*running.job(id).result)["text"] == "xyz");
  CHECK(running.job(id).attempts == 0);
}

TEST_CASE("a parent goes on when parts of it failed, as it asked to", "[actors][jobs-61]") {
  std::atomic<int> stopped = 0;
  const auto parts = [](const std::string& kind) {
    std::vector<ChildJob> children;
    for (int i = 0; i < 10; ++i) children.push_back({std::to_string(i), kind, {{"number", i}}});
    return children;
  };
  JobEngine running({operation("part",
                               [](Context&, const Ask& in) -> Result<Said> {
                                 if (in.number == 3 || in.number == 7)
                                   return invalid(cat("no ", in.number));
                                 return Said{std::to_string(in.number)};
                               }),
                     operation("hesitant_part",
                               [&](Context& ctx, const Ask& in) -> Result<Said> {
                                 if (in.number == 0) return invalid("no 0");
                                 const auto ended = work_until_cancelled(ctx);
                                 ++stopped;
                                 return ended.error();
                               }),
                     operation("collecting",
                               [&](Context& ctx, const Ask&) -> Result<Said> {
                                 const auto all = INDX_TRY(ctx.run_children(
                                     "parts", parts("part"), MapOptions::OnFailure::Collect));
                                 std::string text;
                                 for (std::size_t i = 0; i < all.size(); ++i)
                                   text += all[i] ? (*all[i])["text"].get<std::string>()
                                                  : cat("[", i, "]");
                                 return Said{text};
                               }),
                     operation("strict",
                               [&](Context& ctx, const Ask&) -> Result<Said> {
                                 INDX_TRY(ctx.run_children("parts", parts("hesitant_part"),
                                                           MapOptions::OnFailure::FailFast));
                                 return Said{};
                               })},
                    [](Config& config) { config.jobs.runners = 3; });

  SECTION("the reduce runs on what there is") {
    const JobId id = running.begin("collecting");
    REQUIRE(running.comes_to(id, JobState::Succeeded));
    CHECK((*running.job(id).result)["text"] == "012[3]456[7]89");
  }
  SECTION("the first failure ends the parent and its other parts") {
    const JobId id = running.begin("strict");
    REQUIRE(running.comes_to(id, JobState::Failed));
    CHECK(running.job(id).error->message == "no 0");
    const auto live = [&] {
      const auto list = running.call("job_list", {{"limit", 100}}).result;
      return list ? list->dump() : std::string();
    };
    CHECK(comes_true([&] {
      const auto text = live();
      return !text.empty() && text.find("\"running\"") == std::string::npos &&
             text.find("\"ready\"") == std::string::npos;
    }));
    CHECK(stopped <= 3);
  }
}

TEST_CASE("children stop with their parent", "[actors][jobs]") {
  std::atomic<int> begun = 0, stopped = 0;
  JobEngine running({operation("part",
                               [&](Context& ctx, const Ask&) -> Result<Said> {
                                 ++begun;
                                 const auto ended = work_until_cancelled(ctx);
                                 ++stopped;
                                 return ended.error();
                               }),
                     operation("whole", [](Context& ctx, const Ask&) -> Result<Said> {
                       INDX_TRY(ctx.run_children("parts", {{"a", "part", Json::object()}},
                                                 MapOptions::OnFailure::Collect));
                       return Said{};
                     })});
  const JobId id = running.begin("whole");
  REQUIRE(comes_true([&] { return begun == 1; }));

  REQUIRE(running.call("job_cancel", {{"id", id.value}}).result);

  CHECK(running.job(id).state == JobState::Cancelled);
  CHECK(comes_true([&] { return stopped == 1; }));
}

TEST_CASE("a cancelled job ends as cancelled and says how far it came", "[actors][jobs-29][E9]") {
  std::atomic<int> done = 0;
  JobEngine running(
      {operation("bulk",
                 [&](Context& ctx, const Ask&) -> Result<Said> {
                   std::vector<MapItem> items;
                   for (int i = 0; i < 1000; ++i) items.push_back({std::to_string(i), i});
                   INDX_TRY(ctx.map("notes", items, [&](Context&, const MapItem&) -> Result<Json> {
                     std::this_thread::sleep_for(milliseconds(2));
                     ++done;
                     return Json();
                   }));
                   return Said{"all"};
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
  JobEngine running({operation("chatty", [](Context& ctx, const Ask&) -> Result<Said> {
    for (int i = 1; i <= 10000; ++i)
      ctx.progress({.done = i, .total = 5000, .phase = "count", .current = std::to_string(i)});
    return Said{};
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
  JobEngine running({operation("self",
                               [&](Context& ctx, const Ask& in) -> Result<Said> {
                                 JobFilter filter;
                                 filter.kind = "self";
                                 filter.states = {JobState::Running};
                                 const auto page = INDX_TRY(ctx.jobs().list(filter, 100, ""));
                                 const bool found = std::any_of(
                                     page.jobs.begin(), page.jobs.end(), [&](const Job& job) {
                                       return job.input.value("number", -1) == in.number;
                                     });
                                 ++(found ? seen : missed);
                                 return Said{};
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
  JobEngine running({operation("nap",
                               [&](Context& ctx, const Ask&) -> Result<Said> {
                                 ++tries;
                                 INDX_TRY(ctx.sleep("nap", milliseconds(1500)));
                                 return Said{"awake"};
                               }),
                     quick("quick")});
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
  JobEngine running({operation("patient", [&](Context& ctx, const Ask&) -> Result<Said> {
    INDX_TRY(ctx.step("once", 1, [&]() -> Result<Json> {
      ++steps;
      return Json(1);
    }));
    ++tries;
    if (!may_end) INDX_TRY(work_until_cancelled(ctx));
    return Said{"done"};
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

TEST_CASE("requests with the same unique key share one live job", "[actors][jobs-20]") {
  std::atomic<int> tries = 0;
  std::atomic<bool> may_end = false;
  JobPolicy unique;
  unique.unique_key = [](const Json& input) { return input.value("what", ""); };
  JobEngine running({operation(
      "only",
      [&](Context&, const Ask& in) -> Result<Said> {
        ++tries;
        wait_until([&] { return may_end.load(); });
        return Said{in.what};
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

TEST_CASE("a map that fails fast ends with its first failure", "[actors][jobs]") {
  std::atomic<int> done = 0;
  JobEngine running(
      {operation("hasty",
                 [&](Context& ctx, const Ask&) -> Result<Said> {
                   std::vector<MapItem> items;
                   for (int i = 0; i < 500; ++i) items.push_back({std::to_string(i), i});
                   INDX_TRY(ctx.map("notes", items,
                                    [&](Context&, const MapItem& item) -> Result<Json> {
                                      if (item.id == "2" || item.id == "3")
                                        return invalid("no " + item.id);
                                      std::this_thread::sleep_for(milliseconds(2));
                                      ++done;
                                      return Json();
                                    },
                                    {.on_failure = MapOptions::OnFailure::FailFast}));
                   return Said{};
                 })},
      [](Config& config) { config.jobs.lanes_per_job = 4; });

  const JobId id = running.begin("hasty");

  REQUIRE(running.comes_to(id, JobState::Failed));
  CHECK((running.job(id).error->message == "no 2" || running.job(id).error->message == "no 3"));
  CHECK(done < 20);
}

TEST_CASE("a map whose items guard themselves stores nothing for them", "[actors][jobs]") {
  std::atomic<int> kept = 0, plain = 0, inner = 0;
  const auto items = std::vector<MapItem>{{"a", 1}, {"b", 2}, {"c", 3}};
  JobEngine running(
      {operation("twice",
                 [&](Context& ctx, const Ask&) -> Result<Said> {
                   INDX_TRY(ctx.map("kept", items, [&](Context&, const MapItem&) -> Result<Json> {
                     ++kept;
                     return Json();
                   }));
                   INDX_TRY(ctx.map("plain", items,
                                    [&](Context& lane, const MapItem&) -> Result<Json> {
                                      ++plain;
                                      return lane.step("own", 1, [&]() -> Result<Json> {
                                        ++inner;
                                        return Json(1);
                                      });
                                    },
                                    {.keeps_results = false}));
                   if (plain < 4) return make_error(Reason::Unavailable, "again");
                   return Said{};
                 },
                 {.retry = {.base = milliseconds(1), .cap = milliseconds(1)}})});

  const JobId id = running.begin("twice");

  REQUIRE(running.comes_to(id, JobState::Succeeded));
  CHECK(kept == 3);
  CHECK(plain == 6);
  CHECK(inner == 3);
}

TEST_CASE("jobs go on when a runner that waits for one crashes", "[actors][E22]") {
  JobEngine running({quick("quick")});
  REQUIRE(running.call("quick", {{"what", "1"}}).result);

  running.engine->crash_actor("job_runner_0");

  for (int i = 0; i < 20; ++i) {
    const JobId id = running.begin("quick", {{"number", i}});
    CHECK(running.comes_to(id, JobState::Succeeded));
  }
}

TEST_CASE("a call that is no job waits in place, and makes no children", "[actors][jobs]") {
  JobEngine running({quick("part")});
  auto principal = running.dispatcher->authenticate(running.engine->owner_token());
  REQUIRE(principal);
  const CancelToken cancel;
  const auto context = running.engine->make_context(*principal, cancel, "inline", std::nullopt);

  CHECK(context->sleep("short", milliseconds(1)).has_value());
  const auto refused = context->run_children("parts", {{"a", "part", Json::object()}},
                                             MapOptions::OnFailure::Collect);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("job") != std::string::npos);
  cancel.cancel(CancelReason::Requested);
  const auto begun = std::chrono::steady_clock::now();
  CHECK_FALSE(context->sleep("long", std::chrono::minutes(1)).has_value());
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(10));
}

}  // namespace indx
