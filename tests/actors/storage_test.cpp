#include "actors/state.hpp"
#include "actors/storage_trouble.hpp"
#include "base/text.hpp"
#include "tests/actors/engine_fixture.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/fault_vfs.hpp"
#include "tests/support/stderr_text.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

namespace indx {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kNotes = 24;

struct GardenNotes {
  GardenNotes() {
    for (int i = 0; i < kNotes; ++i)
      vault.write(cat("n", i, ".md"),
                  cat("# Note ", i, "\n\nCompost warms the compost heap. #garden\n"));
  }
  TempFolder vault;
};

struct GardenEngine : GardenNotes, ServedVault {
  explicit GardenEngine(Durability durability = Durability::Off)
      : ServedVault(vault, [durability](Config& config) {
          config.durability = durability;
          config.ai.provider = "builtin";
          config.rate_limit_per_minute = 0;
          config.jobs.heartbeat = config.jobs.sweep = milliseconds(50);
          config.jobs.runners = 4;
        }) {}

  Answer tag(int note) const {
    const Json scope{{"kind", "paths"}, {"paths", {cat("n", note, ".md")}}};
    return call("ai_tag", {{"scope", scope}}, true);
  }
  Answer write(const std::string& path, const std::string& key = "") const {
    Call asked;
    asked.operation = registry.find("note_write");
    asked.input = {{"path", path}, {"body", "Text.\n"}};
    asked.idempotency_key = key;
    auto principal = dispatcher->authenticate(engine->owner_token());
    REQUIRE(principal);
    asked.principal = *principal;
    return dispatcher->call_and_wait(std::move(asked));
  }
  std::string state_db() const { return vault.path() + "/.indx/state.db"; }
};

/// How many lines of the text hold the words.
std::ptrdiff_t lines_with(const std::string& text, const std::string& words) {
  const auto lines = split(text, '\n');
  return std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.find(words) != std::string::npos;
  });
}

std::int64_t number_of(Database& db, const char* sql) {
  auto query = db.prepare(sql);
  REQUIRE(query.step().value());
  return query.integer(0);
}

/// Jobs that succeeded long ago, each an own row.
void add_old_jobs(Database& db, int count, Timestamp ended) {
  auto insert = db.prepare(
      "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1) "
      "INSERT INTO jobs (id, kind, operation_version, state, input, owner, subject, keep, "
      "priority, "
      "max_attempts, max_crashes, lease, progress, result, run_at, created_at, updated_at, "
      "started_at, finished_at) SELECT 'old' || n, 'ai_tag', 1, 'succeeded', '{}', '{}', 'local', "
      "0, "
      "0, 5, 3, 1, '{}', '{}', ?2, ?2, ?2, ?2, ?2 FROM numbers");
  insert.bind(count, to_millis(ended));
  REQUIRE(insert.run().value() == count);
}
constexpr const char* kCountOld = "SELECT count(*) FROM jobs WHERE id LIKE 'old%'";

}  // namespace

TEST_CASE("trouble with storage is told once a minute, and its end once", "[actors][jobs-44]") {
  StorageTrouble trouble;
  const Error full = make_error(Reason::Unavailable, "The disk is full.");
  int lines = 0;
  std::int64_t told = 0;
  for (int second = 0; second < 180; ++second)
    for (int i = 0; i < 500; ++i)
      if (const auto line = trouble.failed("commit", full, seconds(second))) {
        ++lines;
        told += (*line)["failures"].get<std::int64_t>();
        CHECK((*line)["error"] == full.message);
      }
  CHECK(lines == 3);
  CHECK(told == 2 * 60 * 500 + 1);

  const auto over = trouble.worked(seconds(180));

  REQUIRE(over.has_value());
  CHECK((*over)["failures"] == 180 * 500);
  CHECK((*over)["seconds"] == 180);
  CHECK_FALSE(trouble.worked(seconds(181)).has_value());
}

TEST_CASE("a disk that works and fails in turn is told of once a minute, too", "[actors]") {
  StorageTrouble trouble;
  const Error full = make_error(Reason::Unavailable, "The disk is full.");
  int lines = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto now = milliseconds(50 * i);
    lines += trouble.failed("commit", full, now).has_value() ? 1 : 0;
    lines += trouble.worked(now).has_value() ? 1 : 0;
  }
  CHECK(lines == 2);
}

