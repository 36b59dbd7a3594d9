#include "ops/doctor.hpp"
#include "ops/operations.hpp"
#include "tests/support/fake_context.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

/// Deletes what it was told to, piece by piece.
class FakePruner : public Doctor {
 public:
  explicit FakePruner(std::vector<Result<Pruned>> pieces) : pieces_(std::move(pieces)) {}
  Result<Checkup> examine() override { return internal_error("not asked"); }
  Result<Pruned> prune() override {
    REQUIRE(asked < pieces_.size());
    return pieces_[asked++];
  }

  std::size_t asked = 0;

 private:
  std::vector<Result<Pruned>> pieces_;
};

}  // namespace

TEST_CASE("clearing up goes on until nothing is left, after an error where it stood",
          "[ops][schedules]") {
  FakePruner pruner({Pruned{.events = 1000, .is_done = false},
                     Pruned{.versions = 7, .events = 1000, .is_done = false},
                     make_error(Reason::Unavailable, "The disk is full."),
                     Pruned{.events = 5, .jobs = 3}});
  FakeWorld world;
  world.doctor = &pruner;

  const auto first = run_operation(world, vault_prune(), Json::object(), true);
  const auto second = run_operation(world, vault_prune(), Json::object(), true);

  REQUIRE_FALSE(first);
  CHECK(first.error().reason == Reason::Unavailable);
  REQUIRE(second);
  CHECK((*second)["events"] == 2005);
  CHECK((*second)["versions"] == 7);
  CHECK((*second)["jobs"] == 3);
  CHECK(pruner.asked == 4);
  CHECK(world.progress.back().done == 2015);
}

TEST_CASE("clearing up that is cancelled tells how far it came", "[ops][schedules]") {
  FakePruner pruner({Pruned{.events = 1000, .is_done = false}});
  FakeWorld world;
  world.doctor = &pruner;
  world.cancel.cancel(CancelReason::Requested);

  const auto result = run_operation(world, vault_prune(), Json::object(), true);

  REQUIRE_FALSE(result);
  CHECK(result.error().reason == Reason::Cancelled);
  CHECK(result.error().details["events"] == 1000);
}

}  // namespace indx
