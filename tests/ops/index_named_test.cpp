#include "base/text.hpp"
#include "ops/operations.hpp"
#include "tests/support/fake_context.hpp"

#include <catch2/catch.hpp>

#include <set>

namespace indx {
namespace {

/// Notes `n1000.md` and on, which sort as they are numbered.
void fill_named(FakeWorld& world, int count) {
  for (int i = 0; i < count; ++i) world.files[cat("n", 1000 + i, ".md")] = "text\n";
}

}  // namespace

TEST_CASE("indexing named files that was interrupted reads no slice again", "[ops][A71]") {
  const Operation operation = GENERATE(vault_index_paths(), vault_reindex());
  FakeWorld world;
  fill_named(world, 950);
  const Json input{{"paths", {"n*.md", "gone.md"}}, {"rebuild", true}};
  int slices = 0;
  world.before_index = [&](const std::vector<std::string>&) -> Status {
    if (++slices == 3) return make_error(Reason::Unavailable, "The process ends here.");
    return {};
  };

  const auto first = run_operation(world, operation, input, true);
  const auto before = world.indexed;
  fill_named(world, 2000);  // what came since is of another call
  const auto second = run_operation(world, operation, input, true);

  CHECK_FALSE(first);
  CHECK(before.size() == 400);
  REQUIRE(second);
  const Json counts = second->contains("counts") ? (*second)["counts"] : *second;
  CHECK(counts["updated"] == 950);
  CHECK(counts["unmatched"] == Json{"gone.md"});
  CHECK(world.indexed.size() == 950);
  CHECK(std::set<std::string>(world.indexed.begin(), world.indexed.end()).size() == 950);
  CHECK(world.progress.back().done == 950);
}

TEST_CASE("indexing named files that is cancelled tells how far it came", "[ops]") {
  FakeWorld world;
  fill_named(world, 450);
  world.before_index = [&](const std::vector<std::string>&) -> Status {
    world.cancel.cancel(CancelReason::Requested);
    return {};
  };

  const auto result = run_operation(world, vault_index_paths(), {{"paths", {"n*.md"}}}, true);

  REQUIRE_FALSE(result);
  CHECK(result.error().reason == Reason::Cancelled);
  CHECK(result.error().details["updated"] == 200);
}

TEST_CASE("a rebuild that was interrupted empties the index once", "[ops][A75]") {
  FakeWorld world;
  const Json input{{"rebuild", true}};
  REQUIRE(run_operation(world, vault_reindex(), input, true));
  std::erase_if(world.steps, [](const auto& step) { return step.first.starts_with("reindex#"); });

  REQUIRE(run_operation(world, vault_reindex(), input, true));

  CHECK(world.index_emptied == 1);
}

}  // namespace indx
