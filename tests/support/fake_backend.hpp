#pragma once
#include "ops/dispatch.hpp"
#include "tests/support/fake_context.hpp"

#include <thread>

namespace indx {

/// The engine that dispatch sees: lanes run at once, or when the test says so; jobs wait until the
/// test ends them.
class FakeBackend : public Backend {
 public:
  FakeWorld world;
  bool has_a_provider = true, has_an_embedder = false, draining = false, lanes_are_full = false,
       lanes_wait = false;
  std::vector<std::function<void()>> waiting_lanes;
  std::map<std::string, Job> jobs_by_id;
  std::map<std::string, int> waiters;
  std::map<std::string, Remembered> keys;
  std::vector<JobRequest> enqueued;

  const Config& config() const override { return world.config; }
  const Clock& clock() const override { return world.clock; }
  bool has_provider() const override { return has_a_provider; }
  bool has_embedder() const override { return has_an_embedder; }
  bool is_draining() const override { return draining; }
  Json health() override { return Json{{"ready", true}}; }
  Result<Principal> authenticate(const std::string&) override { return world.principal; }
  std::unique_ptr<Context> make_context(const Principal& principal, const CancelToken&,
                                        const std::string&,
                                        const std::optional<IdempotencyKey>&) override {
    world.principal = principal;
    return std::make_unique<FakeContext>(world);
  }
  Status run_on_lane(std::function<void()> work) override {
    if (lanes_are_full) return make_error(Reason::Unavailable, "No lane is free.");
    if (lanes_wait)
      waiting_lanes.push_back(std::move(work));
    else
      work();
    return {};
  }
  void run_waiting_lanes() {
    lanes_wait = false;
    for (auto& work : std::exchange(waiting_lanes, {})) work();
  }

  Result<Job> enqueue(const JobRequest& request,
                      const std::optional<IdempotencyKey>& key) override {
    enqueued.push_back(request);
    Job job;
    job.id = JobId{"job" + std::to_string(enqueued.size())};
    job.kind = request.kind;
    job.input = request.input;
    job.owner = request.owner;
    jobs_by_id[job.id.value] = job;
    if (key) keys[key->operation + "/" + key->key].job_id = job.id.value;
    return job;
  }
  Result<Job> job(const JobId& id) override { return jobs_by_id.at(id.value); }
  Result<Job> cancel_job(const JobId& id) override { return jobs_by_id.at(id.value); }
  void add_waiter(const JobId& id) override { ++waiters[id.value]; }
  void remove_waiter(const JobId& id) override { --waiters[id.value]; }

  Result<std::optional<Remembered>> claim_key(const std::string&,
                                              const IdempotencyKey& key) override {
    const auto [it, is_new] = keys.try_emplace(key.operation + "/" + key.key);
    if (!is_new) return std::optional(it->second);
    it->second.body_hash = key.body_hash;
    return std::optional<Remembered>();
  }
  Status complete_key(const std::string&, const IdempotencyKey& key, int http_status,
                      const Json& reply) override {
    auto& row = keys[key.operation + "/" + key.key];
    row.is_done = true;
    row.http_status = http_status;
    row.reply = reply;
    return {};
  }
  Status release_key(const std::string&, const IdempotencyKey& key) override {
    keys.erase(key.operation + "/" + key.key);
    return {};
  }

  Result<std::unique_ptr<Subscription>> subscribe(const EventFilter& filter,
                                                  const std::optional<std::string>&,
                                                  std::function<bool(const Event&)> sink) override {
    struct Fake : Subscription {
      ~Fake() override { backend->sinks.erase(id); }
      FakeBackend* backend = nullptr;
      int id = 0;
    };
    auto subscription = std::make_unique<Fake>();
    subscription->backend = this;
    subscription->id = next_sink_++;
    sinks[subscription->id] = {filter, std::move(sink)};
    return std::unique_ptr<Subscription>(std::move(subscription));
  }
  std::string event_epoch() const override { return "e"; }

  void tell(const std::string& kind, const std::string& job_id) {
    Event event;
    event.kind = kind;
    event.job_id = job_id;
    const auto copy = sinks;
    for (const auto& [id, entry] : copy)
      if (entry.first.jobs == std::vector<std::string>{job_id}) entry.second(event);
  }
  void end_job(const std::string& id, JobState state, std::optional<Json> result = {},
               std::optional<Error> error = {}) {
    auto& job = jobs_by_id.at(id);
    job.state = state;
    job.result = std::move(result);
    job.error = std::move(error);
    tell("job.finished", id);
  }

  std::map<int, std::pair<EventFilter, std::function<bool(const Event&)>>> sinks;

 private:
  int next_sink_ = 1;
};

}  // namespace indx
