// How fast jobs are accepted, started, worked off and stopped, through the whole engine; against
// SQLite with nothing around it and against the durable writes that the disk gives.
#include "bench/jobs_engine.hpp"
#include "bench/jobs_floor.hpp"

#include <algorithm>
#include <array>
#include <future>

namespace {

using namespace indx;
using namespace indx::bench;

constexpr double kSeconds = 1.5;  ///< of each measurement of a rate
constexpr int kBatch = 1000, kNoops = 60000, kPickups = 300, kCancels = 100;

void tell_rate(const std::string& name, double value, double floor, std::optional<double> bar,
               const std::string& unit = "jobs/s") {
  print({.name = name,
         .value = value,
         .unit = unit,
         .floor = floor,
         .bar = bar,
         .bar_is_maximum = false});
}

/// Jobs a second that so many callers get accepted, each one after another.
double enqueued_per_s(JobEngine& jobs, int callers) {
  std::atomic<long> done = 0;
  std::vector<std::thread> threads;
  const double begin = now_s(), end = begin + kSeconds;
  for (int c = 0; c < callers; ++c)
    threads.emplace_back([&] {
      for (; now_s() < end; ++done) jobs.enqueue(kNoop, {{"note", 1}, {"op", "noop"}});
    });
  for (auto& thread : threads) thread.join();
  return static_cast<double>(done) / (now_s() - begin);
}

struct RawRates {
  double one_by_one = 0, batches = 0, processed = 0;  ///< jobs/s
};
RawRates raw_rates(const std::filesystem::path& folder) {
  RawRates rates;
  {
    RawJobs raw(folder / "raw.db", Durability::Normal);
    rates.one_by_one = rate_for(kSeconds, 1, [&] { raw.insert(1); });
  }
  RawJobs raw(folder / "raw-batches.db", Durability::Normal);
  rates.batches = rate_for(kSeconds, kBatch, [&] { raw.insert(kBatch); });
  long done = 0;
  const double begin = now_s();
  while (now_s() - begin < kSeconds) {
    const auto claimed = raw.claim(100);
    if (claimed == 0) break;
    raw.finish();
    done += static_cast<long>(claimed);
  }
  rates.processed = static_cast<double>(done) / (now_s() - begin);
  return rates;
}

/// Jobs that wait are worked off; a run that is far too slow is broken off.
void processed(JobEngine& jobs, double floor) {
  const auto waiting = jobs.count(JobState::Ready);
  const auto ended_before = jobs.count(JobState::Succeeded);
  const double begin = now_s();
  need(jobs.jobs().resume_kind(kNoop));
  std::int64_t ended = 0;
  while (ended < waiting && now_s() - begin < 30) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ended = jobs.count(JobState::Succeeded) - ended_before;
  }
  tell_rate("jobs_processed_normal", static_cast<double>(ended) / (now_s() - begin), floor, 60000);
}

/// Gives jobs a second of 16 callers.
double accept_and_process(const std::filesystem::path& folder) {
  const auto raw = raw_rates(folder);
  Probe probe;
  JobEngine jobs(folder / "normal", probe, {.durability = Durability::Normal});
  need(jobs.jobs().pause_kind(kNoop));
  const double alone = enqueued_per_s(jobs, 1), together = enqueued_per_s(jobs, 16);
  tell_rate("jobs_enqueued_normal_1", alone, raw.one_by_one, .4 * raw.one_by_one);
  tell_rate("jobs_enqueued_normal_16", together, raw.one_by_one, .8 * raw.one_by_one);
  const double bulk = rate_for(kSeconds, kBatch, [&] { jobs.enqueue_noops(kBatch); });
  tell_rate("jobs_enqueued_normal_bulk", bulk, raw.batches, .4 * raw.batches);
  while (jobs.count(JobState::Ready) < kNoops) jobs.enqueue_noops(kBatch);
  processed(jobs, raw.processed);
  return together;
}

void accept_durably(const std::filesystem::path& folder, double normal_per_s) {
  Probe probe;
  JobEngine jobs(folder / "full", probe, {.durability = Durability::Full});
  need(jobs.jobs().pause_kind(kNoop));
  const auto durable = durable_writes(folder);
  print({.name = "durable_writes",
         .value = durable.per_s,
         .unit = "writes/s",
         .floor = durable.per_s,
         .bar = {}});
  {
    RawJobs raw(folder / "raw-full.db", Durability::Full);
    tell_rate("sqlite_rows_full", rate_for(.5, 1, [&] { raw.insert(1); }), durable.per_s, {},
              "rows/s");
  }
  tell_rate("jobs_enqueued_full_64", enqueued_per_s(jobs, 64), durable.per_s,
            std::min(30 * durable.per_s, .6 * normal_per_s));
}

/// Items of one job, each of which is stored before the next one of its lane begins.
double items_per_s(const std::filesystem::path& folder, Durability durability, int lanes,
                   int items) {
  Probe probe;
  JobEngine jobs(folder, probe, {.durability = durability, .lanes_per_job = lanes});
  const double begin = now_s();
  jobs.wait(jobs.enqueue(kItems, {{"count", items}}));
  return items / (now_s() - begin);
}

