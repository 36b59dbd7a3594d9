#include "jobs/job_state.hpp"
#include "tests/jobs/queue_fixture.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

namespace indx {
namespace {

/// What the queue should know of a job, kept without SQL.
struct ModelJob {
  JobState state = JobState::Ready;
  int priority = 0;
  std::string kind;
  Timestamp run_at;
  std::int64_t lease = 0;
  std::string owner;
  int attempts = 0, crashes = 0, interruptions = 0, max_attempts = 1, max_crashes = 1;
  bool cancel_requested = false;
  int steps = 0;

  bool is_live() const { return !is_final(state); }
  bool has_last_chance() const { return crashes > 0 && crashes + 1 >= max_crashes; }
};

/// Random operations on a queue and the same ones on plain values; after each, both must agree.
class QueueModel : public QueueFixture {
 public:
  explicit QueueModel(std::uint64_t seed) : dice_(seed) {}

  void step() {
    switch (dice(12)) {
      case 0:
      case 1:
        enqueue();
        break;
      case 2:
      case 3:
      case 4:
        claim_one();
        break;
      case 5:
      case 6:
        finish_one();
        break;
      case 7:
        cancel_one();
        break;
      case 8:
        store_step();
        break;
      case 9:
        rescue_some();
        break;
      case 10:
        clock.advance(milliseconds(dice(4000)));
        break;
      default:
        know_other_kinds();
    }
    compare();
  }

 private:
  std::size_t dice(std::size_t sides) { return dice_.next() % sides; }
  std::string any_instance() { return dice(2) == 0 ? "a" : "b"; }
  Reason any_reason() { return dice(2) == 0 ? Reason::Unavailable : Reason::NotFound; }
  const std::string& any_job() { return order_[dice(order_.size())]; }

  void enqueue() {
    auto asked = request();
    asked.kind = dice(4) == 0 ? "rare" : "tag";
    asked.priority = static_cast<int>(dice(3));
    asked.max_attempts = 1 + static_cast<int>(dice(3));
    asked.max_crashes = 1 + static_cast<int>(dice(3));
    if (dice(4) == 0) asked.run_at = clock.now() + milliseconds(dice(5000));
    const auto job = add(asked);
    order_.push_back(job.id.value);
    jobs_[job.id.value] = {
        .state = job.run_at > clock.now() ? JobState::Scheduled : JobState::Ready,
        .priority = asked.priority,
        .kind = asked.kind,
        .run_at = job.run_at,
        .max_attempts = asked.max_attempts,
        .max_crashes = asked.max_crashes};
  }

  bool knows(const ModelJob& job) const {
    return std::any_of(known.begin(), known.end(),
                       [&](const auto& kind) { return kind.kind == job.kind; });
  }

  std::string expected_claim() {
    const bool last_chance_runs = std::any_of(jobs_.begin(), jobs_.end(), [](const auto& item) {
      return item.second.state == JobState::Running && item.second.has_last_chance();
    });
    std::vector<std::string> ready;
    for (const auto& id : order_) {
      auto& job = jobs_[id];
      if (job.state == JobState::Scheduled && job.run_at <= clock.now())
        job.state = JobState::Ready;
      if (job.state == JobState::Unsupported && knows(job)) job.state = JobState::Ready;
      if (job.state == JobState::Ready && !(job.has_last_chance() && last_chance_runs))
        ready.push_back(id);
    }
    std::stable_sort(ready.begin(), ready.end(), [&](const auto& a, const auto& b) {
      return std::pair(-jobs_[a].priority, jobs_[a].run_at) <
             std::pair(-jobs_[b].priority, jobs_[b].run_at);
    });
    for (const auto& id : ready) {
      if (knows(jobs_[id])) return id;
      jobs_[id].state = JobState::Unsupported;
    }
    return "";
  }

  void claim_one() {
    const auto instance = any_instance();
    const auto expected = expected_claim();
    const auto job = claim(instance);
    REQUIRE((job ? job->id.value : "") == expected);
    if (!job) return;
    auto& model = jobs_[expected];
    model.state = JobState::Running;
    model.owner = instance;
    REQUIRE(job->lease == ++model.lease);
  }

