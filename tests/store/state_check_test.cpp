#include "store/state_check.hpp"

#include "base/hash.hpp"
#include "jobs/job_check.hpp"
#include "store/index_check.hpp"
#include "store/intent_store.hpp"
#include "store/version_store.hpp"
#include "tests/jobs/queue_fixture.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <set>

namespace indx {
namespace {

namespace fs = std::filesystem;
using Kinds = std::multiset<std::string>;

struct StateCheckFixture : QueueFixture {
  VersionStore versions{db, dir.path()};

  Kinds version_problems() {
    Kinds kinds;
    check_versions(db, dir.path(), CancelToken(), [&](const StateProblem& problem) {
      kinds.insert(problem.kind);
    }).value();
    return kinds;
  }
  Kinds job_problems() {
    Kinds kinds;
    check_jobs(db, dir.path() + "/spill", clock.now() - std::chrono::minutes(1),
               [&](const JobProblem& problem) { kinds.insert(problem.kind); })
        .value();
    return kinds;
  }
  static void put_file(const std::string& path, const std::string& bytes) {
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
  }
};

}  // namespace

TEST_CASE("kept versions that are damaged, missing or unused are found", "[store][state_check]") {
  StateCheckFixture state;
  SeededRandom random(5);
  std::string large;
  while (large.size() < (2U << 20U)) large += static_cast<char>(random.next() & 0xffU);
  state.versions.keep("a.md", "one", "", state.clock.now()).value();
  state.versions.keep("b.md", "two", "", state.clock.now()).value();
  state.versions.keep("c.md", large, "", state.clock.now()).value();
  CHECK(state.version_problems().empty());

  state.db
      .execute("UPDATE version_blobs SET data=x'28b52ffd00' WHERE sha256='" + sha256_hex("one") +
               "'")
      .value();
  state.db.execute("DELETE FROM versions WHERE path='b.md'").value();
  fs::remove(state.dir.path() + "/versions/" + sha256_hex(large));
  StateCheckFixture::put_file(state.dir.path() + "/versions/feed", "x");
  CHECK(state.version_problems() ==
        Kinds{"version_damaged", "version_missing", "version_unused", "version_file_unused"});
}

TEST_CASE("a write that stays open is found once it is old", "[store][state_check]") {
  StateCheckFixture state;
  const WriteIntent intent{.id = {"w1"},
                           .path = "a.md",
                           .before_sha256 = "aa",
                           .after_sha256 = "bb",
                           .at = state.clock.now()};
  IntentStore(state.db).add(intent).value();
  std::vector<std::string> paths;
  const auto collect = [&](const StateProblem& problem) { paths.push_back(problem.path); };
  check_intents(state.db, state.clock.now(), collect).value();
  CHECK(paths.empty());
  check_intents(state.db, state.clock.now() + std::chrono::seconds(1), collect).value();
  CHECK(paths == std::vector<std::string>{"a.md"});
}

TEST_CASE("jobs that nobody works on and steps that are gone are found", "[jobs][state_check]") {
  StateCheckFixture state;
  const auto job = state.add();
  const auto claimed = state.claim();
  REQUIRE(claimed);
  const Json large(std::string(2U << 20U, 'x'));
  state.queue.put_step(QueueFixture::lease_of(*claimed), {"s", "h", large}).value();
  CHECK(state.job_problems().empty());

  for (const auto& file : fs::directory_iterator(state.dir.path() + "/spill"))
    fs::remove(file.path());
  StateCheckFixture::put_file(state.dir.path() + "/spill/feed", "x");
  state.db.execute("UPDATE jobs SET step_count=7").value();
  state.clock.advance(std::chrono::minutes(5));
  CHECK(state.job_problems() ==
        Kinds{"job_stuck", "job_steps_miscounted", "step_missing", "step_file_unused"});
}

TEST_CASE("what breaks a rule of the tables is found in the file", "[store][state_check]") {
  StateCheckFixture state;
  state.add();
  CHECK(database_problems(state.db).value().empty());
  state.db
      .execute(
          "PRAGMA foreign_keys=OFF; INSERT INTO versions VALUES "
          "(1,'a.md','none','e','',1,1); PRAGMA ignore_check_constraints=ON; UPDATE jobs "
          "SET state='running'; PRAGMA ignore_check_constraints=OFF")
      .value();
  CHECK(database_problems(state.db).value().size() >= 2);
}

}  // namespace indx