void checkpointed_items(const std::filesystem::path& folder) {
  const auto tell = [](const char* name, double value, double floor, double bar) {
    tell_rate(name, value, floor, bar, "items/s");
  };
  {
    RawJobs raw(folder / "raw-items.db", Durability::Normal);
    const double floor = rate_for(.5, 1, [&] { raw.insert(1); });
    tell("items_normal_16_lanes", items_per_s(folder / "items", Durability::Normal, 16, 60000),
         floor, 30000);
  }
  auto durable = durable_writes(folder);
  tell("items_full_16_lanes", items_per_s(folder / "items-full", Durability::Full, 16, 10000),
       durable.per_s, std::min(5000., 12 * durable.per_s));
  durable = durable_writes(folder);
  const int some = std::clamp(static_cast<int>(2 * durable.per_s), 200, 10000);
  tell("items_full_1_lane", items_per_s(folder / "items-one", Durability::Full, 1, some),
       durable.per_s, .8 * durable.per_s);
}

/// Milliseconds from before a job is asked for to the first line of its handler, in an idle engine.
std::vector<double> pickups_ms(JobEngine& jobs, Probe& probe) {
  std::vector<double> times;
  for (int i = 0; i < kPickups; ++i) {
    probe.begun_at = 0;
    const double asked = now_s();
    const auto id = jobs.enqueue(kStamp);
    while (probe.begun_at == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
    times.push_back((probe.begun_at - asked) * 1000);
    jobs.wait(id);
    std::this_thread::sleep_for(std::chrono::milliseconds(3));  // the engine comes to rest
  }
  return times;
}

void picked_up(const std::filesystem::path& folder) {
  const auto tell = [](const std::string& name, double value, double floor, double bar) {
    print({.name = name, .value = value, .unit = "ms", .floor = floor, .bar = bar});
  };
  {
    RawJobs raw(folder / "raw-pickup.db", Durability::Normal);
    const auto floor = times_ms(kPickups, [&](std::size_t) {
      raw.insert(1);
      raw.claim(1);
    });
    Probe probe;
    JobEngine jobs(folder / "pickup", probe, {.durability = Durability::Normal});
    const auto times = pickups_ms(jobs, probe);
    tell("pickup_normal_p50", percentile(times, .5), percentile(floor, .5), .3);
    tell("pickup_normal_p99", percentile(times, .99), percentile(floor, .99), 2);
  }
  Probe probe;
  JobEngine jobs(folder / "pickup-full", probe, {.durability = Durability::Full});
  const auto durable = durable_writes(folder);
  const auto times = pickups_ms(jobs, probe);
  tell("pickup_full_p50", percentile(times, .5), durable.p50_ms, 2 * durable.p50_ms + 1);
  tell("pickup_full_p99", percentile(times, .99), durable.p99_ms, 2 * durable.p99_ms + 1);
}

/// From the call to the stored end, of a job that works on sixteen items of 10 ms at a time.
void cancelled(const std::filesystem::path& folder) {
  constexpr int kItemMs = 10;
  Probe probe;
  JobEngine jobs(folder / "cancel", probe, {});
  std::mutex mutex;
  std::condition_variable told;
  std::string ended;
  const auto subscription = need(
      jobs.engine().subscribe({.kinds = {"job.finished"}}, std::nullopt, [&](const Event& event) {
        const std::scoped_lock lock(mutex);
        ended = event.job_id;
        told.notify_all();
        return true;
      }));
  const auto times = [&] {
    std::vector<double> all;
    for (int i = 0; i < kCancels; ++i) {
      probe.first_item_at = 0;
      const auto id = jobs.enqueue(kItems, {{"count", 4000}, {"ms", kItemMs}});
      while (probe.first_item_at == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
      std::this_thread::sleep_for(std::chrono::milliseconds(3 + i % kItemMs));
      const double begin = now_s();
      need(jobs.engine().cancel_job(id));
      std::unique_lock lock(mutex);
      if (!told.wait_for(lock, std::chrono::seconds(10), [&] { return ended == id.value; })) {
        std::fprintf(stderr, "jobs: a cancelled job did not end\n");
        std::exit(1);
      }
      all.push_back((now_s() - begin) * 1000);
    }
    return all;
  }();
  const auto floor = times_ms(
      20, [&](std::size_t) { std::this_thread::sleep_for(std::chrono::milliseconds(kItemMs)); });
  print({.name = "cancel_to_stopped_p99",
         .value = percentile(times, .99),
         .unit = "ms",
         .floor = percentile(floor, .5),
         .bar = 200});
}

}  // namespace

/// Without arguments all; else those named: accept, items, pickup, cancel.
int main(int argc, char** argv) {
  const std::vector<std::string> named(argv + 1, argv + argc);
  const auto wants = [&](const char* what) {
    return named.empty() || std::find(named.begin(), named.end(), what) != named.end();
  };
  const Folder folder("jobs");
  if (wants("accept")) {
    const double normal_per_s = accept_and_process(folder.path);
    accept_durably(folder.path, normal_per_s);
  }
  if (wants("items")) checkpointed_items(folder.path);
  if (wants("pickup")) picked_up(folder.path);
  if (wants("cancel")) cancelled(folder.path);
}
