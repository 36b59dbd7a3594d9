#include "store/version_store.hpp"

#include "base/hash.hpp"
#include "base/random.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/state_db.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

namespace indx {
namespace {

struct VersionFixture : StateDb {
  FakeClock clock;
  VersionStore store{db, dir.path()};

  std::int64_t keep(const std::string& path, const std::string& bytes,
                    const std::string& job_id = "") {
    return store.keep(path, bytes, job_id, clock.now()).value();
  }
  std::string file_of(const std::string& bytes) const {
    return dir.path() + "/versions/" + sha256_hex(bytes);
  }
  std::vector<std::string> contents(const std::string& path) {
    std::vector<std::string> all;
    const auto versions = store.list(path).value();
    for (const auto& version : versions) all.push_back(store.read(version.id).value());
    return all;
  }
};
using Contents = std::vector<std::string>;

std::string incompressible_bytes(std::size_t size) {
  SeededRandom random(7);
  std::string bytes;
  while (bytes.size() < size) bytes += static_cast<char>(random.next() & 0xffU);
  return bytes;
}

}  // namespace

TEST_CASE_METHOD(VersionFixture, "a version gives back the exact bytes, newest first", "[store]") {
  keep("a.md", "");
  keep("a.md", std::string("one\0\xff", 5));
  keep("a.md", "two");
  keep("b.md", "other");

  CHECK(contents("a.md") == Contents{"two", std::string("one\0\xff", 5), ""});
  const auto newest = store.list("a.md").value().at(0);
  CHECK(newest.size == 3);
  CHECK(newest.etag == etag_of("two"));
  CHECK(newest.sha256 == sha256_hex("two"));
  CHECK(store.read(999).error().reason == Reason::NotFound);
}

TEST_CASE_METHOD(VersionFixture, "a large version is a file that goes with its last version",
                 "[store]") {
  const auto large = incompressible_bytes((1U << 20U) + 1);
  keep("a.md", large);
  keep("b.md", large);
  keep("b.md", "small");
  CHECK(std::filesystem::exists(file_of(large)));
  CHECK(contents("b.md") == Contents{"small", large});

  CHECK(store.prune({.per_note = 1}, clock.now(), 100).value() == 1);
  CHECK(store.sweep_files().value() == 0);
  keep("a.md", "small");
  CHECK(store.prune({.per_note = 1}, clock.now(), 100).value() == 1);
  CHECK(store.sweep_files().value() == 1);

  CHECK_FALSE(std::filesystem::exists(file_of(large)));
  CHECK(contents("a.md") == Contents{"small"});
}

TEST_CASE_METHOD(VersionFixture,
                 "a file without a row after a crash is swept and one with a row is not",
                 "[store]") {
  const auto large = incompressible_bytes((1U << 20U) + 1);
  keep("a.md", large);
  std::ofstream(dir.path() + "/versions/" + sha256_hex("x") + ".part") << "half";

  CHECK(store.sweep_files().value() == 1);

  CHECK(contents("a.md") == Contents{large});
}

TEST_CASE_METHOD(VersionFixture, "a damaged version is refused, never restored", "[store]") {
  const auto large = incompressible_bytes((1U << 20U) + 1);
  const auto id = keep("a.md", large);
  {
    std::fstream file(file_of(large), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(1000);
    file.put('!').put('?');
  }

  CHECK(store.read(id).error().reason == Reason::Internal);
}

TEST_CASE_METHOD(VersionFixture, "versions go by number and age, oldest first, a batch at a time",
                 "[store]") {
  for (int i = 0; i < 5; ++i) keep("a.md", "v" + std::to_string(i));

  CHECK(store.prune({.per_note = 2}, clock.now(), 2).value() == 2);
  CHECK(contents("a.md") == Contents{"v4", "v3", "v2"});
  CHECK(store.prune({.per_note = 2}, clock.now(), 2).value() == 1);
  clock.advance(std::chrono::hours(24 * 30 + 1));
  CHECK(store.prune({}, clock.now(), 100).value() == 2);
  CHECK(contents("a.md").empty());
}

TEST_CASE_METHOD(VersionFixture,
                 "the limit of bytes takes the oldest and never a job that can be reverted",
                 "[store]") {
  keep("a.md", incompressible_bytes(4000), "j1");
  keep("b.md", incompressible_bytes(5000));
  keep("c.md", incompressible_bytes(6000));

  CHECK(store.prune({.max_bytes = 11000}, clock.now(), 100).value() == 1);
  CHECK(store.list("a.md").value().size() == 1);
  CHECK(store.list("b.md").value().empty());
  CHECK(store.list("c.md").value().size() == 1);
  CHECK(store.prune({.per_note = 0, .days = 0, .max_bytes = 0}, clock.now(), 100).value() == 1);
  CHECK(store.list("a.md").value().size() == 1);
  clock.advance(std::chrono::hours(24 * 7 + 1));
  CHECK(store.prune({.per_note = 0}, clock.now(), 100).value() == 1);
}

TEST_CASE_METHOD(VersionFixture,
                 "a job keeps the versions of its first day while it can be reverted",
                 "[store][revert]") {
  const auto put_job = [&](const std::string& id, const std::string& reverts, bool is_live) {
    const auto now = to_millis(clock.now());
    auto insert = db.prepare(
        "INSERT INTO jobs (id, kind, operation_version, state, input, owner, subject, keep, "
        "priority, max_attempts, max_crashes, reverts, progress, error, run_at, "
        "created_at, updated_at, finished_at) VALUES (?1, 'k', 1, ?2, '{}', '{}', 's', 0, 0, 5, "
        "3, ?3, '{}', ?4, ?5, ?5, ?5, ?6)");
    insert.bind(id, is_live ? "ready" : "failed",
                reverts.empty() ? std::nullopt : std::optional(reverts),
                is_live ? std::nullopt : std::optional<std::string>("{}"), now,
                is_live ? std::nullopt : std::optional(now));
    REQUIRE(insert.run());
  };
  const auto pruned = [&] {
    return store.prune({.per_note = 0, .days = 0}, clock.now(), 100).value();
  };
  put_job("long", "", true);
  keep("a.md", "first", "long");
  clock.advance(std::chrono::hours(24 * 10));
  CHECK(pruned() == 0);

  REQUIRE(db.prepare("DELETE FROM jobs WHERE id = 'long'").run());
  put_job("long", "", false);
  clock.advance(std::chrono::hours(24 * 6));
  CHECK(pruned() == 0);

  clock.advance(std::chrono::hours(24 * 2));
  put_job("undo", "long", true);
  CHECK(pruned() == 0);
  CHECK(store.read(store.find_of_job("long", sha256_hex("first")).value()->id).value() == "first");
  CHECK_FALSE(store.find_of_job("other", sha256_hex("first")).value());

  REQUIRE(db.prepare("DELETE FROM jobs WHERE id = 'undo'").run());
  CHECK(pruned() == 1);
}

TEST_CASE_METHOD(VersionFixture, "a version that cannot be made durable leaves no row", "[store]") {
  std::ofstream(dir.path() + "/versions") << "a file where the folder should be";

  const auto kept = store.keep("a.md", incompressible_bytes((1U << 20U) + 1), "", clock.now());

  CHECK(kept.error().reason == Reason::Unavailable);
  CHECK(store.list("a.md").value().empty());
}

}  // namespace indx
