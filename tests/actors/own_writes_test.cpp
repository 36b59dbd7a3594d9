#include "actors/own_writes.hpp"

#include <catch2/catch.hpp>

namespace indx {

TEST_CASE("what we left at a path is ours until others change it", "[actors]") {
  OwnWrites writes;
  WriteOutcome written{NotePath::parse("a.md").value()};
  written.etag = "e1";
  writes.expect(written);

  CHECK(writes.are_ours("a.md", "e1"));
  CHECK(writes.are_ours("a.md", "e1"));
  CHECK_FALSE(writes.are_ours("b.md", "e1"));
  CHECK_FALSE(writes.are_ours("a.md", "e2"));
  CHECK_FALSE(writes.are_ours("a.md", "e1"));  // somebody put our bytes back

  writes.expect(written);
  writes.forget(written);
  CHECK_FALSE(writes.are_ours("a.md", "e1"));
}

TEST_CASE("a move of ours is seen as gone there and come here", "[actors]") {
  OwnWrites writes;
  WriteOutcome moved{NotePath::parse("new").value()};
  moved.moved_from = "old";
  moved.moved_files = {"x.md"};
  writes.expect(moved);

  CHECK(writes.are_ours("old/x.md", ""));
  CHECK(writes.are_ours("new/x.md", "e1"));
  CHECK_FALSE(writes.are_ours("new/x.md", "e2"));
}

}  // namespace indx
