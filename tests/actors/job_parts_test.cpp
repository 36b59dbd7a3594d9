// Maps and children of jobs through the whole engine.
#include "tests/actors/job_engine.hpp"

namespace indx {

TEST_CASE("a parent that waits for its children leaves them the only runner", "[actors][jobs-27]") {
  JobEngine running({quick_operation("part"),
                     test_operation("whole", [](Context& ctx, const TestAsk&) -> Result<TestSaid> {
                       const auto parts =
                           INDX_TRY(ctx.run_children("parts",
                                                     {{"a", "part", {{"what", "x"}}},
                                                      {"b", "part", {{"what", "y"}}},
                                                      {"c", "part", {{"what", "z"}}}},
                                                     MapOptions::OnFailure::Collect));
                       std::string text;
                       for (const auto& part : parts)
                         text += part.value()["text"].get<std::string>();
                       return TestSaid{text};
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
  JobEngine running({test_operation("part",
                                    [](Context&, const TestAsk& in) -> Result<TestSaid> {
                                      if (in.number == 3 || in.number == 7)
                                        return invalid(cat("no ", in.number));
                                      return TestSaid{std::to_string(in.number)};
                                    }),
                     test_operation("hesitant_part",
                                    [&](Context& ctx, const TestAsk& in) -> Result<TestSaid> {
                                      if (in.number == 0) return invalid("no 0");
                                      const auto ended = work_until_cancelled(ctx);
                                      ++stopped;
                                      return ended.error();
                                    }),
                     test_operation("collecting",
                                    [&](Context& ctx, const TestAsk&) -> Result<TestSaid> {
                                      const auto all = INDX_TRY(ctx.run_children(
                                          "parts", parts("part"), MapOptions::OnFailure::Collect));
                                      std::string text;
                                      for (std::size_t i = 0; i < all.size(); ++i)
                                        text += all[i] ? (*all[i])["text"].get<std::string>()
                                                       : cat("[", i, "]");
                                      return TestSaid{text};
                                    }),
                     test_operation("strict",
                                    [&](Context& ctx, const TestAsk&) -> Result<TestSaid> {
                                      INDX_TRY(ctx.run_children("parts", parts("hesitant_part"),
                                                                MapOptions::OnFailure::FailFast));
                                      return TestSaid{};
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
  JobEngine running({test_operation("part",
                                    [&](Context& ctx, const TestAsk&) -> Result<TestSaid> {
                                      ++begun;
                                      const auto ended = work_until_cancelled(ctx);
                                      ++stopped;
                                      return ended.error();
                                    }),
                     test_operation("whole", [](Context& ctx, const TestAsk&) -> Result<TestSaid> {
                       INDX_TRY(ctx.run_children("parts", {{"a", "part", Json::object()}},
                                                 MapOptions::OnFailure::Collect));
                       return TestSaid{};
                     })});
  const JobId id = running.begin("whole");
  REQUIRE(comes_true([&] { return begun == 1; }));

  REQUIRE(running.call("job_cancel", {{"id", id.value}}).result);

  CHECK(running.job(id).state == JobState::Cancelled);
  CHECK(comes_true([&] { return stopped == 1; }));
}

TEST_CASE("a map that fails fast ends with its first failure", "[actors][jobs]") {
  std::atomic<int> done = 0;
  JobEngine running(
      {test_operation("hasty",
                      [&](Context& ctx, const TestAsk&) -> Result<TestSaid> {
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
                        return TestSaid{};
                      })},
      [](Config& config) { config.jobs.lanes_per_job = 4; });

  const JobId id = running.begin("hasty");

  REQUIRE(running.comes_to(id, JobState::Failed));
  CHECK((running.job(id).error->message == "no 2" || running.job(id).error->message == "no 3"));
  CHECK(done < 20);
}

TEST_CASE("a map whose items guard themselves stores nothing for them", "[actors][jobs]") {
  std::atomic<int> kept = 0, unkeyed = 0, inner = 0;
  const auto items = std::vector<MapItem>{{"a", 1}, {"b", 2}, {"c", 3}};
  JobEngine running({test_operation(
      "twice",
      [&](Context& ctx, const TestAsk&) -> Result<TestSaid> {
        INDX_TRY(ctx.map("kept", items, [&](Context&, const MapItem&) -> Result<Json> {
          ++kept;
          return Json();
        }));
        INDX_TRY(ctx.map("plain", items,
                         [&](Context& lane, const MapItem&) -> Result<Json> {
                           ++unkeyed;
                           return lane.step("own", 1, [&]() -> Result<Json> {
                             ++inner;
                             return Json(1);
                           });
                         },
                         {.keeps_results = false}));
        if (unkeyed < 4) return make_error(Reason::Unavailable, "again");
        return TestSaid{};
      },
      {.retry = {.base = milliseconds(1), .cap = milliseconds(1)}})});

  const JobId id = running.begin("twice");

  REQUIRE(running.comes_to(id, JobState::Succeeded));
  CHECK(kept == 3);
  CHECK(unkeyed == 6);
  CHECK(inner == 3);
}

TEST_CASE("a call that is no job waits in place, and makes no children", "[actors][jobs]") {
  JobEngine running({quick_operation("part")});
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
