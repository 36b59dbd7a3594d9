#include "ops/operations.hpp"
#include "tests/support/fake_context.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

Job job_of(const std::string& id, const std::string& subject, JobState state) {
  Job job;
  job.id = {id};
  job.kind = "ai_tag";
  job.state = state;
  job.owner.subject = subject;
  return job;
}

std::vector<std::string> listed_ids(const Json& jobs) {
  std::vector<std::string> ids;
  for (const auto& job : jobs) ids.push_back(job["id"]);
  return ids;
}

Json of_id(const std::string& id) { return Json{{"id", id}}; }

using Ids = std::vector<std::string>;

}  // namespace

TEST_CASE("a job shows the errors of its tries and its children beside its record", "[ops][E7]") {
  FakeWorld world;
  world.jobs = {job_of("parent", "local", JobState::Dead),
                job_of("child", "local", JobState::Failed)};
  world.jobs[1].parent = "parent";
  world.jobs[1].result = Json{{"large", true}};
  world.queue.faults["parent"] = {
      {"failed", 1, make_error(Reason::Unavailable, "no answer"), world.clock.now()},
      {"crashed", 2, internal_error("it died"), world.clock.now()}};

  const Json shown = *run_operation(world, job_get(), of_id("parent"));

  CHECK(shown["job"]["id"] == "parent");
  REQUIRE(shown["faults"].size() == 2);
  CHECK(shown["faults"][0]["what"] == "failed");
  CHECK(shown["faults"][0]["error"]["code"] == "unavailable");
  CHECK(shown["faults"][0]["error"]["message"] == "no answer");
  CHECK(shown["faults"][1]["what"] == "crashed");
  CHECK(shown["faults"][1]["lease"] == 2);
  CHECK(listed_ids(shown["children"]) == Ids{"child"});
  CHECK_FALSE(shown["children"][0].contains("result"));
  CHECK(listed_ids((*run_operation(world, job_list(), Json{{"parent", "parent"}}))["jobs"]) ==
        Ids{"child"});
}

TEST_CASE("jobs are paused, resumed and tried again by their owners and admins only",
          "[ops][E11]") {
  FakeWorld world;
  world.jobs = {job_of("mine", "tok_me", JobState::Ready),
                job_of("other", "tok_you", JobState::Ready),
                job_of("failed", "tok_you", JobState::Failed)};
  world.principal = {"tok_me", Surface::Api, {Scope::VaultRead}, {}, ""};

  for (const auto& operation :
       {job_pause(), job_resume(), job_retry(), job_events(), job_result(), job_get()}) {
    INFO(operation.name);
    for (const std::string id : {"other", "failed", "none"})
      CHECK(run_operation(world, operation, of_id(id)).error().reason == Reason::NotFound);
  }
  CHECK(world.jobs[1].state == JobState::Ready);
  CHECK(world.jobs[2].state == JobState::Failed);
  CHECK((*run_operation(world, job_pause(), of_id("mine")))["job"]["state"] == "paused");
  CHECK((*run_operation(world, job_resume(), of_id("mine")))["job"]["state"] == "scheduled");
  CHECK(run_operation(world, job_retry(), of_id("mine")).error().reason == Reason::Conflict);
  CHECK((*run_operation(world, job_redrive(), Json::object()))["jobs"].empty());

  world.principal = {"local", Surface::Api, {Scope::VaultAdmin}, {}, ""};
  CHECK(run_operation(world, job_pause(), of_id("failed")).error().reason == Reason::Conflict);
  CHECK((*run_operation(world, job_retry(), of_id("failed")))["job"]["state"] == "scheduled");
}

TEST_CASE("a redrive takes dead and failed jobs unless others are named, spread over a minute",
          "[ops]") {
  FakeWorld world;
  world.jobs = {job_of("dead", "local", JobState::Dead),
                job_of("failed", "local", JobState::Failed),
                job_of("cancelled", "local", JobState::Cancelled),
                job_of("done", "local", JobState::Succeeded)};
  const auto now = world.clock.now();

  const Json trial = *run_operation(world, job_redrive(), Json{{"dry_run", true}});
  CHECK(trial["dry_run"] == true);
  CHECK(listed_ids(trial["jobs"]) == Ids{"dead", "failed"});
  CHECK(world.jobs[0].state == JobState::Dead);

  const Json taken = *run_operation(world, job_redrive(), Json{{"kind", "ai_tag"}, {"limit", 1}});
  CHECK(listed_ids(taken["jobs"]) == Ids{"dead"});
  CHECK(world.jobs[0].run_at == now + std::chrono::seconds(60));
  CHECK(world.jobs[1].state == JobState::Failed);
  const Json named = *run_operation(
      world, job_redrive(), Json{{"state", {"cancelled", "failed"}}, {"spread_seconds", 0}});
  CHECK(listed_ids(named["jobs"]) == Ids{"failed", "cancelled"});
  CHECK(world.jobs[1].run_at == now);
  CHECK((*run_operation(world, job_redrive(), Json{{"kind", "note_move"}}))["jobs"].empty());
  CHECK(run_operation(world, job_redrive(), Json{{"state", {"succeeded"}}}).error().reason ==
        Reason::ValidationFailed);
}

