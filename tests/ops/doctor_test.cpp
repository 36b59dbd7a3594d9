#include "ops/doctor.hpp"

#include "ops/operations.hpp"
#include "tests/support/fake_context.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

/// Finds one thing less each time.
class FakeDoctor : public Doctor {
 public:
  explicit FakeDoctor(std::vector<std::vector<Finding>> rounds) : rounds_(std::move(rounds)) {}
  Result<Checkup> examine() override {
    Checkup checkup;
    checkup.findings = rounds_[std::min(looks_++, rounds_.size() - 1)];
    checkup.total = static_cast<std::int64_t>(checkup.findings.size());
    checkup.files = 3;
    return checkup;
  }
  Result<Pruned> prune() override { return internal_error("not asked"); }

 private:
  std::vector<std::vector<Finding>> rounds_;
  std::size_t looks_ = 0;
};

Finding finding_of(const std::string& kind, const std::string& path,
                   Finding::Severity severity = Finding::Severity::Warning) {
  return {kind, severity, path, "is so", "do this"};
}

Json doctor_says(FakeDoctor doctor, const Json& input, std::vector<std::string>* steps = nullptr) {
  FakeWorld world;
  world.doctor = &doctor;
  const auto said = run_operation(world, vault_doctor(), input, true);
  REQUIRE(said);
  if (steps != nullptr) *steps = world.steps_run;
  return *said;
}
using Rounds = std::vector<std::vector<Finding>>;
using Steps = std::vector<std::string>;

}  // namespace

TEST_CASE("a vault without findings, or with notices only, is healthy", "[ops][doctor]") {
  CHECK(doctor_says(FakeDoctor(Rounds{{}}), Json::object())["healthy"] == true);
  const auto said = doctor_says(
      FakeDoctor(Rounds{{finding_of("temp_file_left", "x", Finding::Severity::Notice)}}),
      Json::object());
  CHECK(said["healthy"] == true);
  CHECK(said["findings"][0]["severity"] == "notice");
  CHECK(said["looked_at"]["files"] == 3);
}

TEST_CASE("findings are counted in all and listed up to the limit", "[ops][doctor]") {
  std::vector<Finding> findings;
  for (int i = 0; i < 30; ++i) findings.push_back(finding_of("index_stale", cat("n", i, ".md")));
  const auto said = doctor_says(FakeDoctor(Rounds{findings}), {{"limit", 4}});
  CHECK(said["healthy"] == false);
  CHECK(said["total"] == 30);
  CHECK(said["kinds"]["index_stale"] == 30);
  CHECK(said["findings"].size() == 4);
  CHECK(said["truncated"] == true);
}

TEST_CASE("fix indexes again what differs, and more only when that was not enough",
          "[ops][doctor]") {
  const auto stale = finding_of("index_stale", "a.md");
  const auto lost = finding_of("version_damaged", "b.md", Finding::Severity::Error);
  Steps steps;
  auto said = doctor_says(FakeDoctor(Rounds{{stale, lost}, {lost}}), {{"fix", true}}, &steps);
  CHECK(steps == Steps{"examine", "fix_1/find", "examine_after_1"});
  CHECK(said["fixed"] == 1);
  CHECK(said["healthy"] == false);  // what indexing cannot bring back

  said = doctor_says(FakeDoctor(Rounds{{stale}, {stale}, {stale}, {}}), {{"fix", true}}, &steps);
  CHECK(steps == Steps{"examine", "fix_1/find", "examine_after_1", "fix_2", "fix_2/empty",
                       "examine_after_2", "fix_3", "fix_3/empty", "examine_after_3"});
  CHECK(said["healthy"] == true);

  doctor_says(FakeDoctor(Rounds{{lost}}), {{"fix", true}}, &steps);
  CHECK(steps == Steps{"examine"});
}

}  // namespace indx
