// Jobs that last moments are claimed ahead, and their ends share commits: each runs once all the
// same.
#include "ops/context.hpp"
#include "tests/actors/job_engine.hpp"
#include "tests/support/fault_vfs.hpp"

#include <csignal>
#include <fcntl.h>
#include <map>
#include <sys/wait.h>
#include <unistd.h>

namespace indx {
namespace {

constexpr int kRunners = 4;

JobRequest count_request(int number) {
  JobRequest request;
  request.kind = "count";
  request.input = {{"what", ""}, {"number", number}};
  request.owner = {.subject = "local", .surface = "cli", .scopes = {"vault:read"}};
  request.keep = true;
  return request;
}

std::vector<JobRequest> count_requests(int count) {
  std::vector<JobRequest> requests;
  for (int i = 0; i < count; ++i) requests.push_back(count_request(i));
  return requests;
}

/// How often each job ran.
class Counts {
 public:
  explicit Counts(int jobs) : of_(static_cast<std::size_t>(jobs)) {}
  TestHandler handler() {
    return [this](Context&, const TestAsk& in) -> Result<TestSaid> {
      ++of_.at(static_cast<std::size_t>(in.number));
      return TestSaid{"counted"};
    };
  }
  int of(std::size_t job) const { return of_.at(job); }

 private:
  std::vector<std::atomic<int>> of_;
};

void use_runners(Config& config) {
  config.jobs.runners = kRunners;
  config.jobs.heartbeat = config.jobs.sweep = milliseconds(50);
}

void check_each_ran_once(const JobEngine& running, const std::vector<JobId>& ids,
                         const Counts& counts) {
  int ran_wrongly = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto job = running.job(ids[i]);
    const bool is_right =
        job.state == JobState::Succeeded ? counts.of(i) == 1 : job.state == JobState::Cancelled;
    if (!is_right || counts.of(i) > 1) ++ran_wrongly;
  }
  CHECK(ran_wrongly == 0);
}

/// Jobs of the test by what the counters say.
std::int64_t jobs_where(Engine& engine, const std::function<bool(JobState)>& is_meant) {
  const auto context = engine.make_context(
      {.subject = "local", .surface = Surface::Cli, .scopes = {Scope::VaultAdmin}}, {}, "test", {});
  std::int64_t jobs = 0;
  for (const auto& row : context->jobs().status().value().counts)
    if (row.kind == "count" && is_meant(row.state)) jobs += row.count;
  return jobs;
}

bool all_end(Engine& engine) {
  return comes_true([&] {
    return jobs_where(engine, [](JobState state) {
             return state != JobState::Succeeded && state != JobState::Cancelled;
           }) == 0;
  });
}

}  // namespace

TEST_CASE("what others do to jobs that are claimed ahead loses none and repeats none",
          "[actors][jobs]") {
  constexpr int kJobs = 4000;
  Counts counts(kJobs);
  JobEngine running({test_operation("count", counts.handler())}, use_runners);
  const auto ids = running.engine->enqueue_all(count_requests(kJobs)).value();
  std::atomic<bool> is_over = false;

  {
    std::jthread cancels([&] {
      SeededRandom random(1);
      while (!is_over) {
        static_cast<void>(running.engine->cancel_job(ids.at(random.next() % kJobs)));
        CHECK_FALSE(running.engine->cancel_job({"no such job"}).has_value());
        std::this_thread::sleep_for(milliseconds(3));
      }
    });
    std::jthread pauses([&] {
      while (!is_over) {
        CHECK(running.call("queue_pause", {{"kind", "count"}}).result);
        CHECK(running.call("queue_resume", {{"kind", "count"}}).result);
        std::this_thread::sleep_for(milliseconds(11));
      }
    });
    std::jthread crashes([&] {
      for (int i = 0; !is_over; ++i) {
        running.engine->crash_actor("job_runner_" + std::to_string(i % kRunners));
        if (i % 5 == 0) running.engine->crash_actor("state");
        std::this_thread::sleep_for(milliseconds(17));
      }
    });
    CHECK(all_end(*running.engine));
    is_over = true;
  }

  check_each_ran_once(running, ids, counts);
}

