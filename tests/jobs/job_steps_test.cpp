#include "base/hash.hpp"
#include "tests/jobs/queue_fixture.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

namespace indx {
namespace {

struct StepFixture : QueueFixture {
  Job job = [&] {
    add();
    return *claim();
  }();

  Status put(const std::string& key, const Json& output, const std::string& hash = "h") {
    return queue.put_step(lease_of(job), {key, hash, output});
  }
  std::optional<Json> find(const std::string& key, const std::string& hash = "h") {
    return queue.find_step(job.id, key, hash).value();
  }
  std::size_t spilled_files() const {
    const auto spill = dir.path() + "/spill";
    if (!std::filesystem::exists(spill)) return 0;
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(spill), {}));
  }
  void run_again() {
    REQUIRE(queue.rescue("b", true).has_value());
    job = *claim("b");
  }
};
const std::string kLargeOutput(300000, 'x');

}  // namespace

TEST_CASE_METHOD(StepFixture, "a step of an earlier try is found by key and inputs",
                 "[jobs][E5][E6]") {
  REQUIRE(put("suggest/a.md/call", {{"tags", {"x"}}}).has_value());
  run_again();

  CHECK(find("suggest/a.md/call") == Json{{"tags", {"x"}}});
  CHECK_FALSE(find("suggest/a.md/call", "other").has_value());
  CHECK_FALSE(find("suggest/b.md/call").has_value());
  CHECK(queue.count_steps(job.id).value() == 1);
}

TEST_CASE_METHOD(StepFixture, "a step with other inputs is replaced and a key is used once a try",
                 "[jobs][E6]") {
  REQUIRE(put("k", 1).has_value());
  CHECK(put("k", 2, "h2").error().reason == Reason::StepKeyReused);
  run_again();
  REQUIRE(put("k", 2, "h2").has_value());

  CHECK_FALSE(find("k").has_value());
  CHECK(find("k", "h2") == Json(2));
  CHECK(queue.count_steps(job.id).value() == 1);
}

TEST_CASE_METHOD(StepFixture, "a large result is a file until its job ends", "[jobs][E6]") {
  REQUIRE(put("a", kLargeOutput).has_value());
  REQUIRE(put("b", kLargeOutput).has_value());
  CHECK(spilled_files() == 1);
  CHECK(find("b") == Json(kLargeOutput));
  CHECK(queue.sweep_spill().value() == 0);

  finish(job, success());

  CHECK(queue.count_steps(job.id).value() == 0);
  CHECK(spilled_files() == 1);  // the commit comes first
  CHECK(queue.sweep_spill().value() == 1);
  CHECK(spilled_files() == 0);
}

TEST_CASE_METHOD(StepFixture, "a large result that is damaged on disk is made again", "[jobs]") {
  REQUIRE(put("a", kLargeOutput).has_value());
  for (const auto& file : std::filesystem::directory_iterator(dir.path() + "/spill"))
    std::ofstream(file.path()) << "junk";

  CHECK_FALSE(find("a").has_value());
}

TEST_CASE_METHOD(StepFixture,
                 "a job keeps at most 64 MiB of results, and replacing one frees its bytes",
                 "[jobs]") {
  const std::string ten_mib(std::size_t{10} << 20U, 'x');
  for (int i = 0; i < 6; ++i) REQUIRE(put("k" + std::to_string(i), ten_mib).has_value());

  CHECK(put("k6", ten_mib).error().reason == Reason::TooLarge);
  CHECK(queue.count_steps(job.id).value() == 6);
  run_again();
  REQUIRE(put("k0", 1, "h2").has_value());
  CHECK(put("k6", ten_mib).has_value());
}

TEST_CASE_METHOD(StepFixture, "a job keeps at most 200,000 results", "[jobs]") {
  REQUIRE(db.execute("UPDATE jobs SET step_count = 199999").has_value());

  CHECK(put("a", 1).has_value());
  CHECK(put("b", 1).error().reason == Reason::TooLarge);
}

TEST_CASE_METHOD(StepFixture, "steps of a failed job stay for a week", "[jobs]") {
  REQUIRE(put("k", 1).has_value());
  finish(job, failure(Reason::NotFound));
  const auto long_ago = clock.now() - std::chrono::hours(24 * 365);

  clock.advance(std::chrono::hours(24 * 7));
  CHECK(queue.prune(long_ago, 100).value() == 0);
  CHECK(queue.count_steps(job.id).value() == 1);
  clock.advance(milliseconds(1));
  CHECK(queue.prune(long_ago, 100).value() == 1);

  CHECK(queue.count_steps(job.id).value() == 0);
  CHECK(get(job.id).state == JobState::Failed);
}

TEST_CASE_METHOD(StepFixture, "pruning touches a bounded number of rows and no live job",
                 "[jobs][jobs-46]") {
  {
    auto transaction = Database::Transaction::begin(db).value();
    for (int i = 0; i < 2500; ++i) REQUIRE(put("k" + std::to_string(i), i).has_value());
    REQUIRE(transaction.commit().has_value());
  }
  finish(job, success());
  CHECK(queue.count_steps(job.id).value() == 1500);
  const auto live = add();
  clock.advance(milliseconds(1));

  CHECK(queue.prune(clock.now(), 1000).value() == 1000);
  CHECK(queue.count_steps(job.id).value() == 500);
  CHECK(queue.prune(clock.now(), 1000).value() == 501);
  CHECK(queue.prune(clock.now(), 1000).value() == 0);

  CHECK_FALSE(queue.get(job.id).value().has_value());
  CHECK(queue.get(live.id).value().has_value());
}

}  // namespace indx