TEST_CASE("the wait between two tries grows to five seconds and starts anew", "[actors]") {
  StorageTrouble trouble;
  const Error full = make_error(Reason::Unavailable, "The disk is full.");
  std::vector<std::int64_t> waits;
  for (int i = 0; i < 8; ++i) {
    trouble.failed("claim", full, seconds(i));
    waits.push_back(trouble.wait().count());
  }
  trouble.worked(seconds(9));
  trouble.failed("claim", full, seconds(10));

  CHECK(waits == std::vector<std::int64_t>{100, 200, 400, 800, 1600, 3200, 5000, 5000});
  CHECK(trouble.wait() == milliseconds(100));
}

TEST_CASE("a full disk is a clear error, one line of the log, and no reason to start anew",
          "[actors][jobs-44]") {
  FaultVfs disk;
  const GardenEngine running(Durability::Full);
  REQUIRE(running.write("before.md").result);
  std::vector<std::string> jobs;
  for (int i = 0; i < 8; ++i) {
    const auto accepted = running.tag(i);
    REQUIRE(accepted.result);
    jobs.push_back(accepted.job_id);
  }
  std::ptrdiff_t told = 0;
  {
    const StderrText log;
    disk.plan({FaultVfs::Fault::DiskFull, 1, true});

    for (int i = 0; i < 20; ++i) {
      for (const auto& refused : {running.tag(20), running.write("full.md", "one key")}) {
        REQUIRE_FALSE(refused.result);
        const Error& error = refused.result.error();
        INFO(error.message);
        CHECK(error.reason == Reason::Unavailable);
        CHECK(error.message.find("disk is full") != std::string::npos);
      }
    }
    CHECK(disk.hits() >= 40);
    CHECK_FALSE(running.has_file("full.md"));
    told = lines_with(log.text(), "state.db cannot be written");
    disk.heal();
  }
  CHECK(told == 1);
  // The same key and all that was accepted before.
  CHECK(comes_true([&] { return running.write("full.md", "one key").result.has_value(); }));
  CHECK(running.has_file("full.md"));
  for (const auto& job : jobs)
    CHECK(comes_true([&] { return running.state_of(job) == "succeeded"; }));
  const auto after = running.tag(21);
  REQUIRE(after.result);
  CHECK(comes_true([&] { return running.state_of(after.job_id) == "succeeded"; }));
}

TEST_CASE("while another program holds the lock for two seconds, nobody hears of it",
          "[actors][jobs-42]") {
  const GardenEngine running;
  auto outside = Database::open(running.state_db(), {.durability = Durability::Off}).value();
  std::atomic<bool> is_held = false;
  std::jthread holder([&] {
    auto lock = Database::Transaction::begin(outside);
    is_held = lock.has_value();
    std::this_thread::sleep_for(seconds(2));  // what the other program does meanwhile
  });
  REQUIRE(comes_true([&] { return is_held.load(); }));

  std::mutex mutex;
  std::vector<std::string> jobs, refusals;
  {
    std::vector<std::jthread> clients;
    for (int client = 0; client < 8; ++client)
      clients.emplace_back([&, client] {
        for (int i = 0; i < 3; ++i) {
          const auto accepted = running.tag(client * 3 + i);
          const std::scoped_lock lock(mutex);
          if (accepted.result)
            jobs.push_back(accepted.job_id);
          else
            refusals.push_back(accepted.result.error().message);
        }
      });
  }
  CHECK(refusals == std::vector<std::string>{});
  CHECK(jobs.size() == 24);
  for (const auto& job : jobs) {
    CHECK(comes_true([&] { return running.state_of(job) == "succeeded"; }));
    const auto record = running.ask("job_get", {{"id", job}})["job"];
    CHECK(record["attempts"] == 0);
    CHECK(record["crashes"] == 0);
    CHECK(record["interruptions"] == 0);
  }
  holder.join();
  CHECK(number_of(outside, "SELECT count(*) FROM events WHERE kind = 'job.started'") == 24);
}