  void finish_one() {
    if (order_.empty()) return;
    const auto id = any_job();
    auto& model = jobs_[id];
    const bool is_stale = model.state != JobState::Running || dice(6) == 0;
    const Lease lease{{id},
                      is_stale && model.state == JobState::Running ? model.lease - 1 : model.lease,
                      model.owner};
    const JobOutcome outcomes[] = {
        success(), failure(any_reason()), returned(), {.kind = JobOutcome::Kind::Cancelled}};
    const auto& outcome = outcomes[dice(4)];
    const auto finished = queue.finish(lease, outcome);
    if (is_stale) {
      REQUIRE(finished.error().reason == Reason::StaleLease);
      return;
    }
    model.run_at = finished->run_at;
    end_try(model, outcome);
  }

  static void end_try(ModelJob& model, const JobOutcome& outcome) {
    using Kind = JobOutcome::Kind;
    const bool retryable = outcome.kind == Kind::Failed && outcome.error->is_retryable();
    if (outcome.kind == Kind::Returned) ++model.interruptions;
    if (retryable) ++model.attempts;
    if (outcome.kind == Kind::Succeeded)
      model.state = JobState::Succeeded;
    else if (outcome.kind == Kind::Failed && !retryable)
      model.state = JobState::Failed;
    else if (outcome.kind == Kind::Cancelled || model.cancel_requested)
      model.state = JobState::Cancelled;
    else if (outcome.kind == Kind::Returned)
      model.state = JobState::Ready;
    else
      model.state = model.attempts >= model.max_attempts ? JobState::Dead : JobState::Scheduled;
    leave(model);
  }

  static void leave(ModelJob& model) {
    model.owner.clear();
    if (model.state == JobState::Cancelled) model.cancel_requested = true;
    if (model.state == JobState::Cancelled || model.state == JobState::Succeeded) model.steps = 0;
  }

  void cancel_one() {
    if (order_.empty()) return;
    const auto id = any_job();
    auto& model = jobs_[id];
    REQUIRE(queue.request_cancel({id}).has_value());
    if (!model.is_live()) return;
    model.cancel_requested = true;
    if (model.state == JobState::Running) return;
    model.state = JobState::Cancelled;
    leave(model);
  }

  void store_step() {
    if (order_.empty()) return;
    const auto id = any_job();
    auto& model = jobs_[id];
    const auto stored = queue.put_step({{id}, model.lease, model.owner},
                                       {"k" + std::to_string(next_step_++), "h", 1});
    REQUIRE(stored.has_value() == (model.state == JobState::Running));
    if (stored.has_value()) ++model.steps;
  }

  void rescue_some() {
    const auto live = any_instance();
    if (dice(2) == 0) reopen();
    REQUIRE(queue.rescue(live, true).has_value());
    for (auto& [id, model] : jobs_) {
      if (model.state != JobState::Running || model.owner == live) continue;
      ++model.crashes;
      model.state = model.cancel_requested               ? JobState::Cancelled
                    : model.crashes >= model.max_crashes ? JobState::Dead
                                                         : JobState::Ready;
      leave(model);
    }
  }

  void know_other_kinds() {
    known = {{.kind = "tag"}};
    if (dice(2) == 0) known.push_back({.kind = "rare"});
  }

  void compare() {
    int live = 0;
    for (const auto& [id, model] : jobs_) {
      const auto job = get({id});
      INFO(id);
      REQUIRE(name(job.state) == name(model.state));
      REQUIRE(job.attempts == model.attempts);
      REQUIRE(job.crashes == model.crashes);
      REQUIRE(job.interruptions == model.interruptions);
      REQUIRE(job.lease == model.lease);
      REQUIRE(job.leased_by == model.owner);
      REQUIRE(job.cancel_requested == model.cancel_requested);
      REQUIRE(job.finished_at.has_value() == !model.is_live());
      REQUIRE(queue.count_steps({id}).value() == model.steps);
      live += model.is_live() ? 1 : 0;
    }
    REQUIRE(queue.count_live().value() == live);
  }

  SeededRandom dice_;
  std::map<std::string, ModelJob> jobs_;
  std::vector<std::string> order_;
  int next_step_ = 0;
};

}  // namespace

TEST_CASE("random sequences of queue operations do what the model says", "[jobs][E1]") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    QueueModel model(seed);
    for (int i = 0; i < 120; ++i) model.step();
  }
}

}  // namespace indx
