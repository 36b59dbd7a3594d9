#include "ops/operations.hpp"
#include "tests/support/fake_context.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

TEST_CASE("every version that a write replaced can be listed, compared and restored", "[ops]") {
  FakeWorld world;
  const auto write = [&](const std::string& body) {
    REQUIRE(run_operation(world, note_write(), Json{{"path", "a.md"}, {"body", body}}));
  };
  write("one\n");
  write("two\n");
  write("three\n");

  const auto history = run_operation(world, note_history(), Json{{"path", "a.md"}, {"limit", 1}});
  REQUIRE(history);
  CHECK((*history)["exists"] == true);
  CHECK((*history)["versions"][0]["version"] == 2);
  const auto rest = run_operation(world, note_history(),
                                  Json{{"path", "a.md"}, {"cursor", (*history)["next_cursor"]}});
  CHECK((*rest)["versions"][0]["version"] == 1);
  CHECK((*rest)["next_cursor"].is_null());

  const auto diff = run_operation(world, note_diff(), Json{{"path", "a.md"}, {"from", 1}});
  CHECK((*diff)["diff"].get<std::string>().find("-one\n+three\n") != std::string::npos);
  const auto between =
      run_operation(world, note_diff(), Json{{"path", "a.md"}, {"from", 1}, {"to", 2}});
  CHECK((*between)["diff"].get<std::string>().find("-one\n+two\n") != std::string::npos);

  const Json restore{{"path", "a.md"}, {"version", 1}};
  Json guarded = restore;
  guarded["if_match"] = "0000000000000000";
  CHECK(run_operation(world, note_restore(), guarded).error().reason == Reason::EtagMismatch);
  Json dry = restore;
  dry["dry_run"] = true;
  CHECK((*run_operation(world, note_restore(), dry))["diff"].get<std::string>().find("+one") !=
        std::string::npos);
  CHECK(world.files["a.md"] == "three\n");
  REQUIRE(run_operation(world, note_restore(), restore));
  CHECK(world.files["a.md"] == "one\n");
}

TEST_CASE("versions of files that are no notes come back too", "[ops]") {
  FakeWorld world;
  for (const auto* path : {"c.canvas", "q.base", "p.png"}) {
    INFO(path);
    world.files[path] = "{}";
    world.versions.clear();
    REQUIRE(run_operation(world, note_delete(), Json{{"path", path}}));

    CHECK(run_operation(world, note_restore(), Json{{"path", path}, {"version", 1}}));
    CHECK(world.files[path] == "{}");
  }
}

TEST_CASE("a deleted note comes back byte for byte", "[ops]") {
  FakeWorld world;
  world.files["a.md"] = "\xEF\xBB\xBF---\nk: 1\n---\r\nbytes \xff\r\n";
  const std::string before = world.files["a.md"];
  REQUIRE(run_operation(world, note_delete(), Json{{"path", "a.md"}}));

  const auto history = run_operation(world, note_history(), Json{{"path", "a.md"}});
  REQUIRE(history);
  CHECK((*history)["exists"] == false);
  const auto restored = run_operation(
      world, note_restore(), Json{{"path", "a.md"}, {"version", 1}, {"if_not_exists", true}});

  REQUIRE(restored);
  CHECK((*restored)["created"] == true);
  CHECK(world.files["a.md"] == before);
  CHECK(
      run_operation(world, note_restore(), Json{{"path", "a.md"}, {"version", 9}}).error().reason ==
      Reason::NotFound);
  CHECK(run_operation(world, note_history(), Json{{"path", "b.md"}}).error().reason ==
        Reason::NotFound);
}

TEST_CASE("note_delete honours expected_sha256", "[ops][A11]") {
  FakeWorld world;
  world.files["a.md"] = "x\n";
  const auto remove = [&](const std::string& sha256) {
    return run_operation(world, note_delete(), Json{{"path", "a.md"}, {"expected_sha256", sha256}});
  };

  CHECK(remove(sha256_hex("y\n")).error().reason == Reason::EtagMismatch);
  CHECK(remove(sha256_hex("x\n")));
}

}  // namespace
}  // namespace indx