TEST_CASE("the events of a job come in pages, under ids that a stream goes on from", "[ops]") {
  FakeWorld world;
  world.jobs = {job_of("j1", "local", JobState::Ready)};
  for (const int id : {3, 4, 5, 9})
    world.queue.events.push_back({id, "job.started", world.clock.now(), "api", "local",
                                  id == 4 ? "j2" : "j1", Json{{"lease", id}}});

  const Json first = *run_operation(world, job_events(), Json{{"id", "j1"}, {"limit", 2}});
  const Json rest = *run_operation(
      world, job_events(), Json{{"id", "j1"}, {"limit", 2}, {"cursor", first["next_cursor"]}});

  CHECK(listed_ids(first["events"]) == Ids{"e-3", "e-5"});
  CHECK(first["events"][0]["kind"] == "job.started");
  CHECK(first["events"][0]["data"]["lease"] == 3);
  CHECK(listed_ids(rest["events"]) == Ids{"e-9"});
  CHECK(rest["next_cursor"].is_null());
}

TEST_CASE("the lists in a result come in pages, the longest unless another is named", "[ops]") {
  FakeWorld world;
  Job done = job_of("j1", "local", JobState::Succeeded);
  done.result = Json{{"notes", {{{"path", "a"}}, {{"path", "b"}}, {{"path", "c"}}}},
                     {"scope", {{"paths", {"one"}}}},
                     {"count", 3}};
  Job without_lists = job_of("j2", "local", JobState::Succeeded);
  without_lists.result = Json{{"count", 3}};
  world.jobs = {done, without_lists, job_of("j3", "local", JobState::Ready)};
  const auto ask = [&](const Json& input) { return run_operation(world, job_result(), input); };

  const Json first = *ask({{"id", "j1"}, {"limit", 2}});
  CHECK(first["list"] == "notes");
  CHECK(first["items"] == Json{{{"path", "a"}}, {{"path", "b"}}});
  CHECK(first["lists"] == Json{{"notes", 3}, {"scope.paths", 1}});
  const Json rest = *ask({{"id", "j1"}, {"cursor", first["next_cursor"]}});
  CHECK(rest["items"] == Json{{{"path", "c"}}});
  CHECK(rest["next_cursor"].is_null());
  CHECK((*ask({{"id", "j1"}, {"list", "scope.paths"}}))["items"] == Json{{{"value", "one"}}});

  CHECK(ask({{"id", "j1"}, {"list", "count"}}).error().reason == Reason::TargetNotFound);
  CHECK(ask({{"id", "j1"}, {"list", "scope.paths"}, {"cursor", first["next_cursor"]}})
            .error()
            .reason == Reason::ValidationFailed);
  CHECK(ask({{"id", "j1"}, {"cursor", "x"}}).error().reason == Reason::ValidationFailed);
  CHECK(ask({{"id", "j2"}}).error().reason == Reason::TargetNotFound);
  CHECK(ask({{"id", "j3"}}).error().reason == Reason::Conflict);
}

TEST_CASE("the queue tells what it holds, who holds it back, and how long jobs wait", "[ops]") {
  FakeWorld world;
  world.jobs = {job_of("a", "local", JobState::Ready), job_of("b", "local", JobState::Ready),
                job_of("c", "local", JobState::Dead)};
  world.queue.status.oldest_ready = world.clock.now() - std::chrono::seconds(90);
  world.queue.status.running = 1;
  world.queue.status.runners = 4;

  const Json paused = *run_operation(world, queue_pause(), Json::object());
  CHECK(paused["pauses"][0]["kind"] == "*");
  CHECK(paused["pauses"][0]["subject"] == "local");
  CHECK((*run_operation(world, queue_pause(), Json{{"kind", "ai_tag"}}))["pauses"].size() == 2);
  CHECK((*run_operation(world, queue_resume(), Json::object()))["pauses"].size() == 1);

  const Json status = *run_operation(world, queue_status(), Json::object());
  CHECK(status["counts"] == Json{{{"kind", "ai_tag"}, {"state", "ready"}, {"count", 2}},
                                 {{"kind", "ai_tag"}, {"state", "dead"}, {"count", 1}}});
  CHECK(status["pauses"][0]["kind"] == "ai_tag");
  CHECK(status["waits_seconds"] == 90.0);
  CHECK(status["running"] == 1);
  CHECK(status["runners"] == 4);
  CHECK(status["stuck_handlers"] == 0);
  world.queue.status.oldest_ready.reset();
  CHECK((*run_operation(world, queue_status(), Json::object()))["oldest_ready"].is_null());
}

}  // namespace indx
