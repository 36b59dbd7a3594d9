#include "base/random.hpp"
#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"
#include "tests/support/model_server.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

namespace indx {
namespace {

using std::chrono::seconds;

/// A vault whose notes differ, and a model that is asked about them.
struct CrashVault {
  explicit CrashVault(int notes, int model_delay_ms = 0) : model(0, milliseconds(model_delay_ms)) {
    for (int i = 0; i < notes; ++i)
      vault.write(note(i),
                  cat("# Note ", i, "\n\nCompost number ", i, " warms the compost heap.\n"));
  }
  static std::string note(int number) { return cat("note-", 1000 + number, ".md"); }
  static Json one(int number) {
    return {{"scope", {{"kind", "paths"}, {"paths", {note(number)}}}}, {"apply", true}};
  }
  static Json all() {
    return {{"scope", {{"kind", "glob"}, {"path_glob", "**"}}}, {"apply", false}};
  }
  std::map<std::string, std::string> env(std::map<std::string, std::string> more = {}) const {
    std::map<std::string, std::string> all = {
        {"INDX_AI_PROVIDER", "openai"}, {"INDX_AI_MODEL", "test"},
        {"INDX_AI_CACHE", "off"},       {"INDX_OPENAI_BASE_URL", model.base_url()},
        {"INDX_OPENAI_API_KEY", "k"},   {"INDX_JOBS_LANES_PER_JOB", "1"},
        {"INDX_JOBS_RUNNERS", "1"},     {"INDX_RATE_LIMIT_PER_MINUTE", "0"}};
    for (auto& [name, value] : more) all.insert_or_assign(name, value);
    return all;
  }
  int calls() const { return model.counts()["calls"].get<int>(); }
  bool comes_to_calls(int count) const {
    return wait_until([&] { return calls() >= count; });
  }
  /// Events of a job by the log, whose server has ended.
  std::vector<Json> told(const std::string& job, const std::string& kind) const {
    std::vector<Json> found;
    for (const auto& line : audit_lines(vault))
      if (line["kind"] == kind && line.value("job_id", "") == job) found.push_back(line);
    return found;
  }

