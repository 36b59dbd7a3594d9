#include "ops/jobs/undo_plan.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

using UndoKind = UndoAct::Kind;
using MaybeText = std::optional<std::string>;

/// A write of contents, by etags; the hash of what was there is `sha-<etag>`.
JobWrite contents_write(const std::string& path, const MaybeText& before, const MaybeText& after) {
  JobWrite write{.path = path, .at = {}};
  if (before) write.before_sha256 = "sha-" + *before;
  write.before_etag = before;
  write.after_etag = after;
  return write;
}
JobWrite file_move(const std::string& from, const std::string& to, const std::string& etag) {
  auto write = contents_write(to, etag, etag);
  write.moved_from = from;
  return write;
}
JobWrite folder_move(const std::string& from, const std::string& to) {
  return {.path = to, .moved_from = from, .at = {}};
}

}  // namespace

TEST_CASE("only the net effect of a job on a file is undone", "[ops][revert]") {
  const auto plan =
      plan_undo({contents_write("a.md", "0", "1"), contents_write("a.md", "1", "2"),
                 contents_write("same.md", "5", "6"), contents_write("same.md", "6", "5"),
                 contents_write("made.md", {}, "7"), contents_write("made.md", "7", {})});

  REQUIRE(plan.acts.size() == 1);
  CHECK_FALSE(plan.has_moves);
  const auto& file = plan.files[plan.acts[0].file];
  CHECK(plan.acts[0].kind == UndoKind::Contents);
  CHECK(file.before_sha256 == "sha-0");
  CHECK(file.etag == "2");
  CHECK_FALSE(file.foreign_change);
}

TEST_CASE("moves are undone from the last to the first, contents where they were first written",
          "[ops][revert]") {
  const auto plan = plan_undo({contents_write("p.md", "p", {}), contents_write("a.md", "0", "1"),
                               file_move("a.md", "p.md", "1"), contents_write("p.md", "1", "2")});

  REQUIRE(plan.acts.size() == 3);
  CHECK(plan.has_moves);
  CHECK(plan.acts[0].kind == UndoKind::MoveBack);
  CHECK(plan.acts[0].path == "p.md");
  CHECK(plan.acts[0].back_to == "a.md");
  CHECK(plan.acts[1].path == "a.md");
  CHECK(plan.files[plan.acts[1].file].etag == "2");
  CHECK(plan.files[plan.acts[1].file].before_sha256 == "sha-0");
  CHECK(plan.files[plan.acts[1].file].last_path == "p.md");
  CHECK(plan.acts[2].path == "p.md");
  CHECK(plan.files[plan.acts[2].file].before_sha256 == "sha-p");
  CHECK_FALSE(plan.files[plan.acts[2].file].etag);
}

TEST_CASE("files go with the folder that a job moved", "[ops][revert]") {
  const auto plan =
      plan_undo({contents_write("d/a.md", "0", "1"), contents_write("da.md", "x", "y"),
                 folder_move("d", "e"), contents_write("e/a.md", "1", "2")});

  REQUIRE(plan.files.size() == 2);
  REQUIRE(plan.acts.size() == 3);
  CHECK(plan.acts[0].kind == UndoKind::FolderBack);
  CHECK(plan.acts[0].inside == std::vector<std::size_t>{0});
  CHECK(plan.files[0].etag == "2");
  CHECK(plan.files[0].places == std::set<std::string>{"d/a.md", "e/a.md"});
  CHECK(plan.acts[2].path == "d/a.md");
}

TEST_CASE("somebody else's change between two writes of a job is seen", "[ops][revert]") {
  const auto plan =
      plan_undo({contents_write("a.md", "0", "1"), contents_write("a.md", "edited", "2")});

  REQUIRE(plan.acts.size() == 1);
  const auto& change = plan.files[0].foreign_change;
  REQUIRE(change);
  CHECK(change->first == "1");
  CHECK(change->second == "edited");
}

TEST_CASE("what was undone and then done again is undone like the first time", "[ops][revert]") {
  const auto plan =
      plan_undo({contents_write("a.md", "0", "1"), contents_write("made.md", {}, "5"),
                 contents_write("gone.md", "7", {}), contents_write("a.md", "0", "2"),
                 contents_write("made.md", {}, "6"), contents_write("gone.md", "7", {})});

  REQUIRE(plan.files.size() == 3);
  REQUIRE(plan.acts.size() == 3);
  for (const auto& file : plan.files) CHECK_FALSE(file.foreign_change);
  CHECK(plan.files[0].etag == "2");
  CHECK(plan.files[0].before_sha256 == "sha-0");
  CHECK(plan.files[1].etag == "6");
  CHECK_FALSE(plan.files[2].etag);
}

TEST_CASE("a move that was undone and then done again is moved back once", "[ops][revert]") {
  const std::vector<JobWrite> files = {contents_write("a.md", "0", "1"),
                                       file_move("a.md", "b.md", "1"),
                                       contents_write("b.md", "1", "2")};
  auto twice = files;
  twice.insert(twice.end(), files.begin(), files.end());
  const auto plan = plan_undo(twice);

  REQUIRE(plan.files.size() == 1);
  REQUIRE(plan.acts.size() == 2);
  CHECK(plan.acts[0].kind == UndoKind::MoveBack);
  CHECK(plan.acts[1].kind == UndoKind::Contents);
  CHECK(plan.files[0].etag == "2");
  CHECK(plan.files[0].last_path == "b.md");
  CHECK(plan.files[0].places == std::set<std::string>{"a.md", "b.md"});
  CHECK_FALSE(plan.files[0].foreign_change);

  const std::vector<JobWrite> folder = {contents_write("d/a.md", "0", "1"), folder_move("d", "e"),
                                        contents_write("e/c.md", "5", "6")};
  twice = folder;
  twice.insert(twice.end(), folder.begin(), folder.end());
  const auto back = plan_undo(twice);
  REQUIRE(back.acts.size() == 3);
  CHECK(back.acts[0].path == "e/c.md");
  CHECK(back.acts[1].kind == UndoKind::FolderBack);
  CHECK(back.acts[2].path == "d/a.md");
}

TEST_CASE("a file that takes the place of one that the job moved away is another",
          "[ops][revert]") {
  const auto plan = plan_undo({contents_write("a.md", {}, "1"), file_move("a.md", "b.md", "1"),
                               contents_write("a.md", {}, "2")});

  REQUIRE(plan.files.size() == 2);
  CHECK(plan.acts.size() == 3);
}

}  // namespace indx