TEST_CASE("old jobs go in chunks of a thousand rows, and others write in between",
          "[actors][jobs-46]") {
  constexpr int kOld = 20000;
  const TempFolder folder;
  FakeClock clock;
  SeededRandom random{1};
  const auto state =
      State::open({.dir = folder.path(), .durability = Durability::Off, .instance = "a"}, clock,
                  random)
          .value();
  add_old_jobs(state->db, kOld, clock.now() - std::chrono::days(90));
  JobRequest request;
  request.kind = "ai_tag";
  request.input = Json::object();
  request.owner = {.subject = "tok_1", .surface = "api"};

  int chunks = 0;
  for (bool is_more = true; is_more; ++chunks) {
    REQUIRE(chunks < 100);
    const auto before = number_of(state->db, kCountOld);
    {
      auto transaction = Database::Transaction::begin(state->db).value();
      is_more = !state->prune().value().is_done;
      REQUIRE(transaction.commit().has_value());
    }
    CHECK(before - number_of(state->db, kCountOld) <= 1000);
    REQUIRE(state->queue.enqueue(request).has_value());
  }

  CHECK(chunks >= kOld / 1000);
  CHECK(number_of(state->db, kCountOld) == 0);
  CHECK(state->queue.count_live().value() == chunks);
}

TEST_CASE("an engine that starts with many old jobs removes them while it serves",
          "[actors][jobs-46]") {
  const TempFolder folder;
  folder.write("a.md", "Compost warms the compost heap.\n");
  {
    auto db = open_state_db(folder.path() + "/.indx", Durability::Off).value();
    add_old_jobs(db, 20000, SystemClock().now() - std::chrono::days(90));
  }
  const ServedVault running(folder, [](Config& config) {
    config.rate_limit_per_minute = 0;
    config.jobs.heartbeat = milliseconds(50);
  });
  auto db = open_state_db_reader(folder.path() + "/.indx").value();
  const SystemClock clock;
  std::chrono::nanoseconds longest{0};
  int writes = 0;

  CHECK(comes_true([&] {
    const auto began = clock.monotonic();
    CHECK(running.works("note_write", {{"path", cat("b", writes++, ".md")}, {"body", "x\n"}}));
    longest = std::max(longest, clock.monotonic() - began);
    return number_of(db, kCountOld) == 0;
  }));
  CHECK(longest < seconds(2));  // far from a purge in one piece, on a busy machine too
}

TEST_CASE("clearing up as a job counts each row that it removes, once", "[actors][schedules]") {
  constexpr int kOld = 5500;
  const TempFolder folder;
  {
    auto db = open_state_db(folder.path() + "/.indx", Durability::Off).value();
    add_old_jobs(db, 1, SystemClock().now() - std::chrono::days(90));
  }
  const ServedVault running(folder, [](Config& config) {
    config.rate_limit_per_minute = 0;
    config.jobs.heartbeat = milliseconds(50);
  });
  auto db =
      Database::open(folder.path() + "/.indx/state.db", {.durability = Durability::Off}).value();
  // The engine's own look is over, and its next one minutes away.
  REQUIRE(comes_true([&] { return number_of(db, kCountOld) == 0; }));
  add_old_jobs(db, kOld, SystemClock().now() - std::chrono::days(90));

  const auto answer = running.call("vault_prune", Json::object());

  REQUIRE(answer.result);
  CHECK((*answer.result)["jobs"] == kOld);
  CHECK(number_of(db, kCountOld) == 0);
}

TEST_CASE("a log that a reader held back is cut when the reader has gone", "[actors]") {
  constexpr std::int64_t kMegabytes = 70;
  const GardenEngine running;
  const auto wal = running.state_db() + "-wal";
  {
    auto reader = Database::open(running.state_db(), {.read_only = true}).value();
    auto held = reader.prepare("SELECT json_each.value FROM json_each('[1, 2]'), meta");
    REQUIRE(held.step().value());
    auto writer = Database::open(running.state_db(), {.durability = Durability::Off}).value();
    // The engine tries to cut the log again and again, and each time keeps others from writing.
    const auto write = [&](const char* sql) {
      REQUIRE(comes_true([&] { return writer.execute(sql).has_value(); }));
    };
    write("CREATE TABLE ballast (bytes BLOB)");
    for (std::int64_t i = 0; i < kMegabytes; ++i)
      write("INSERT INTO ballast VALUES (zeroblob(1048576))");
    write("DROP TABLE ballast");
    REQUIRE(std::filesystem::file_size(wal) > std::uintmax_t{64} << 20U);
    CHECK(running.works("note_write", {{"path", "held.md"}, {"body", "x\n"}}));
  }
  CHECK(comes_true([&] { return std::filesystem::file_size(wal) < std::uintmax_t{8} << 20U; }));
  CHECK(running.works("note_write", {{"path", "free.md"}, {"body", "x\n"}}));
}

}  // namespace indx
