#include "ops/links/link_apply.hpp"
#include "tests/support/fake_context.hpp"
#include "tests/support/indexed_links.hpp"
#include "vault/link_resolver.hpp"

#include <catch2/catch.hpp>

namespace indx {

TEST_CASE("a file that came into a folder just before its move takes its links along",
          "[ops][A22]") {
  FakeWorld world;  // after the move of `p` to `q`, of which only `p/a.md` was known
  world.files = {{"q/a.md", "A\n"},
                 {"q/late.md", "[rel](../n.md) [[s]]\n"},
                 {"n.md", "[[p/late]] [[p/a]] [[s]]\n"},
                 {"s.md", "[[q/other]]\n"}};
  IndexedLinks indexed(world.files);
  world.links = &indexed;
  FakeContext context(world);
  const auto from = NotePath::parse("p").value(), to = NotePath::parse("q").value();
  MovePlan plan;
  plan.is_folder = true;
  plan.moves = {{"p/a.md", "q/a.md"}};
  plan.files[name_key_of_path("p/a.md")] = {"p/a.md"};

  REQUIRE(add_late_moves(context, from, to, {"a.md"}, plan));
  CHECK(plan.moves.size() == 1);
  REQUIRE(add_late_moves(context, from, to, {"a.md", "late.md"}, plan));
  REQUIRE(plan.moves.size() == 2);
  CHECK(plan.moves[1] == FileMove{"p/late.md", "q/late.md"});
  const auto result = apply_links(context, plan).value();

  CHECK(result.failed.empty());
  CHECK(world.files["n.md"].starts_with("[[q/late]]"));
  CHECK(world.files["q/late.md"] == "[rel](../n.md) [[s]]\n");
  CHECK(world.files["s.md"] == "[[q/other]]\n");
}

}  // namespace indx
