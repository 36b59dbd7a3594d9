// Jobs that look after the index and the database, killed in the middle.
#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

namespace indx {
namespace {

using std::chrono::seconds;

constexpr int kManyNotes = 5000;
const std::map<std::string, std::string> kUnlimited = {{"INDX_RATE_LIMIT_PER_MINUTE", "0"}};

void fill_many(const TempFolder& vault) {
  for (int i = 0; i < kManyNotes; ++i)
    vault.write(cat("n", 10000 + i, ".md"), cat("# Note ", i, "\n\nwords #one\n"));
}

std::string run_sql(const std::string& database, const std::string& sql) {
  const auto done = run_process(
      {"/usr/bin/sqlite3", {"-cmd", ".timeout 20000", database, sql}, {}, {}, ""}, seconds(60));
  INFO(done.err);
  REQUIRE(done.code == 0);
  return done.out;
}

std::int64_t done_of(const Json& record) {
  return record.contains("progress") ? record["progress"].value("done", std::int64_t{0}) : 0;
}

/// Waits until a job told of so many units in this phase; false when it ended before.
bool comes_to_units(const RunningServer& server, const std::string& id, const std::string& phase,
                    std::int64_t units) {
  Json record;
  const bool is_there = wait_until([&] {
    record = server.job(id);
    const bool is_over = record.contains("finished_at") && !record["finished_at"].is_null();
    return is_over || (record.value("progress", Json::object()).value("phase", "") == phase &&
                       done_of(record) >= units);
  });
  INFO(record.dump());
  return is_there && record["state"] == "running";
}

}  // namespace

TEST_CASE("a rebuild of the index that was killed or stopped goes on with the files that are left",
          "[end_to_end][E5][A75]") {
  const bool is_killed = GENERATE(true, false);
  const TempFolder vault;
  fill_many(vault);
  std::string id;
  {
    RunningServer server(vault, {}, kUnlimited);
    id = server.start_job("/v1/vault/reindex", {{"rebuild", true}});
    // Who waits for the index makes it commit soon what it has.
    int writes = 0;
    REQUIRE(wait_until([&] {
      server.call("PUT", "/v1/notes/busy.md", {{"body", cat("Busy ", ++writes, "\n")}});
      const auto indexing = server.call("GET", "/v1/vault/status").body["data"]["indexing"];
      return indexing["state"] == "indexing" && indexing["done"].get<int>() >= 200;
    }));
    if (is_killed)
      server.kill();
    else
      CHECK(server.stop() == 0);
  }
  RunningServer server(vault, {}, kUnlimited);
  const auto record = server.wait_for_job(id);

  CHECK(record["state"] == "succeeded");
  CHECK(record["attempts"] == 0);
  CHECK(record["crashes"] == (is_killed ? 1 : 0));
  CHECK(record["interruptions"] == (is_killed ? 0 : 1));
  const auto counts = record["result"]["counts"];
  CHECK(counts["created"].get<int>() < kManyNotes);
  CHECK(counts["created"].get<int>() + counts["updated"].get<int>() +
            counts["unchanged"].get<int>() ==
        kManyNotes + 1);
  CHECK(server.call("GET", "/v1/vault/status").body["data"]["counts"]["notes"] == kManyNotes + 1);
}

TEST_CASE("a job that indexes named files goes on after a kill with the slice that was cut off",
          "[end_to_end][E5][A71]") {
  const TempFolder vault;
  fill_many(vault);
  vault.write("other/o.md", "# Other\n");
  std::string id;
  {
    RunningServer server(vault, {}, kUnlimited);
    id = server.start_job("/v1/vault/index-paths",
                          {{"paths", {"n*.md", "gone.md"}}, {"rebuild", true}});
    REQUIRE(comes_to_units(server, id, "index", 400));
    server.kill();
  }
  const auto steps = std::stoll(run_sql(vault.path() + "/.indx/state.db",
                                        cat("SELECT count(*) FROM job_steps WHERE job='", id,
                                            "' AND key LIKE "
                                            "'index/%'")));

  RunningServer server(vault, {}, kUnlimited);
  const auto record = server.wait_for_job(id);

  CHECK(steps >= 2);
  CHECK(steps < kManyNotes / 200);
  CHECK(record["state"] == "succeeded");
  CHECK(record["crashes"] == 1);
  CHECK(record["result"]["updated"] == kManyNotes);
  CHECK(record["result"]["unmatched"] == Json{"gone.md"});
  CHECK(done_of(record) == kManyNotes);
}

TEST_CASE("clearing up that was killed goes on and forgets nothing that it counted",
          "[end_to_end][E5][schedules]") {
  constexpr int kOldJobs = 60000;
  const TempFolder vault;
  fill_vault(vault);
  const auto state = vault.path() + "/.indx/state.db";
  std::string id;
  std::int64_t counted = 0;
  {
    RunningServer server(vault, {}, kUnlimited);
    run_sql(
        state,
        cat("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ", kOldJobs,
            ") INSERT INTO jobs (id, kind, operation_version, state, input, owner, subject, "
            "keep, priority, max_attempts, max_crashes, lease, progress, result, run_at, "
            "created_at, updated_at, started_at, finished_at) SELECT 'old' || i, 'ai_tag', 1, "
            "'succeeded', '{}', '{}', 'local', 0, 0, 5, 3, 1, '{}', '{}', 1, 1, 1, 1, 1 "
            "FROM n"));
    id = server.start_job("/v1/vault/prune", Json::object());
    REQUIRE(comes_to_units(server, id, "delete", 3000));
    counted = done_of(server.job(id));
    server.kill();
  }
  RunningServer server(vault, {}, kUnlimited);
  const auto record = server.wait_for_job(id, seconds(60));

  CHECK(record["state"] == "succeeded");
  CHECK(record["crashes"] == 1);
  CHECK(record["result"]["jobs"].get<std::int64_t>() >= counted);
  CHECK(record["result"]["jobs"].get<std::int64_t>() <= kOldJobs);
  CHECK(run_sql(state, "SELECT count(*) FROM jobs WHERE id LIKE 'old%'") == "0\n");
}

TEST_CASE("a check that was killed while it read the files reads only the others",
          "[end_to_end][E5][doctor]") {
  const TempFolder vault;
  fill_many(vault);
  std::string id;
  {
    RunningServer server(vault, {}, kUnlimited);
    id = server.start_job("/v1/vault/doctor", Json::object());
    REQUIRE(comes_to_units(server, id, "read", 500));
    server.kill();
  }
  // What it had read by then is told from what it reads now by a trace in its own copy, which it
  // takes for what the files say.
  const auto scratch = vault.path() + "/.indx/doctor-" + id;
  run_sql(scratch + "/index.db", "UPDATE tags SET tag='two'");

  RunningServer server(vault, {}, kUnlimited);
  const auto record = server.wait_for_job(id, seconds(60));

  CHECK(record["state"] == "succeeded");
  CHECK(record["crashes"] == 1);
  CHECK(record["result"]["looked_at"]["files"] == kManyNotes);
  const auto stale = record["result"]["kinds"].value("index_stale", 0);
  CHECK(stale >= 500);
  CHECK(stale < kManyNotes);
  CHECK_FALSE(std::filesystem::exists(scratch));
  const auto again = server.start_job("/v1/vault/doctor", Json::object());
  CHECK(server.wait_for_job(again, seconds(60))["result"]["healthy"] == true);
}

}  // namespace indx
