#pragma once
#include "base/config.hpp"
#include "bench/support.hpp"

#include <sqlite3.h>

#include <fcntl.h>
#include <unistd.h>

// The least that the machine must do for a durable queue, with no engine around it.
namespace indx::bench {

/// What it costs right now to make 4 kB durable: written over an existing file and synced, one
/// after another, for a third of a second. Disks that others use change from minute to minute, so
/// each bar is made of one that was measured just before.
struct DurableWrites {
  double per_s = 0, p50_ms = 0, p99_ms = 0;
};
inline DurableWrites durable_writes(const std::filesystem::path& folder) {
  constexpr int kBlocks = 64;
  const auto path = folder / "durable";
  const int fd = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  std::string block(4096, 'x');
  bool is_ok = fd >= 0;
  for (int i = 0; i < kBlocks && is_ok; ++i)
    is_ok = ::write(fd, block.data(), block.size()) == static_cast<ssize_t>(block.size());
  is_ok = is_ok && ::fsync(fd) == 0;
  std::vector<double> times;
  const double begin = now_s();
  while (is_ok && now_s() - begin < .33) {
    const double start = now_s();
    block[times.size() % block.size()] ^= 1;
    const auto at = static_cast<off_t>((times.size() % kBlocks) * block.size());
    is_ok = ::pwrite(fd, block.data(), block.size(), at) == static_cast<ssize_t>(block.size()) &&
            ::fdatasync(fd) == 0;
    times.push_back((now_s() - start) * 1000);
  }
  const double took = now_s() - begin;
  if (!is_ok || ::close(fd) != 0) {
    std::perror("durable writes");
    std::exit(1);
  }
  return {static_cast<double>(times.size()) / took, percentile(times, .5), percentile(times, .99)};
}

/// A table of jobs, one connection, prepared statements: what SQLite does by itself.
class RawJobs {
 public:
  RawJobs(const std::filesystem::path& path, Durability durability) {
    if (sqlite3_open(path.c_str(), &db_) != SQLITE_OK) fail();
    run("PRAGMA journal_mode=WAL");
    run(durability == Durability::Full ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
    run("CREATE TABLE IF NOT EXISTS job (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, args TEXT NOT "
        "NULL, state INTEGER NOT NULL DEFAULT 0, priority INTEGER NOT NULL DEFAULT 0, run_at "
        "INTEGER NOT NULL, attempt INTEGER NOT NULL DEFAULT 0, lease INTEGER NOT NULL DEFAULT 0, "
        "created_at INTEGER NOT NULL, finished_at INTEGER) STRICT");
    run("CREATE INDEX IF NOT EXISTS job_ready ON job (priority, run_at, id) WHERE state = 0");
    prepare(&begin_, "BEGIN IMMEDIATE");
    prepare(&commit_, "COMMIT");
    prepare(&insert_, "INSERT INTO job (kind, args, run_at, created_at) VALUES ('noop', ?1, 1, 1)");
    prepare(
        &claim_,
        "UPDATE job SET state = 1, attempt = attempt + 1, lease = lease + 1 WHERE id IN (SELECT "
        "id FROM job WHERE state = 0 AND run_at <= 2 ORDER BY priority, run_at, id LIMIT ?1) "
        "RETURNING id, kind, args, lease");
    prepare(&finish_,
            "UPDATE job SET state = 2, finished_at = 3 WHERE id = ?1 AND state = 1 AND lease = ?2");
  }
  RawJobs(const RawJobs&) = delete;
  RawJobs& operator=(const RawJobs&) = delete;
  ~RawJobs() {
    for (auto* statement : {begin_, commit_, insert_, claim_, finish_}) sqlite3_finalize(statement);
    sqlite3_close(db_);
  }

  void insert(int jobs) {
    step(begin_);
    for (int i = 0; i < jobs; ++i) {
      sqlite3_bind_text(insert_, 1, R"({"note":1,"op":"noop"})", -1, SQLITE_STATIC);
      step(insert_);
    }
    step(commit_);
  }
  /// Claims so many in one transaction; gives how many there were.
  std::size_t claim(int jobs) {
    claimed_.clear();
    step(begin_);
    sqlite3_bind_int(claim_, 1, jobs);
    int state = SQLITE_ROW;
    while ((state = sqlite3_step(claim_)) == SQLITE_ROW)
      claimed_.emplace_back(sqlite3_column_int64(claim_, 0), sqlite3_column_int64(claim_, 3));
    if (state != SQLITE_DONE) fail();
    sqlite3_reset(claim_);
    step(commit_);
    return claimed_.size();
  }
  /// Ends what was claimed last, in one transaction.
  void finish() {
    step(begin_);
    for (const auto& [id, lease] : claimed_) {
      sqlite3_bind_int64(finish_, 1, id);
      sqlite3_bind_int64(finish_, 2, lease);
      step(finish_);
    }
    step(commit_);
  }

 private:
  void run(const char* sql) {
    if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
  }
  void prepare(sqlite3_stmt** statement, const char* sql) {
    if (sqlite3_prepare_v2(db_, sql, -1, statement, nullptr) != SQLITE_OK) fail();
  }
  void step(sqlite3_stmt* statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) fail();
    sqlite3_reset(statement);
  }
  [[noreturn]] void fail() {
    std::fprintf(stderr, "floor: %s\n", sqlite3_errmsg(db_));
    std::exit(1);
  }

  sqlite3* db_ = nullptr;
  sqlite3_stmt *begin_ = nullptr, *commit_ = nullptr, *insert_ = nullptr, *claim_ = nullptr,
               *finish_ = nullptr;
  std::vector<std::pair<sqlite3_int64, sqlite3_int64>> claimed_;
};

/// How many of what `fn` does, `each` at a time, are done in a second, in a run of about `seconds`.
template <typename Fn>
double rate_for(double seconds, int each, Fn fn) {
  long done = 0;
  const double begin = now_s();
  while (now_s() - begin < seconds) fn(), done += each;
  return static_cast<double>(done) / (now_s() - begin);
}

}  // namespace indx::bench