  TempFolder vault;
  ModelServer model;
};

}  // namespace

TEST_CASE("a job whose process is killed runs again as interrupted, owned by the new process",
          "[end_to_end][jobs-1][jobs-6]") {
  CrashVault crash(1);
  crash.model.script({{"fault", "hang"}});
  std::string id, first_owner;
  {
    RunningServer server(crash.vault, {}, crash.env());
    id = server.start_job("/v1/ai/tag", CrashVault::one(0));
    REQUIRE(crash.comes_to_calls(1));
    first_owner = server.job(id)["leased_by"].get<std::string>();
    server.kill();
  }
  crash.model.script({{"fault", "hang"}});

  RunningServer server(crash.vault, {}, crash.env());
  // Seen at the start, not after the lease of 15 s.
  REQUIRE(wait_until([&] { return crash.calls() >= 2; }, seconds(10)));
  const auto again = server.job(id);
  CHECK(again["state"] == "running");
  CHECK(again["leased_by"] != first_owner);
  CHECK(again["attempts"] == 0);
  CHECK(again["crashes"] == 1);
  server.kill();

  RunningServer last(crash.vault, {}, crash.env());
  CHECK(last.wait_for_job(id)["state"] == "succeeded");
  CHECK(last.stop() == 0);
  const auto retries = crash.told(id, "job.retrying");
  REQUIRE(retries.size() == 2);
  for (const auto& retry : retries) CHECK(retry["reason"] == "interrupted");
  const auto ends = crash.told(id, "job.finished");
  REQUIRE(ends.size() == 1);
  CHECK(ends[0]["state"] == "succeeded");
}

TEST_CASE("a job that is killed as soon as it is claimed is not lost", "[end_to_end][jobs-16]") {
  constexpr int kRounds = 4;
  CrashVault crash(kRounds, 500);  // a call that takes longer than it takes to kill
  const auto env = crash.env();
  for (int round = 0; round < kRounds; ++round) {
    RunningServer server(crash.vault, {}, env);
    EventFeed feed(server, "?kinds=job.*");
    const auto id = server.start_job("/v1/ai/tag", CrashVault::one(round));
    REQUIRE(feed.wait_for([&](const EventFeed::Frame& frame) {
      return frame.event == "job.started" && frame.data["job"] == id;
    }));
    server.kill();
    RunningServer again(crash.vault, {}, env);
    const auto record = again.wait_for_job(id);
    CHECK(record["state"] == "succeeded");
    CHECK(record["crashes"].get<int>() <= 1);  // 0: its handler had not been called yet
    CHECK(again.stop() == 0);
  }
}

TEST_CASE("a job that takes its process with it three times is dead, and others run",
          "[end_to_end][jobs-9]") {
  CrashVault crash(2);
  crash.model.script({{"fault", "hang"}, {"times", 10}, {"if_contains", "Compost number 0 "}});
  std::string poison, other;
  for (int round = 0; round < 3; ++round) {
    RunningServer server(crash.vault, {}, crash.env());
    if (round == 0) {
      poison = server.start_job("/v1/ai/tag", CrashVault::one(0));
      other = server.start_job("/v1/ai/tag", CrashVault::one(1));  // behind it: there is one runner
    }
    REQUIRE(wait_until([&] {
      auto record = server.job(poison);
      return record["state"] == "running" && record["crashes"] == round;
    }));
    server.kill();
  }

  RunningServer server(crash.vault, {}, crash.env());
  const auto dead = server.wait_for_job(poison);
  const auto ended = server.wait_for_job(other);

  CHECK(dead["state"] == "dead");
  CHECK(dead["crashes"] == 3);
  CHECK(dead["attempts"] == 0);
  CHECK(dead["error"]["message"].get<std::string>().find("crashed its process") !=
        std::string::npos);
  CHECK(ended["state"] == "succeeded");
}

TEST_CASE("100 accepted jobs are all done although the server is killed 20 times",
          "[end_to_end][jobs-11][E1]") {
  constexpr int kJobs = 100, kKills = 20;
  CrashVault crash(kJobs, 10);
  const auto env = crash.env({{"INDX_JOBS_RUNNERS", "4"}, {"INDX_JOBS_MAX_CRASHES", "50"}});
  SeededRandom random(11);
  std::vector<std::string> jobs;
  for (int kill = 0; kill < kKills; ++kill) {
    RunningServer server(crash.vault, {}, env);
    for (int i = 0; i < kJobs / kKills; ++i)
      jobs.push_back(
          server.start_job("/v1/ai/tag", CrashVault::one(static_cast<int>(jobs.size()))));
    std::this_thread::sleep_for(milliseconds(random.next() % 60));  // the moment of the kill
    server.kill();
  }

  RunningServer server(crash.vault, {}, env);
  REQUIRE(jobs.size() == kJobs);
  for (const auto& id : jobs) CHECK(server.wait_for_job(id)["state"] == "succeeded");
  CHECK(server.stop() == 0);
  for (int i = 0; i < kJobs; ++i)
    CHECK(crash.vault.read(CrashVault::note(i)).find("compost\n") != std::string::npos);
  std::map<std::string, int> writes;
  for (const auto& line : audit_lines(crash.vault))
    if (line["kind"] == "note.updated") ++writes[line["path"].get<std::string>()];
  CHECK(writes.size() == kJobs);
  CHECK(std::all_of(writes.begin(), writes.end(), [](const auto& one) { return one.second == 1; }));
}

TEST_CASE("a server that stops during the last attempt of a job gives it back",
          "[end_to_end][jobs-14]") {
  CrashVault crash(1);
  const auto env = crash.env({{"INDX_JOBS_MAX_ATTEMPTS", "1"}});
  crash.model.script({{"fault", "hang"}});
  std::string id;
  {
    RunningServer server(crash.vault, {}, env);
    id = server.start_job("/v1/ai/tag", CrashVault::one(0));
    REQUIRE(crash.comes_to_calls(1));
    CHECK(server.stop() == 0);
  }

  RunningServer server(crash.vault, {}, env);
  const auto record = server.wait_for_job(id);

  CHECK(record["state"] == "succeeded");
  CHECK(record["max_attempts"] == 1);
  CHECK(record["attempts"] == 0);
  CHECK(record["crashes"] == 0);
  CHECK(record["interruptions"] == 1);
}

TEST_CASE("a server told to stop in a job of 90 s is gone in 6 s, and the next goes on from there",
          "[end_to_end][jobs-18][E25]") {
  constexpr int kNotes = 30;
  CrashVault crash(kNotes, 3000);
  crash.model.script({{"delay_ms", 0}, {"times", 10}});
  std::string id;
  {
    RunningServer server(crash.vault, {}, crash.env({{"INDX_JOBS_STOP_GRACE_MS", "5000"}}));
    id = server.start_job("/v1/ai/tag", CrashVault::all());
    REQUIRE(crash.comes_to_calls(11));  // the first of those that take 3 s
    const auto began = std::chrono::steady_clock::now();
    CHECK(server.stop() == 0);
    CHECK(std::chrono::steady_clock::now() - began < seconds(6));
  }
  const int before = crash.calls();
  crash.model.script({{"delay_ms", 0}, {"times", kNotes}});

  RunningServer server(crash.vault, {}, crash.env());
  const auto record = server.wait_for_job(id);

  CHECK(before >= 11);
  CHECK(before <= 13);
  CHECK(record["state"] == "succeeded");
  CHECK(record["result"]["suggestions"].size() == kNotes);
  CHECK(record["interruptions"] == 1);
  CHECK(crash.calls() <= kNotes + before - 10);  // only what was not stored is asked again
}

TEST_CASE("a restart in a map of four lanes repeats at most one call a lane",
          "[end_to_end][jobs-63][E6]") {
  constexpr int kNotes = 100, kLanes = 4;
  const auto lanes =
      std::map<std::string, std::string>{{"INDX_JOBS_LANES_PER_JOB", std::to_string(kLanes)}};
  Json undisturbed;
  {
    CrashVault calm(kNotes);
    RunningServer server(calm.vault, {}, calm.env(lanes));
    const auto id = server.start_job("/v1/ai/tag", CrashVault::all());
    undisturbed = server.wait_for_job(id)["result"]["suggestions"];
    REQUIRE(undisturbed.size() == kNotes);
    CHECK(calm.calls() == kNotes);
  }
  CrashVault crash(kNotes, 20);
  std::string id;
  {
    RunningServer server(crash.vault, {}, crash.env(lanes));
    id = server.start_job("/v1/ai/tag", CrashVault::all());
    REQUIRE(crash.comes_to_calls(50 + kLanes));
    server.kill();
  }
  REQUIRE(crash.calls() < kNotes);

  RunningServer server(crash.vault, {}, crash.env(lanes));
  const auto record = server.wait_for_job(id);

  CHECK(record["state"] == "succeeded");
  CHECK(record["crashes"] == 1);
  CHECK(crash.calls() <= kNotes + kLanes);
  CHECK(record["result"]["suggestions"] == undisturbed);
}

}  // namespace indx
