#pragma once
#include "bench/engine.hpp"
#include "jobs/job_state.hpp"
#include "ops/context.hpp"
#include "ops/jobs.hpp"

#include <atomic>
#include <thread>

namespace indx::bench {

inline constexpr const char* kNoop = "bench_noop";
inline constexpr const char* kStamp = "bench_stamp";
inline constexpr const char* kItems = "bench_items";

/// What handlers tell those who measure them; outlives the engine.
struct Probe {
  std::atomic<double> begun_at = 0;       ///< when `bench_stamp` last began; 0: not yet
  std::atomic<double> first_item_at = 0;  ///< when `bench_items` began its first item; 0: not yet
  std::atomic<bool> may_begin = true;     ///< `bench_items` waits for it
  std::atomic<bool> is_waiting = false;   ///< it does
  int items_file = -1;                    ///< a byte is appended for each item that begins
};

inline Operation bench_operation(const std::string& name,
                                 std::function<Result<Json>(Context&, const Json&)> handler) {
  Operation operation;
  operation.name = name;
  operation.summary = "A job for measuring.";
  operation.scopes = {Scope::VaultRead};
  operation.route = {"POST", "/v1/" + name};
  operation.cli = name;
  operation.execution = Execution::Job;
  operation.handler = std::move(handler);
  return operation;
}

/// `{count, ms}`: so many items in lanes, each of which takes so long.
inline Result<Json> run_items(Context& ctx, const Json& input, Probe& probe) {
  probe.is_waiting = true;
  while (!probe.may_begin) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::vector<MapItem> items;
  for (int i = 0; i < input.at("count").get<int>(); ++i)
    items.push_back({cat("item-", i), Json::object()});
  const auto time = std::chrono::milliseconds(input.value("ms", 0));
  const auto done = INDX_TRY(ctx.map("work", items, [&](Context&, const MapItem&) -> Result<Json> {
    double none = 0;
    probe.first_item_at.compare_exchange_strong(none, now_s());
    if (probe.items_file >= 0 && ::write(probe.items_file, ".", 1) != 1)
      return internal_error("An item was not counted.");
    if (time.count() > 0) std::this_thread::sleep_for(time);
    return Json{{"ok", true}};
  }));
  for (const auto& item : done)
    if (!item.has_value()) return item.error();
  return Json{{"done", done.size()}};
}

inline Registry bench_registry(Probe& probe) {
  return Registry(
      {bench_operation(kNoop, [](Context&, const Json&) -> Result<Json> { return Json::object(); }),
       bench_operation(kStamp,
                       [&probe](Context&, const Json&) -> Result<Json> {
                         probe.begun_at = now_s();
                         return Json::object();
                       }),
       bench_operation(kItems, [&probe](Context& ctx, const Json& input) {
         return run_items(ctx, input, probe);
       })});
}

inline JobRequest bench_request(const std::string& kind, const Json& input = Json::object()) {
  JobRequest request;
  request.kind = kind;
  request.input = input;
  request.owner = {.subject = "local", .surface = "cli", .scopes = {"vault:admin"}};
  request.keep = true;
  return request;
}

/// An engine over an empty vault in the folder, whose jobs are those above.
class JobEngine {
 public:
  struct Options {
    Durability durability = Durability::Full;
    int runners = 4;
    int lanes_per_job = 16;
  };
  JobEngine(const std::filesystem::path& folder, Probe& probe, const Options& options)
      : registry_(bench_registry(probe)) {
    std::filesystem::create_directories(folder / "vault");
    auto config = vault_config(folder);
    config.watch = false;
    config.durability = options.durability;
    config.jobs.runners = options.runners;
    config.jobs.lanes_per_job = options.lanes_per_job;
    engine_ = need(Engine::start(config, registry_, {}));
    context_ = engine_->make_context(
        {.subject = "local", .surface = Surface::Cli, .scopes = {Scope::VaultAdmin}}, {}, "bench",
        {});
  }
  JobEngine(const JobEngine&) = delete;
  JobEngine& operator=(const JobEngine&) = delete;
  ~JobEngine() {
    context_.reset();
    engine_->stop();
  }

  Engine& engine() { return *engine_; }
  Jobs& jobs() { return context_->jobs(); }

  JobId enqueue(const std::string& kind, const Json& input = Json::object()) {
    return need(engine_->enqueue(bench_request(kind, input), std::nullopt)).id;
  }
  void enqueue_noops(int count) {
    need(engine_->enqueue_all(
        std::vector<JobRequest>(static_cast<std::size_t>(count), bench_request(kNoop))));
  }
  std::int64_t count(JobState state) {
    std::int64_t found = 0;
    for (const auto& row : need(jobs().status()).counts)
      if (row.kind == kNoop && row.state == state) found += row.count;
    return found;
  }
  /// The job at its end. Ends the program when it did not succeed.
  Job wait(const JobId& id) {
    for (;;) {
      Job job = need(engine_->job(id));
      if (job.is_final() && job.state != JobState::Succeeded) {
        std::fprintf(stderr, "jobs: %s ended as %s\n", job.kind.c_str(),
                     std::string(name(job.state)).c_str());
        std::exit(1);
      }
      if (job.is_final()) return job;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

 private:
  Registry registry_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Context> context_;
};

}  // namespace indx::bench
