#include "base/text.hpp"
#include "tests/actors/engine_fixture.hpp"

namespace indx {
namespace {

struct OperatedVault {
  TempFolder folder;
};

/// A vault whose jobs somebody operates; a move of a note that is not there is a job that fails.
struct OperatedEngine : OperatedVault, ServedVault {
  OperatedEngine() : ServedVault(folder, [](Config&) {}) {}

  std::string start_move(const std::string& from) const {
    const auto started = call("note_move", {{"from", from}, {"to", "moved-" + from}}, true);
    REQUIRE(started.result);
    return started.job_id;
  }
  bool comes_to(const std::string& job, const std::string& state) const {
    return comes_true([&] { return state_of(job) == state; });
  }
  /// A job of another kind was enqueued after all that waits, and has ended.
  bool other_jobs_run() const {
    const auto started = call("vault_reindex", Json::object(), true);
    return started.result && comes_to(started.job_id, "succeeded");
  }
  Principal owner() const { return *dispatcher->authenticate(engine->owner_token()); }
  Principal stranger() const {
    const Json made = ask("token_create", {{"name", "other"}, {"scopes", {"vault:write"}}});
    return *dispatcher->authenticate(made["token"].get<std::string>());
  }
  Result<Json> call_as(const Principal& principal, const std::string& operation,
                       const Json& input) const {
    Call one;
    one.operation = registry.find(operation);
    one.input = input;
    one.principal = principal;
    return dispatcher->call_and_wait(std::move(one)).result;
  }
  std::vector<Json> events_of(const std::string& job, const std::string& kind) const {
    std::vector<Json> found;
    const Json history = ask("job_events", {{"id", job}});
    for (const auto& event : history["events"])
      if (event["kind"] == kind) found.push_back(event);
    return found;
  }
};

}  // namespace

TEST_CASE("a failed job is tried again with its old error kept, and the log says who asked",
          "[actors][E7]") {
  const OperatedEngine running;
  const auto job = running.start_move("a.md");
  REQUIRE(running.comes_to(job, "failed"));
  CHECK(running.ask("job_pause", {{"id", job}})["code"] == "conflict");
  running.folder.write("a.md", "# A\n");
  CHECK(comes_true([&] { return running.works("note_read", {{"path", "a.md"}}); }));

  const Json retried = running.ask("job_retry", {{"id", job}});
  REQUIRE(retried.contains("job"));
  CHECK(retried["job"]["attempts"] == 0);
  REQUIRE(running.comes_to(job, "succeeded"));

  const Json shown = running.ask("job_get", {{"id", job}});
  REQUIRE(shown["faults"].size() == 1);
  CHECK(shown["faults"][0]["what"] == "failed");
  CHECK(shown["faults"][0]["error"]["code"] == "not_found");
  CHECK(running.has_file("moved-a.md"));
  const auto asked = running.events_of(job, "job.retrying");
  REQUIRE(asked.size() == 1);
  CHECK(asked[0]["data"]["by"] == running.owner().subject);
  CHECK(asked[0]["data"]["reason"] == "requested");
  CHECK(running.ask("job_retry", {{"id", job}})["code"] == "conflict");
}

TEST_CASE("a trial of a redrive takes what the redrive takes, and changes nothing",
          "[actors][jobs]") {
  const OperatedEngine running;
  std::vector<std::string> jobs;
  for (const std::string path : {"a.md", "b.md", "c.md"}) {
    jobs.push_back(running.start_move(path));
    REQUIRE(running.comes_to(jobs.back(), "failed"));
  }
  const Json input{
      {"state", {"failed"}}, {"kind", "note_move"}, {"limit", 2}, {"spread_seconds", 0}};
  Json trial_input = input;
  trial_input["dry_run"] = true;
  const auto ids = [](const Json& answer) {
    std::vector<std::string> found;
    for (const auto& record : answer["jobs"]) found.push_back(record["id"]);
    return found;
  };

  const Json trial = running.ask("job_redrive", trial_input);
  CHECK(ids(trial) == std::vector<std::string>{jobs[0], jobs[1]});
  CHECK(trial["jobs"][0]["state"] == "failed");
  for (const auto& job : jobs) {
    CHECK(running.state_of(job) == "failed");
    CHECK(running.events_of(job, "job.retrying").empty());
  }

  const Json taken = running.ask("job_redrive", input);
  CHECK(ids(taken) == ids(trial));
  const auto faults = [&](const std::string& job) {
    return running.ask("job_get", {{"id", job}})["faults"].size();
  };
  CHECK(comes_true([&] { return faults(jobs[0]) == 2 && faults(jobs[1]) == 2; }));
  CHECK(faults(jobs[2]) == 1);
}

TEST_CASE("jobs of a paused kind wait while others run, until it is resumed", "[actors][jobs]") {
  const OperatedEngine running;
  running.folder.write("a.md", "# A\n");
  running.folder.write("b.md", "# B\n");
  REQUIRE(running.other_jobs_run());

  const Json paused = running.ask("queue_pause", {{"kind", "note_move"}});
  CHECK(paused["pauses"][0]["kind"] == "note_move");
  CHECK(paused["pauses"][0]["subject"] == running.owner().subject);
  const auto first = running.start_move("a.md"), second = running.start_move("b.md");
  CHECK(running.other_jobs_run());
  CHECK(running.state_of(first) == "ready");
  const Json status = running.ask("queue_status", Json::object());
  const Json waiting{{"kind", "note_move"}, {"state", "ready"}, {"count", 2}};
  CHECK(std::find(status["counts"].begin(), status["counts"].end(), waiting) !=
        status["counts"].end());
  CHECK(status["oldest_ready"].is_string());
  CHECK(status["runners"] == 2);

  CHECK(running.ask("job_pause", {{"id", first}})["job"]["state"] == "paused");
  CHECK(running.ask("queue_resume", {{"kind", "note_move"}})["pauses"].empty());
  CHECK(running.comes_to(second, "succeeded"));
  CHECK(running.other_jobs_run());
  CHECK(running.state_of(first) == "paused");
  CHECK(running.works("job_resume", {{"id", first}}));
  CHECK(running.comes_to(first, "succeeded"));
  for (const auto* kind : {"job.paused", "job.resumed"}) {
    const auto told = running.events_of(first, kind);
    REQUIRE(told.size() == 1);
    CHECK(told[0]["data"]["by"] == running.owner().subject);
  }
  for (const std::string kind : {"no_such_kind", "note_read"})  // no job ever is of either
    CHECK(running.ask("queue_pause", {{"kind", kind}})["code"] == "validation_failed");
}

TEST_CASE(
    "another token finds no job of mine, and no caller stops or starts a job that may do more",
    "[actors][E11]") {
  const OperatedEngine running;
  const auto job = running.start_move("a.md");
  REQUIRE(running.comes_to(job, "failed"));
  const auto stranger = running.stranger();

  for (const std::string operation : {"job_get", "job_events", "job_result", "job_cancel",
                                      "job_pause", "job_resume", "job_retry"}) {
    INFO(operation);
    const auto answer = running.call_as(stranger, operation, {{"id", job}});
    REQUIRE_FALSE(answer);
    CHECK(answer.error().reason == Reason::NotFound);
  }
  const auto redriven = running.call_as(stranger, "job_redrive", Json::object());
  REQUIRE(redriven);
  CHECK((*redriven)["jobs"].empty());
  for (const std::string operation : {"queue_status", "queue_pause", "queue_resume"}) {
    INFO(operation);
    const auto answer = running.call_as(stranger, operation, Json::object());
    REQUIRE_FALSE(answer);
    CHECK(answer.error().reason == Reason::Forbidden);
  }

  auto narrowed = running.owner();
  narrowed.scopes = {Scope::VaultRead};
  for (const auto& [operation, input] :
       std::vector<std::pair<std::string, Json>>{{"job_cancel", {{"id", job}}},
                                                 {"job_pause", {{"id", job}}},
                                                 {"job_resume", {{"id", job}}},
                                                 {"job_retry", {{"id", job}}},
                                                 {"job_redrive", Json::object()}}) {
    INFO(operation);
    const auto answer = running.call_as(narrowed, operation, input);
    REQUIRE_FALSE(answer);
    CHECK(answer.error().reason == Reason::Forbidden);
  }
  CHECK(running.state_of(job) == "failed");
  CHECK(running.events_of(job, "job.retrying").empty());
}

}  // namespace indx
