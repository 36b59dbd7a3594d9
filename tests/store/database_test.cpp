#include "store/database.hpp"

#include "tests/store/index_fixture.hpp"

#include <fstream>

namespace indx {
namespace {

Database open_database(const std::string& path) {
  return Database::open(path, {.durability = Durability::Off}).value();
}

std::int64_t count_of(Database& db, const char* sql) {
  auto query = db.prepare(sql);
  REQUIRE(query.step().value());
  return query.integer(0);
}

}  // namespace

TEST_CASE("values come back as they were bound", "[store]") {
  IndexFolder folder;
  auto db = open_database(folder.str() + "/a.db");
  auto query = db.prepare("SELECT ?1, ?2, ?3, ?4, ?5, ?6");

  query.bind(std::int64_t{-5}, std::string("a\0b", 3), 1.5, nullptr,
             std::optional<std::string>("x"), "");

  REQUIRE(query.step().value());
  CHECK(query.integer(0) == -5);
  CHECK(query.text(1) == std::string("a\0b", 3));
  CHECK(query.real(2) == 1.5);
  CHECK(query.is_null(3));
  CHECK(query.optional_text(4) == "x");
  CHECK_FALSE(query.is_null(5));
  CHECK_FALSE(query.step().value());
}

TEST_CASE("the same statement may be borrowed twice at a time", "[store]") {
  IndexFolder folder;
  auto db = open_database(folder.str() + "/a.db");
  const auto* sql = "SELECT value FROM json_each('[1,2,3]')";
  auto outer = db.prepare(sql);
  int rows = 0;

  while (outer.step().value()) {
    auto inner = db.prepare(sql);
    while (inner.step().value()) ++rows;
  }

  CHECK(rows == 9);
}

TEST_CASE("a transaction that is not committed leaves nothing", "[store]") {
  IndexFolder folder;
  auto db = open_database(folder.str() + "/a.db");
  db.execute("CREATE TABLE t(x UNIQUE)").value();
  {
    auto transaction = Database::Transaction::begin(db).value();
    db.execute("INSERT INTO t VALUES (1)").value();
  }
  CHECK(count_of(db, "SELECT count(*) FROM t") == 0);

  auto transaction = Database::Transaction::begin(db).value();
  db.execute("INSERT INTO t VALUES (1)").value();
  const auto failed = db.savepoint([&]() -> Status {
    INDX_TRY(db.execute("INSERT INTO t VALUES (2)"));
    return db.execute("INSERT INTO t VALUES (1)");
  });
  transaction.commit().value();

  CHECK(failed.error().reason == Reason::Conflict);
  CHECK(count_of(db, "SELECT count(*) FROM t") == 1);
}

TEST_CASE("a file that is no database is told when it is opened", "[store]") {
  IndexFolder folder;
  const auto path = folder.str() + "/a.db";
  std::ofstream(path) << std::string(8192, 'x');

  CHECK_FALSE(Database::open(path, {}).has_value());
}

TEST_CASE("migrations run once, keep a backup, and refuse a newer version", "[store]") {
  IndexFolder folder;
  const auto path = folder.str() + "/a.db";
  const std::vector<Migration> one = {{1, "CREATE TABLE t(x); INSERT INTO t VALUES (1);"}};
  const std::vector<Migration> two = {one[0], {2, "ALTER TABLE t ADD COLUMN y;"}};
  {
    auto db = open_database(path);
    migrate(db, path, one).value();
    migrate(db, path, one).value();
    CHECK(count_of(db, "SELECT count(*) FROM t") == 1);
    migrate(db, path, two).value();
  }
  auto db = open_database(path);
  const auto refused = migrate(db, path, one);

  CHECK(std::filesystem::exists(path + ".v1.bak"));
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().reason == Reason::UnsupportedVersion);
}

TEST_CASE("a migration that fails changes nothing", "[store]") {
  IndexFolder folder;
  const auto path = folder.str() + "/a.db";
  auto db = open_database(path);

  CHECK_FALSE(migrate(db, path, {{1, "CREATE TABLE t(x); SELECT broken;"}}).has_value());

  CHECK(count_of(db, "SELECT count(*) FROM sqlite_schema") == 0);
  CHECK(count_of(db, "PRAGMA user_version") == 0);
}

}  // namespace indx
