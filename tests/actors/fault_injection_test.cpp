#include "tests/actors/fault_run.hpp"
#include "tests/support/fault_vfs.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace indx {
namespace {

constexpr int kOperations = 200;
/// How many operations a lasting fault meets before the disk is well again.
constexpr int kOperationsOnBadDisk = 20;

void check_clear(const std::vector<Error>& errors) {
  for (const auto& error : errors) {
    INFO(error.message);
    CHECK(error.reason == Reason::Unavailable);
    CHECK(error.message.size() > 20);
  }
}

constexpr std::pair<FaultVfs::Fault, std::string_view> kFaults[] = {
    {FaultVfs::Fault::IoError, "io_error"},
    {FaultVfs::Fault::DiskFull, "disk_full"},
    {FaultVfs::Fault::ShortWrite, "short_write"},
    {FaultVfs::Fault::SyncFails, "sync_fails"}};

std::string_view fault_name(FaultVfs::Fault fault) {
  for (const auto& [one, name] : kFaults)
    if (one == fault) return name;
  return "";
}

/// `short_write:17:once`, as a failed run is printed and `INDX_FAULT` gives it back.
std::string plan_text(const FaultVfs::Plan& plan) {
  return cat(fault_name(plan.fault), ":", plan.at, plan.is_lasting ? ":lasting" : ":once");
}

/// nullopt: it is none.
std::optional<FaultVfs::Plan> parse_plan(std::string_view text) {
  const auto first = text.find(':'), last = text.rfind(':');
  if (first == last) return std::nullopt;
  const auto how = text.substr(last + 1);
  if (how != "once" && how != "lasting") return std::nullopt;
  FaultVfs::Plan plan{.is_lasting = how == "lasting"};
  const auto number = text.substr(first + 1, last - first - 1);
  const auto [end, bad] = std::from_chars(number.data(), number.data() + number.size(), plan.at);
  if (bad != std::errc() || end != number.data() + number.size() || plan.at < 1)
    return std::nullopt;
  for (const auto& [fault, name] : kFaults) {
    if (name != text.substr(0, first)) continue;
    plan.fault = fault;
    return plan;
  }
  return std::nullopt;
}

/// How many calls of SQLite a run without faults makes that this fault can hit, from the opening
/// of the database to its end.
std::int64_t chances_of(const FreshVault& fresh, FaultVfs::Fault fault) {
  FaultVfs disk;
  FaultRun run(fresh);
  REQUIRE(run.open().has_value());
  REQUIRE(run.run(kOperations).empty());
  run.close();
  using File = FaultVfs::File;
  using Call = FaultVfs::Call;
  for (const auto call : {Call::Open, Call::Read, Call::Write, Call::Sync, Call::Close}) {
    INFO("call " << static_cast<int>(call));
    REQUIRE(disk.count(File::MainDb, call) > 0);
  }
  for (const auto call : {Call::Open, Call::Write, Call::Sync, Call::Truncate, Call::Lock}) {
    INFO("call " << static_cast<int>(call));
    REQUIRE(disk.count(File::Wal, call) > 0);
  }
  return disk.chances(fault);
}

/// One run with one fault. Gives whether the fault came.
bool try_fault(const FreshVault& fresh, const FaultVfs::Plan& plan) {
  INFO("INDX_FAULT=" << plan_text(plan));
  FaultVfs disk;
  FaultRun run(fresh);
  disk.plan(plan);
  std::vector<Error> errors;
  if (const Status opened = run.open(); !opened.has_value()) {
    errors.push_back(opened.error());
    if (plan.is_lasting) disk.heal();
    REQUIRE(run.open().has_value());
  }
  int left = kOperations;
  while (left > 0 && disk.hits() == 0) {
    for (auto& error : run.run(1)) errors.push_back(std::move(error));
    --left;
  }
  if (plan.is_lasting) {
    const int on_bad_disk = std::min(left, kOperationsOnBadDisk);
    for (auto& error : run.run(on_bad_disk)) errors.push_back(std::move(error));
    left -= on_bad_disk;
    if (left > 0) disk.heal();
  } else {
    CHECK(errors.size() <= 1);
  }
  // The same connection goes on once the disk is well.
  CHECK(run.run(left).empty());
  check_clear(errors);
  run.close();
  const bool came = disk.hits() > 0;
  disk.heal();
  REQUIRE(run.open("b").has_value());
  run.check_promises();
  run.check_goes_on();
  return came;
}

}  // namespace

