// No-op jobs through the whole engine: enqueued by eight clients, claimed, run and finished;
// against plain SQLite that inserts and updates one row a job in a synced transaction each, the
// least that a durable queue must do.
#include "actors/engine.hpp"
#include "bench/support.hpp"

#include <sqlite3.h>

#include <atomic>
#include <thread>

namespace {

using namespace indx;
using namespace indx::bench;

constexpr int kJobs = 2000, kClients = 8;

struct Floor {
  double enqueued = 0, processed = 0;  ///< jobs/s
};

Floor measure_floor(const std::string& path) {
  sqlite3* db = nullptr;
  sqlite3_open(path.c_str(), &db);
  const auto run = [&](const char* sql) {
    if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) != SQLITE_OK) std::exit(1);
  };
  run("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE jobs(id INTEGER PRIMARY KEY, "
      "state TEXT, input TEXT)");
  const double enqueue_begin = now_s();
  for (int i = 0; i < kJobs; ++i) run("INSERT INTO jobs(state, input) VALUES('ready', '{}')");
  const double enqueued = now_s() - enqueue_begin;
  run("DELETE FROM jobs");
  const double begin = now_s();
  for (int i = 0; i < kJobs; ++i) {
    run("INSERT INTO jobs(state, input) VALUES('ready', '{}')");
    run("UPDATE jobs SET state = 'running' WHERE id = (SELECT id FROM jobs WHERE state = 'ready' "
        "LIMIT 1)");
    run("UPDATE jobs SET state = 'succeeded' WHERE id = last_insert_rowid()");
  }
  const double took = now_s() - begin;
  sqlite3_close(db);
  return {kJobs / enqueued, kJobs / took};
}

Operation noop() {
  Operation operation;
  operation.name = "bench_noop";
  operation.summary = "Does nothing.";
  operation.scopes = {Scope::VaultRead};
  operation.route = {"POST", "/v1/bench"};
  operation.cli = "bench noop";
  operation.execution = Execution::Job;
  operation.handler = [](Context&, const Json&) -> Result<Json> { return Json::object(); };
  return operation;
}

}  // namespace

int main() {
  const Folder folder("jobs");
  std::filesystem::create_directories(folder.path / "vault");
  const Floor floor = measure_floor((folder.path / "floor.db").string());
  Config config;
  config.vault_dir = (folder.path / "vault").string();
  config.index_dir = (folder.path / "index").string();
  config.watch = false;
  config.rate_limit_per_minute = 0;
  const Registry registry({noop()});
  auto engine = Engine::start(config, registry, {});
  if (!engine.has_value()) return std::fprintf(stderr, "%s\n", engine.error().message.c_str()), 1;

  std::atomic<int> finished = 0;
  auto subscription =
      (*engine)->subscribe({.kinds = {"job.finished"}}, std::nullopt, [&](const Event&) {
        ++finished;
        return true;
      });
  if (!subscription.has_value()) return 1;
  const double begin = now_s();
  std::vector<std::thread> clients;
  for (int c = 0; c < kClients; ++c)
    clients.emplace_back([&] {
      for (int i = 0; i < kJobs / kClients; ++i) {
        JobRequest request;
        request.kind = "bench_noop";
        request.input = Json::object();
        request.owner = {.subject = "local", .surface = "cli"};
        request.keep = true;
        if (!(*engine)->enqueue(request, std::nullopt).has_value()) std::exit(1);
      }
    });
  for (auto& client : clients) client.join();
  const double enqueued = now_s() - begin;
  while (finished < kJobs) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const double processed = now_s() - begin;
  print({.name = "jobs_enqueued",
         .value = kJobs / enqueued,
         .unit = "jobs/s",
         .floor = floor.enqueued});
  print({.name = "jobs_processed",
         .value = kJobs / processed,
         .unit = "jobs/s",
         .floor = floor.processed});
  (*subscription).reset();
  (*engine)->stop();
}
