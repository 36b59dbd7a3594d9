#include "actors/folder_watch.hpp"

#include "base/text.hpp"
#include "tests/support/process.hpp"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>

namespace indx {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

/// Waits until `path` was told, or a look at everything was asked for where that is wanted.
bool hears_of(FolderWatch& watch, const std::string& path, bool or_rescan = false) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < end) {
    const auto changes = watch.wait(milliseconds(50), milliseconds(10));
    if (changes.paths.contains(path) || (or_rescan && changes.needs_rescan)) return true;
  }
  return false;
}
bool asks_for_rescan(FolderWatch& watch) { return hears_of(watch, "\n", true); }
bool is_quiet(FolderWatch& watch) {
  const auto changes = watch.wait(milliseconds(100), milliseconds(10));
  return changes.paths.empty() && !changes.needs_rescan;
}

}  // namespace

TEST_CASE("a watch tells of every way to save a file", "[actors][watch]") {
  const TempFolder vault;
  vault.write("a.md", "1");
  FolderWatch watch(vault.path());
  const auto full = [&](const std::string& name) { return vault.path() + "/" + name; };

  vault.write("a.md", "2");
  CHECK(hears_of(watch, "a.md"));
  std::ofstream(full("a.md"), std::ios::app) << "3";
  CHECK(hears_of(watch, "a.md"));
  vault.write(".a.md.swp", "4");
  fs::rename(full(".a.md.swp"), full("a.md"));
  CHECK(hears_of(watch, "a.md"));
  const timespec times[] = {{1'700'000'000, 0}, {1'700'000'000, 0}};
  REQUIRE(::utimensat(AT_FDCWD, full("a.md").c_str(), times, 0) == 0);
  CHECK(hears_of(watch, "a.md"));
  fs::remove(full("a.md"));
  CHECK(hears_of(watch, "a.md"));
  vault.write("new/deep/b.md", "5");
  CHECK(hears_of(watch, "new/deep/b.md"));
  vault.write("new/deep/b.md", "6");
  CHECK(hears_of(watch, "new/deep/b.md"));
  fs::rename(full("new"), full("renamed"));
  CHECK(hears_of(watch, "renamed/deep/b.md"));
  vault.write("renamed/deep/b.md", "7");
  CHECK(hears_of(watch, "renamed/deep/b.md"));
  vault.write(".obsidian/x.json", "8");
  CHECK(is_quiet(watch));
}

TEST_CASE("links and loops of links are not followed by a watch", "[actors][watch]") {
  const TempFolder vault, outside;
  vault.write("d/a.md", "1");
  fs::create_directory_symlink(vault.path(), vault.path() + "/d/loop");
  fs::create_directory_symlink(outside.path(), vault.path() + "/out");
  FolderWatch watch(vault.path());
  outside.write("o.md", "1");
  CHECK(is_quiet(watch));
  vault.write("d/a.md", "2");
  CHECK(hears_of(watch, "d/a.md"));
}

TEST_CASE("folders that came while the kernel's queue overflowed are watched", "[actors][watch]") {
  std::ifstream limit("/proc/sys/fs/inotify/max_queued_events");
  int most = 0;
  limit >> most;
  if (most <= 0 || most > 200'000) {
    WARN("skipped: the queue of inotify is too long to overflow");
    return;
  }
  const TempFolder vault;
  vault.write("a.md", "1");
  FolderWatch watch(vault.path());
  // Two names in turn: equal neighbours would be joined.
  for (int i = 0; i < most / 2 + 100; ++i) {
    vault.write("x.md", "");
    fs::remove(vault.path() + "/x.md");
  }
  vault.write("late/b.md", "1");
  CHECK(asks_for_rescan(watch));
  while (!is_quiet(watch)) {
  }
  vault.write("late/b.md", "2");
  CHECK(hears_of(watch, "late/b.md"));
}

TEST_CASE("where not all folders can be watched, all is looked at again and again",
          "[actors][watch]") {
  const TempFolder vault;
  for (int i = 0; i < 10; ++i) vault.write(cat("d", i, "/a.md"), "1");
  FolderWatch watch(vault.path(), {.most_folders = 4, .poll_every = milliseconds(300)});
  CHECK(watch.is_polling());
  for (int i = 0; i < 3; ++i) CHECK(asks_for_rescan(watch));
  vault.write("top.md", "1");
  CHECK(hears_of(watch, "top.md"));

  FolderWatch roomy(vault.path(), {.poll_every = milliseconds(300)});
  CHECK_FALSE(roomy.is_polling());
  CHECK(is_quiet(roomy));
}

TEST_CASE("a root that was deleted is watched again once it is back", "[actors][watch]") {
  const TempFolder place;
  place.write("vault/a.md", "1");
  const auto root = place.path() + "/vault";
  FolderWatch watch(root);
  fs::remove_all(root);
  for (int i = 0; i < 3; ++i) watch.wait(milliseconds(20), milliseconds(5));
  place.write("vault/b.md", "1");
  CHECK(asks_for_rescan(watch));
  place.write("vault/b.md", "2");
  CHECK(hears_of(watch, "b.md"));

  fs::rename(root, place.path() + "/elsewhere");  // another folder takes its place
  place.write("vault/c.md", "1");
  CHECK(asks_for_rescan(watch));
  place.write("elsewhere/b.md", "3");
  CHECK(is_quiet(watch));
  place.write("vault/c.md", "2");
  CHECK(hears_of(watch, "c.md"));
}

}  // namespace indx
