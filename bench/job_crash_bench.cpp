// A process that works on a job is killed while 100,000 others wait: how soon a new one goes on
// with the first item, and how many items are worked on twice. The process is this program itself,
// started as `job_crash_bench --work FOLDER`.
#include "bench/jobs_engine.hpp"

#include <sqlite3.h>

#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace indx;
using namespace indx::bench;

constexpr int kLanes = 16, kItemCount = 4000, kItemMs = 3, kWaiting = 100000, kBatch = 1000;
constexpr JobEngine::Options kOptions{
    .durability = Durability::Full, .runners = 1, .lanes_per_job = kLanes};

int open_items(const std::filesystem::path& folder) {
  const int fd =
      ::open((folder / "items").c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) std::exit(1);
  return fd;
}

/// Works until it is killed. The one runner holds the job of items, so that all others wait.
int work(const std::filesystem::path& folder) {
  Probe probe;
  probe.may_begin = false;
  probe.items_file = open_items(folder);
  JobEngine jobs(folder, probe, kOptions);
  jobs.enqueue(kItems, {{"count", kItemCount}, {"ms", kItemMs}});
  while (!probe.is_waiting) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  for (int i = 0; i < kWaiting / kBatch; ++i) jobs.enqueue_noops(kBatch);
  probe.may_begin = true;
  for (;;) ::pause();
}

void kill_at_half(const std::filesystem::path& folder) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::execl("/proc/self/exe", "job_crash_bench", "--work", folder.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  std::error_code error;
  for (;;) {
    const auto begun = std::filesystem::file_size(folder / "items", error);
    if (!error && begun >= kItemCount / 2) break;
    if (::waitpid(pid, &status, WNOHANG) != 0) {
      std::fprintf(stderr, "job_crash: the worker did not stay up\n");
      std::exit(1);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  if (::kill(pid, SIGKILL) != 0 || ::waitpid(pid, &status, 0) != pid) std::exit(1);
}

/// Opens what the killed process left and looks for the job that ran.
std::string running_job(const std::filesystem::path& folder) {
  sqlite3* db = nullptr;
  sqlite3_stmt* find = nullptr;
  std::string id;
  if (sqlite3_open((folder / "index" / "state.db").c_str(), &db) == SQLITE_OK &&
      sqlite3_prepare_v2(db, "SELECT id FROM jobs WHERE state = 'running'", -1, &find, nullptr) ==
          SQLITE_OK &&
      sqlite3_step(find) == SQLITE_ROW)
    id = reinterpret_cast<const char*>(sqlite3_column_text(find, 0));
  sqlite3_finalize(find);
  sqlite3_close(db);
  if (id.empty()) {
    std::fprintf(stderr, "job_crash: no job was left running\n");
    std::exit(1);
  }
  return id;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--work") return work(argv[2]);
  const Folder folder("job-crash");
  kill_at_half(folder.path);
  // A copy: the first who opens the file also recovers its log.
  const auto copy = folder.path / "copy";
  std::filesystem::create_directories(copy);
  std::filesystem::copy(folder.path / "index", copy / "index",
                        std::filesystem::copy_options::recursive);
  const double opening = now_s();
  const JobId id{running_job(copy)};
  const double floor = now_s() - opening;

  Probe probe;
  probe.items_file = open_items(folder.path);
  const double begin = now_s();
  JobEngine jobs(folder.path, probe, kOptions);
  while (probe.first_item_at == 0) {
    if (now_s() - begin > 60) return std::fprintf(stderr, "job_crash: nothing was resumed\n"), 1;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  print({.name = "restart_to_first_item_100k_waiting",
         .value = probe.first_item_at - begin,
         .unit = "s",
         .floor = floor,
         .bar = 1});
  jobs.wait(id);
  // Each item begins once, and once more when the kill took its result.
  const auto begun = std::filesystem::file_size(folder.path / "items");
  print({.name = "items_repeated_after_kill_16_lanes",
         .value = static_cast<double>(begun) - kItemCount,
         .unit = "items",
         .floor = {},
         .bar = kLanes});
}