// INDX_FAULT gives back one run as a failure prints it: INDX_FAULT=short_write:17:once.
TEST_CASE("whichever call of the disk fails, nothing that was promised is lost",
          "[actors][jobs-44]") {
  constexpr std::int64_t kSampled = 16;
  const FreshVault fresh;
  if (const char* given = std::getenv("INDX_FAULT")) {
    const auto plan = parse_plan(given);
    REQUIRE(plan.has_value());
    CHECK(try_fault(fresh, *plan));
    return;
  }
  SeededRandom random(2026);
  for (const auto& [fault, name] : kFaults) {
    const auto chances = chances_of(fresh, fault);
    REQUIRE(chances > 50);
    // One call of each sixteenth of the run: a fixed step could keep time with its commits.
    for (std::int64_t i = 0; i < kSampled; ++i) {
      const auto first = 1 + chances * i / kSampled, next = 1 + chances * (i + 1) / kSampled;
      const auto beyond =
          static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(next - first));
      // Until the fault each run makes the calls of the one that was measured.
      CHECK(try_fault(fresh, {fault, first + beyond, i % 2 == 1}));
    }
  }
}

// About a quarter of an hour: every call of the run, by every fault that can hit it, for once and
// for a while.
TEST_CASE("each single call of the disk may fail", "[actors][.soak]") {
  const FreshVault fresh;
  for (const auto& [fault, name] : kFaults) {
    const auto chances = chances_of(fresh, fault);
    for (std::int64_t at = 1; at <= chances; ++at) {
      CHECK(try_fault(fresh, {fault, at, false}));
      CHECK(try_fault(fresh, {fault, at, true}));
    }
  }
}

TEST_CASE("a fault is given back as it was printed", "[actors]") {
  for (const auto& [fault, name] : kFaults) {
    for (const bool is_lasting : {false, true}) {
      const auto again = parse_plan(plan_text({fault, 17, is_lasting}));
      REQUIRE(again.has_value());
      CHECK(again->fault == fault);
      CHECK(again->at == 17);
      CHECK(again->is_lasting == is_lasting);
    }
  }
  for (const char* wrong : {"", "io_error", "io_error:3", "io_error:0:once", "io_error:3x:once",
                            "io_error:3:often", "no_error:3:once"})
    CHECK_FALSE(parse_plan(wrong).has_value());
}

TEST_CASE("a database that cannot be made on a failing disk is made when the disk is well",
          "[actors]") {
  std::int64_t chances = 0;
  {
    FaultVfs disk;
    const TempFolder folder;
    REQUIRE(open_state_db(folder.path(), Durability::Full).has_value());
    chances = disk.chances(FaultVfs::Fault::IoError);
  }
  REQUIRE(chances > 20);
  int refused = 0;
  for (std::int64_t at = 1; at <= chances; at += chances / 20) {
    INFO("call " << at);
    FaultVfs disk;
    const TempFolder folder;
    disk.plan({FaultVfs::Fault::IoError, at, true});
    {
      const auto failed = open_state_db(folder.path(), Durability::Full);
      if (!failed.has_value()) {
        ++refused;
        check_clear({failed.error()});
      }
    }
    disk.heal();
    auto db = open_state_db(folder.path(), Durability::Full);
    INFO((db.has_value() ? "" : db.error().message));
    REQUIRE(db.has_value());
    auto jobs = db->prepare("SELECT count(*) FROM jobs");
    CHECK(jobs.step().value());
  }
  CHECK(refused > 0);
}

}  // namespace indx