TEST_CASE("a disk that fails now and then loses no end of a short job and repeats none",
          "[actors][jobs]") {
  constexpr int kJobs = 2000;
  FaultVfs disk;
  Counts counts(kJobs);
  JobEngine running({test_operation("count", counts.handler())}, use_runners);
  const auto ids = running.engine->enqueue_all(count_requests(kJobs)).value();

  SeededRandom random(5);
  for (int i = 0; i < 12; ++i) {
    std::this_thread::sleep_for(milliseconds(5));
    disk.plan({i % 2 == 0 ? FaultVfs::Fault::IoError : FaultVfs::Fault::DiskFull,
               1 + static_cast<std::int64_t>(random.next() % 20), i % 3 == 0});
    std::this_thread::sleep_for(milliseconds(20));
    disk.heal();
  }

  CHECK(all_end(*running.engine));
  check_each_ran_once(running, ids, counts);
  running.stop();
}

TEST_CASE("the ends that an engine could not store before its stop are stored by the next one",
          "[actors][jobs]") {
  constexpr int kJobs = 3000;
  FaultVfs disk;
  Counts counts(kJobs);
  JobEngine running({test_operation("count", counts.handler())}, [](Config& config) {
    use_runners(config);
    config.jobs.stop_grace = milliseconds(100);
  });
  const auto ids = running.engine->enqueue_all(count_requests(kJobs)).value();
  CHECK(comes_true([&] { return counts.of(kJobs / 10) > 0; }));

  disk.plan({FaultVfs::Fault::IoError, 1, true});
  std::this_thread::sleep_for(milliseconds(20));
  running.stop();
  disk.heal();
  running.start();

  CHECK(all_end(*running.engine));
  int runs = 0;
  for (std::size_t i = 0; i < kJobs; ++i) runs += counts.of(i);
  CHECK(runs >= kJobs);
  CHECK(runs <= kJobs + kRunners);
  running.stop();
}

namespace {

/// A vault whose process works on short jobs until it is killed; each appends its number to a file.
class KilledWork {
 public:
  void run_and_kill(int new_jobs, std::size_t runs_before_kill) const {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const auto engine = start();
      static_cast<void>(engine->enqueue_all(count_requests(new_jobs)));
      for (;;) ::pause();
    }
    const auto before = runs();
    const bool came = comes_true([&] { return runs() >= before + runs_before_kill; });
    REQUIRE(::kill(child, SIGKILL) == 0);
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    REQUIRE(came);
  }
  std::unique_ptr<Engine> start() const {
    Config config;
    config.vault_dir = folder_.path();
    config.index_dir = folder_.path() + "/.indx";
    config.durability = Durability::Normal;
    config.watch = false;
    use_runners(config);
    auto started = Engine::start(config, registry_, {});
    if (!started.has_value()) std::abort();
    return std::move(*started);
  }
  std::size_t runs() const {
    std::error_code none_yet;
    const auto size = std::filesystem::file_size(path_, none_yet);
    return none_yet ? 0 : size;
  }

 private:
  Result<TestSaid> count() const {
    if (::write(file_, ".", 1) != 1) std::abort();
    return TestSaid{"counted"};
  }

  TempFolder folder_;
  const std::string path_ = folder_.path() + "/runs.txt";
  const int file_ = ::open(path_.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  const Registry registry_{
      {test_operation("count", [this](Context&, const TestAsk&) { return count(); })}};
};

}  // namespace

TEST_CASE("a kill among thousands of short jobs repeats at most one a runner, and loses none",
          "[actors][jobs]") {
  constexpr int kKills = 5, kJobs = 4000;
  KilledWork work;
  SeededRandom random(9);
  for (int i = 0; i < kKills; ++i) work.run_and_kill(kJobs, 200 + random.next() % 2000);

  const auto engine = work.start();
  CHECK(all_end(*engine));
  CHECK(jobs_where(*engine, [](JobState state) { return state == JobState::Succeeded; }) ==
        kKills * kJobs);
  CHECK(work.runs() >= kKills * kJobs);
  CHECK(work.runs() <= kKills * (kJobs + kRunners));
  engine->stop();
}

}  // namespace indx
