#include "base/text.hpp"
#include "store/database.hpp"
#include "tests/support/fault_vfs.hpp"
#include "tests/support/temp_dir.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

/// A database with one table behind a disk that can fail.
struct FaultyDatabase {
  explicit FaultyDatabase(Durability durability = Durability::Full)
      : db(Database::open(path, {.durability = durability}).value()) {
    db.execute("CREATE TABLE t (x UNIQUE)").value();
  }
  Status insert(int first, int count) {
    auto transaction = INDX_TRY(Database::Transaction::begin(db));
    for (int i = first; i < first + count; ++i)
      INDX_TRY(db.execute(cat("INSERT INTO t VALUES (", i, ")")));
    return transaction.commit();
  }
  std::int64_t rows() {
    auto query = db.prepare("SELECT count(*) FROM t");
    REQUIRE(query.step().value());
    return query.integer(0);
  }

  TempDir dir;
  std::string path = dir.path() + "/state.db";
  FaultVfs disk;
  Database db;
};

std::int64_t syncs_of_ten_commits(Durability durability) {
  FaultyDatabase faulty(durability);
  REQUIRE(faulty.insert(0, 1));
  const auto before = faulty.disk.count(FaultVfs::File::Wal, FaultVfs::Call::Sync);
  for (int i = 1; i <= 10; ++i) REQUIRE(faulty.insert(i, 1));
  return faulty.disk.count(FaultVfs::File::Wal, FaultVfs::Call::Sync) - before;
}

}  // namespace

TEST_CASE("FULL syncs the log at each commit, once for all of a batch; NORMAL leaves it",
          "[store]") {
  CHECK(syncs_of_ten_commits(Durability::Full) == 10);
  CHECK(syncs_of_ten_commits(Durability::Normal) == 0);
  CHECK(syncs_of_ten_commits(Durability::Off) == 0);

  FaultyDatabase faulty;
  REQUIRE(faulty.insert(0, 1));
  const auto before = faulty.disk.count(FaultVfs::File::Wal, FaultVfs::Call::Sync);
  REQUIRE(faulty.insert(1, 100));
  CHECK(faulty.disk.count(FaultVfs::File::Wal, FaultVfs::Call::Sync) - before == 1);
}

TEST_CASE("a commit that the disk refuses stores nothing, says why, and the next one works",
          "[store][jobs-44]") {
  for (const auto fault : {FaultVfs::Fault::DiskFull, FaultVfs::Fault::ShortWrite,
                           FaultVfs::Fault::SyncFails, FaultVfs::Fault::IoError}) {
    FaultyDatabase faulty;
    REQUIRE(faulty.insert(0, 5));
    faulty.disk.plan({fault, 1, true});

    const auto failed = faulty.insert(5, 5);

    REQUIRE_FALSE(failed);
    INFO(failed.error().message);
    CHECK(failed.error().reason == Reason::Unavailable);
    CHECK(faulty.disk.hits() > 0);
    faulty.disk.heal();
    CHECK_FALSE(faulty.db.is_in_transaction());
    CHECK(faulty.rows() == 5);
    REQUIRE(faulty.insert(5, 5));
    CHECK(faulty.rows() == 10);
  }
}

TEST_CASE("a transaction that storage gave up stores nothing of what comes after it", "[store]") {
  FaultyDatabase faulty;
  REQUIRE(faulty.db.execute("PRAGMA cache_size=5"));  // so that rows are written before the commit
  REQUIRE(faulty.db.execute("CREATE TABLE large (bytes)"));
  {
    auto transaction = Database::Transaction::begin(faulty.db).value();
    REQUIRE(faulty.db.execute("INSERT INTO t VALUES (1)"));
    faulty.disk.plan({FaultVfs::Fault::IoError, 1, false});
    Status lost;
    for (int i = 0; i < 200 && lost.has_value(); ++i)
      lost = faulty.db.savepoint(
          [&] { return faulty.db.execute("INSERT INTO large VALUES (zeroblob(20000))"); });
    REQUIRE_FALSE(lost);
    CHECK(lost.error().reason == Reason::Unavailable);
    REQUIRE_FALSE(faulty.db.is_in_transaction());

    CHECK(transaction.commit().error().reason == Reason::Unavailable);
  }
  CHECK(faulty.rows() == 0);
  REQUIRE(faulty.insert(1, 1));
}

TEST_CASE("a log is moved into the database unless a reader needs it", "[store]") {
  FaultyDatabase faulty;
  REQUIRE(faulty.insert(0, 100));
  auto reader = Database::open(faulty.path, {.read_only = true}).value();
  {
    auto held = reader.prepare("SELECT x FROM t");
    REQUIRE(held.step().value());
    REQUIRE(faulty.insert(100, 100));
    const auto pinned = faulty.db.checkpoint(std::chrono::milliseconds(10));
    REQUIRE(pinned);
    CHECK_FALSE(pinned->is_complete);
    CHECK(pinned->bytes_left > 0);
    CHECK(pinned->bytes_left == faulty.db.wal_bytes());
    REQUIRE(faulty.insert(200, 1));  // nobody is held up by it
  }
  const auto moved = faulty.db.checkpoint(std::chrono::milliseconds(10));
  REQUIRE(moved);
  CHECK(moved->is_complete);
  CHECK(faulty.db.wal_bytes() == 0);
  CHECK(faulty.rows() == 201);
}

}  // namespace indx
