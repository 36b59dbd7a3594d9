#include "store/state_schema.hpp"

#include "generated/state_sql.hpp"
#include "store/event_store.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/state_db.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <sys/stat.h>

namespace indx {
namespace {

std::int64_t count_rows(Database& db, const std::string& table) {
  auto query = db.prepare("SELECT COUNT(*) FROM " + table);
  REQUIRE(query.step().value());
  return query.integer(0);
}

Event sample_event() { return {.kind = "note.created", .at = from_millis(1), .actor = "api"}; }

Status insert_raw_job(Database& db, const std::string& columns, const std::string& values) {
  return db.execute(
      "INSERT INTO jobs (id, kind, operation_version, input, owner, subject, keep, priority, "
      "max_attempts, "
      "max_crashes, progress, run_at, created_at, updated_at, state" +
      columns + ") VALUES ('j', 'k', 1, '{}', '{}', '', 0, 0, 5, 3, '{}', 1, 1, 1, " + values +
      ")");
}

}  // namespace

TEST_CASE("a reader sees what was committed and never waits for the writer", "[store]") {
  StateDb state;
  auto reader = open_state_db_reader(state.dir.path()).value();
  REQUIRE(EventStore(state.db).append(sample_event()).has_value());

  auto transaction = Database::Transaction::begin(state.db).value();
  REQUIRE(EventStore(state.db).append(sample_event()).has_value());
  CHECK(count_rows(reader, "events") == 1);
  REQUIRE(transaction.commit().has_value());

  CHECK(count_rows(reader, "events") == 2);
  CHECK(EventStore(reader).append(sample_event()).error().reason == Reason::Unavailable);
}

TEST_CASE("a failed change inside a commit is undone alone", "[store]") {
  StateDb state;
  EventStore events(state.db);
  auto transaction = Database::Transaction::begin(state.db).value();
  REQUIRE(events.append(sample_event()).has_value());

  const auto failed = state.db.savepoint([&]() -> Status {
    INDX_TRY(events.append(sample_event()));
    return not_found("no");
  });
  REQUIRE(transaction.commit().has_value());

  CHECK(failed.error().reason == Reason::NotFound);
  CHECK(count_rows(state.db, "events") == 1);
}

TEST_CASE("a state.db of a newer program is refused by writer and reader", "[store]") {
  StateDb state;
  REQUIRE(state.db.execute("PRAGMA user_version=99").has_value());

  CHECK(open_state_db(state.dir.path(), Durability::Off).error().reason ==
        Reason::UnsupportedVersion);
  CHECK(open_state_db_reader(state.dir.path()).error().reason == Reason::UnsupportedVersion);
}

TEST_CASE("a state.db of the first version keeps its jobs, steps and numbers of events",
          "[store]") {
  const TempDir dir;
  {
    auto old = Database::open(dir.path() + "/state.db", {}).value();
    migrate(old, dir.path() + "/state.db", {{1, state_sql::k_0001_initial}}).value();
    REQUIRE(insert_raw_job(old, "", "'ready'").has_value());
    REQUIRE(
        old.execute("INSERT INTO job_steps VALUES ('j', 'a', 'h', '1', NULL, 1, 1)").has_value());
    EventStore events(old);
    for (int i = 0; i < 3; ++i) REQUIRE(events.append(sample_event()).has_value());
    REQUIRE(old.execute("DELETE FROM events WHERE id > 1").has_value());  // pruned, numbers given
  }

  auto db = open_state_db(dir.path(), Durability::Off).value();

  EventStore events(db);
  CHECK(events.newest_id().value() == 3);
  CHECK(events.append(sample_event()).value() == 4);
  CHECK(events.after(0, {"note.created"}, "", 9).value().size() == 2);
  CHECK(count_rows(db, "jobs WHERE id = 'j' AND state = 'ready' AND snoozes = 0") == 1);
  CHECK(count_rows(db, "job_steps WHERE job = 'j' AND output = '1'") == 1);
  CHECK(count_rows(db, "job_counts WHERE kind = 'k' AND state = 'ready' AND count = 1") == 1);
  CHECK(std::filesystem::exists(dir.path() + "/state.db.v1.bak"));
}

TEST_CASE("a reader does not make a state.db", "[store]") {
  const TempDir dir;
  CHECK(open_state_db_reader(dir.path()).error().reason == Reason::Unavailable);
}

TEST_CASE("only its owner can read state.db", "[store]") {
  const StateDb state;
  struct stat info {};
  REQUIRE(::stat((state.dir.path() + "/state.db").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0600);
}

TEST_CASE("state.db is synced at each commit", "[store]") {
  const TempDir dir;
  auto db = open_state_db(dir.path(), Durability::Full).value();
  auto query = db.prepare("PRAGMA synchronous");
  REQUIRE(query.step().value());
  CHECK(query.integer(0) == 2);
}

TEST_CASE("the table itself refuses job rows that contradict their state", "[store][jobs]") {
  StateDb state;
  const auto refuses = [&](const std::string& columns, const std::string& values) {
    return !insert_raw_job(state.db, columns, values).has_value();
  };

  CHECK(refuses("", "'lost'"));
  CHECK(refuses("", "'running'"));
  CHECK(refuses(", leased_by, leased_at, heartbeat_at", "'ready', 'i', 1, 1"));
  CHECK(refuses(", lease, leased_by, leased_at, heartbeat_at", "'running', 1, 'i', 1, 1"));
  CHECK(refuses(", finished_at", "'ready', 1"));
  CHECK(refuses(", result", "'succeeded', 'null'"));
  CHECK(refuses(", finished_at", "'succeeded', 1"));
  CHECK(refuses(", finished_at", "'failed', 1"));
  CHECK(refuses(", result", "'ready', '1'"));
  CHECK(refuses(", attempts", "'ready', 5"));
  CHECK(refuses(", crashes", "'ready', 3"));
  CHECK(refuses(", cancel_requested", "'ready', 1"));
  CHECK_FALSE(refuses("", "'ready'"));
}

}  // namespace indx
