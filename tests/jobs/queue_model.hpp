#pragma once
#include "jobs/job_state.hpp"
#include "tests/jobs/queue_fixture.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace indx {

/// What the queue should know of a job, kept without SQL.
struct ModelJob {
  JobState state = JobState::Ready;
  int priority = 0;
  std::string kind, unique_key, limit_key, parent;
  Timestamp run_at, leased_at, finished_at;
  std::int64_t lease = 0;
  std::string owner;
  int input = 0;
  std::optional<int> again;
  int attempts = 0, crashes = 0, interruptions = 0, max_attempts = 1, max_crashes = 1;
  int snoozes = 0;
  bool has_stored_step = false;  ///< its try
  bool cancel_requested = false, pause_requested = false;
  int steps = 0;

  bool is_live() const { return !is_final(state); }
  bool has_failed() const { return !is_live() && state != JobState::Succeeded; }
  bool has_last_chance() const { return crashes > 0 && crashes + 1 >= max_crashes; }
  std::int64_t urgency() const { return to_millis(run_at) - std::int64_t{priority} * 60000; }
};

/// Random operations on a queue and the same ones on plain values; after each, both must agree.
class QueueModel : public QueueFixture {
 public:
  explicit QueueModel(std::uint64_t seed) : dice_(seed) {}

  void step() {
    switch (dice(20)) {
      case 0:
      case 1:
      case 2:
        enqueue("");
        break;
      case 3:
      case 4:
      case 5:
      case 6:
        claim_some();
        break;
      case 7:
      case 8:
      case 9:
      case 10:
        finish_one();
        break;
      case 11:
        cancel_one();
        break;
      case 12:
        store_step();
        break;
      case 13:
        rescue_some();
        break;
      case 14:
        clock.advance(milliseconds(dice(4000)));
        break;
      case 15:
        know_other_kinds();
        break;
      case 16:
        dice(2) == 0 ? pause_one() : resume_one();
        break;
      case 17:
        pause_some();
        break;
      case 18:
        add_child();
        break;
      default:
        retry_one();
    }
    compare();
  }

 private:
  std::size_t dice(std::size_t sides) { return dice_.next() % sides; }
  std::string any_instance() { return dice(2) == 0 ? "a" : "b"; }
  const std::string& any_job() { return order_[dice(order_.size())]; }

  std::string live_twin(const std::string& kind, const std::string& key) const {
    for (const auto& [id, job] : jobs_)
      if (!key.empty() && job.kind == kind && job.unique_key == key && job.is_live()) return id;
    return "";
  }
  std::vector<std::string> live_children(const std::string& parent) const {
    std::vector<std::string> children;
    for (const auto& id : order_)
      if (jobs_.at(id).parent == parent && jobs_.at(id).is_live()) children.push_back(id);
    return children;
  }

  void enqueue(const std::string& parent) {
    constexpr OnDuplicate kChoices[] = {OnDuplicate::Reject, OnDuplicate::Join,
                                        OnDuplicate::Replace, OnDuplicate::RunAgain};
    auto asked = request();
    asked.kind = dice(4) == 0 ? "rare" : "tag";
    asked.input = static_cast<int>(dice(3));
    asked.priority = static_cast<int>(dice(3));
    asked.max_attempts = 1 + static_cast<int>(dice(3));
    asked.max_crashes = 1 + static_cast<int>(dice(3));
    asked.parent = parent;
    asked.on_duplicate = kChoices[dice(4)];
    if (dice(4) == 0) asked.unique_key = "u";
    if (dice(4) == 0) asked.limit_key = "l", asked.limit_running = 1;
    if (dice(4) == 0) asked.run_at = clock.now() + milliseconds(dice(5000));
    const auto twin = live_twin(asked.kind, asked.unique_key);
    const auto made = queue.enqueue(asked);
    if (!twin.empty()) return meet_twin(jobs_[twin], asked, made);
    REQUIRE(made.value().is_new);
    remember(made->job);
  }

  void meet_twin(ModelJob& twin, const JobRequest& asked, const Result<JobStore::Enqueued>& made) {
    if (asked.on_duplicate == OnDuplicate::Reject) {
      REQUIRE(made.error().reason == Reason::Conflict);
      return;
    }
    REQUIRE_FALSE(made.value().is_new);
    const int input = asked.input.get<int>();
    if (asked.on_duplicate == OnDuplicate::Join || (twin.lease == 0 && twin.input == input)) return;
    if (asked.on_duplicate == OnDuplicate::Replace && twin.state != JobState::Running)
      twin.input = input;
    else
      twin.again = input;
  }

  void remember(const Job& job) {
    order_.push_back(job.id.value);
    jobs_[job.id.value] = {
        .state = job.run_at > clock.now() ? JobState::Scheduled : JobState::Ready,
        .priority = job.priority,
        .kind = job.kind,
        .unique_key = job.unique_key,
        .limit_key = job.limit_key,
        .parent = job.parent,
        .run_at = job.run_at,
        .leased_at = {},
        .finished_at = {},
        .owner = {},
        .input = job.input.get<int>(),
        .again = std::nullopt,
        .max_attempts = job.max_attempts,
        .max_crashes = job.max_crashes};
  }

  bool knows(const ModelJob& job) const {
    return std::any_of(known.begin(), known.end(),
                       [&](const auto& kind) { return kind.kind == job.kind; });
  }
  int max_running(const std::string& kind) const {
    for (const auto& one : known)
      if (one.kind == kind) return one.max_running;
    return 0;
  }
  bool is_short(const std::string& kind) const {
    return std::any_of(known.begin(), known.end(),
                       [&](const auto& one) { return one.kind == kind && one.is_short; });
  }
  int running(const std::function<bool(const ModelJob&)>& counts) const {
    return static_cast<int>(std::count_if(jobs_.begin(), jobs_.end(), [&](const auto& item) {
      return item.second.state == JobState::Running && counts(item.second);
    }));
  }

  bool may_run(const ModelJob& job) const {
    if (job.state != JobState::Ready || paused_.contains("*") || paused_.contains(job.kind))
      return false;
    const int most = max_running(job.kind);
    if (most > 0 && running([&](const ModelJob& other) { return other.kind == job.kind; }) >= most)
      return false;
    if (!job.limit_key.empty() &&
        running([&](const ModelJob& other) { return other.limit_key == job.limit_key; }) >= 1)
      return false;
    return !job.has_last_chance() ||
           running([](const ModelJob& other) { return other.has_last_chance(); }) == 0;
  }

  void claim_some() {
    for (auto& [id, job] : jobs_) {
      const bool waits_for_time =
          job.state == JobState::Scheduled || job.state == JobState::Sleeping;
      if (waits_for_time && job.run_at <= clock.now()) job.state = JobState::Ready;
      if (job.state == JobState::Unsupported && knows(job)) job.state = JobState::Ready;
      if (job.state == JobState::Ready && !knows(job)) job.state = JobState::Unsupported;
    }
    const auto instance = any_instance();
    const int count = 1 + static_cast<int>(dice(3));
    const int ahead = static_cast<int>(dice(3));
    for (auto& kind : known) kind.is_short = dice(2) == 0;
    std::vector<std::string> expected;
    while (static_cast<int>(expected.size()) < count + ahead) {
      std::string best;
      for (const auto& id : order_)
        if (may_run(jobs_[id]) && (best.empty() || jobs_[id].urgency() < jobs_[best].urgency()))
          best = id;
      if (best.empty()) break;
      auto& model = jobs_[best];
      const bool is_ahead = static_cast<int>(expected.size()) >= count;
      if (is_ahead && (model.crashes > 0 || !is_short(model.kind))) break;
      model.state = JobState::Running;
      model.owner = instance;
      model.leased_at = clock.now();
      model.has_stored_step = false;
      ++model.lease;
      expected.push_back(best);
    }
    std::vector<std::string> claimed;
    for (const auto& job : queue.claim(instance, known, count, {}, ahead).value())
      claimed.push_back(job.id.value);
    REQUIRE(claimed == expected);
  }

  JobOutcome any_outcome() {
    switch (dice(10)) {
      case 0:
        return failure(Reason::Unavailable);
      case 1:
        return failure(Reason::NotFound);
      case 2:
        return returned();
      case 3:
        return {.kind = JobOutcome::Kind::Cancelled};
      case 4:
        return {.kind = JobOutcome::Kind::Sleeping,
                .wake_at = clock.now() + milliseconds(dice(3000))};
      case 5:
        return {.kind = JobOutcome::Kind::Waiting};
      case 6:
        return {.kind = JobOutcome::Kind::TimedOut,
                .error = make_error(Reason::Timeout, "too long")};
      case 7:
      case 8:
        return {.kind = JobOutcome::Kind::Snoozed,
                .error = make_error(Reason::AiProviderError, "busy"),
                .retry_after = milliseconds(dice(4) == 0 ? kLongestSnooze.count() + 1 : 0)};
      default:
        return success();
    }
  }

  void finish_one() {
    if (order_.empty()) return;
    const auto id = any_job();
    auto& model = jobs_[id];
    const bool is_stale = model.state != JobState::Running || dice(6) == 0;
    const Lease lease{{id},
                      is_stale && model.state == JobState::Running ? model.lease - 1 : model.lease,
                      model.owner};
    if (dice(8) == 0) return put_back(model, lease, is_stale);
    const auto outcome = any_outcome();
    if (outcome.kind == JobOutcome::Kind::Succeeded && dice(2) == 0) {
      const bool is_plain =
          model.steps == 0 && model.parent.empty() && !model.again && live_children(id).empty();
      REQUIRE(queue.succeed(lease, Json()).value() == (is_plain && !is_stale));
      if (is_plain && !is_stale) {
        model.state = JobState::Succeeded;
        return settle(id, {});
      }
    }
    const auto ended = queue.finish(lease, outcome, known);
    if (is_stale) {
      REQUIRE(ended.error().reason == Reason::StaleLease);
      return;
    }
    const bool pauses = model.pause_requested;
    end_try(id, outcome);
    auto& after = jobs_[id];
    if (pauses && after.is_live()) after.state = JobState::Paused;
    after.run_at = ended->job.run_at;
    settle(id, ended->others);
  }

  void put_back(ModelJob& model, const Lease& lease, bool is_stale) {
    const bool is_free = !is_stale && !model.cancel_requested && !model.pause_requested;
    REQUIRE(queue.put_back(lease).value() == is_free);
    if (!is_free) return;
    model.state = JobState::Ready;
    model.owner.clear();
  }

  void end_try(const std::string& id, const JobOutcome& outcome) {
    using Kind = JobOutcome::Kind;
    auto& model = jobs_[id];
    const bool is_timeout = outcome.kind == Kind::TimedOut;
    const bool is_snooze = outcome.kind == Kind::Snoozed;
    if (is_snooze && !model.cancel_requested && model.has_stored_step) model.snoozes = 0;
    const bool is_granted =
        is_snooze && model.snoozes < kMaxSnoozes && *outcome.retry_after <= kLongestSnooze;
    const bool retryable = is_timeout || (is_snooze && !is_granted && !model.cancel_requested) ||
                           (outcome.kind == Kind::Failed && outcome.error->is_retryable());
    const bool is_mistake = outcome.kind == Kind::Failed && !retryable;
    if (retryable) ++model.attempts;
    if (outcome.kind == Kind::Returned && !model.pause_requested && !model.cancel_requested)
      ++model.interruptions;
    if (outcome.kind == Kind::Succeeded)
      model.state = JobState::Succeeded;
    else if (is_mistake)
      model.state = JobState::Failed;
    else if (outcome.kind == Kind::Cancelled || model.cancel_requested)
      model.state = JobState::Cancelled;
    else if (outcome.kind == Kind::Returned)
      model.state = JobState::Ready;
    else if (outcome.kind == Kind::Sleeping)
      model.state = JobState::Sleeping;
    else if (is_granted)
      ++model.snoozes, model.state = JobState::Sleeping;
    else if (outcome.kind == Kind::Waiting)
      model.state = has_reason_to_wait(id) ? JobState::Waiting : JobState::Ready;
    else
      model.state = model.attempts >= model.max_attempts ? JobState::Dead : JobState::Scheduled;
  }

  bool has_reason_to_wait(const std::string& id) const {
    const auto since = jobs_.at(id).leased_at;
    const bool has_unseen = std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& item) {
      return item.second.parent == id && item.second.has_failed() &&
             item.second.finished_at >= since && item.second.finished_at <= clock.now();
    });
    return !live_children(id).empty() && !has_unseen;
  }

  /// What follows from the end of a try; `others`: where the id of a job comes from that is new.
  void settle(const std::string& id, const std::vector<Job>& others) {
    auto& model = jobs_[id];
    model.owner.clear();
    model.pause_requested = false;
    if (model.is_live()) return;
    model.finished_at = clock.now();
    if (model.state == JobState::Cancelled) model.cancel_requested = true;
    if (model.state == JobState::Cancelled || model.state == JobState::Succeeded) model.steps = 0;
    const auto again = std::exchange(model.again, std::nullopt);
    if (again && model.state != JobState::Cancelled) {
      const auto made = std::find_if(others.begin(), others.end(),
                                     [&](const Job& job) { return !jobs_.contains(job.id.value); });
      REQUIRE(made != others.end());
      REQUIRE(made->input == *again);
      remember(*made);
    }
    for (const auto& child : live_children(id)) cancel(child, others);
    const auto parent = jobs_[id].parent;
    if (parent.empty() || jobs_[parent].state != JobState::Waiting) return;
    if (jobs_[id].has_failed() || live_children(parent).empty())
      jobs_[parent].state = JobState::Ready;
  }

  void cancel(const std::string& id, const std::vector<Job>& others) {
    auto& model = jobs_[id];
    model.cancel_requested = true;
    if (model.state == JobState::Running) return;
    model.state = JobState::Cancelled;
    settle(id, others);
  }

  void cancel_one() {
    if (order_.empty()) return;
    const auto id = any_job();
    const auto ended = queue.request_cancel({id});
    REQUIRE(ended.has_value());
    if (!jobs_[id].is_live()) return;
    cancel(id, ended->others);
    if (!jobs_[id].is_live()) return;
    for (const auto& child : live_children(id)) cancel(child, ended->others);
  }

  void store_step() {
    if (order_.empty()) return;
    const auto id = any_job();
    auto& model = jobs_[id];
    const auto stored = queue.put_step({{id}, model.lease, model.owner},
                                       {"k" + std::to_string(next_step_++), "h", 1});
    REQUIRE(stored.has_value() == (model.state == JobState::Running));
    if (stored.has_value()) ++model.steps, model.has_stored_step = true;
  }

  void rescue_some() {
    const auto live = any_instance();
    if (dice(2) == 0) reopen();
    const bool all_began = dice(2) == 0;
    const auto has_begun = [&](const Lease& lease) { return all_began || lease.generation > 1; };
    const auto changed = queue.rescue(live, true, has_begun);
    REQUIRE(changed.has_value());
    std::vector<std::string> orphans;
    for (const auto& id : order_)
      if (jobs_[id].state == JobState::Running && jobs_[id].owner != live) orphans.push_back(id);
    for (const auto& id : orphans) {
      auto& model = jobs_[id];
      if (all_began || model.lease > 1) ++model.crashes;
      model.state = model.cancel_requested               ? JobState::Cancelled
                    : model.crashes >= model.max_crashes ? JobState::Dead
                    : model.pause_requested              ? JobState::Paused
                                                         : JobState::Ready;
      settle(id, *changed);
    }
  }

  void know_other_kinds() {
    known = {{.kind = "tag", .max_running = static_cast<int>(dice(3))}};
    if (dice(2) == 0) known.push_back({.kind = "rare"});
  }

  void pause_one() {
    if (order_.empty()) return;
    const auto id = any_job();
    auto& model = jobs_[id];
    const auto paused = queue.pause({id});
    REQUIRE(paused.has_value() == model.is_live());
    if (!model.is_live()) return;
    if (model.state == JobState::Running)
      model.pause_requested = true;
    else
      model.state = JobState::Paused;
  }

  void resume_one() {
    if (order_.empty()) return;
    const auto id = any_job();
    auto& model = jobs_[id];
    REQUIRE(queue.resume({id}).has_value());
    model.pause_requested = false;
    if (model.state == JobState::Paused)
      model.state = model.run_at <= clock.now() ? JobState::Ready : JobState::Scheduled;
  }

  void pause_some() {
    const std::string what = dice(3) == 0 ? "*" : dice(2) == 0 ? "tag" : "rare";
    if (paused_.contains(what) || dice(2) == 0) {
      REQUIRE(queue.resume_kind(what).has_value());
      paused_.erase(what);
    } else {
      REQUIRE(queue.pause_kind(what, "tok_1").has_value());
      paused_.insert(what);
    }
  }

  void add_child() {
    for (const auto& id : order_)
      if (jobs_[id].state == JobState::Running && dice(2) == 0) return enqueue(std::string(id));
  }

  void retry_one() {
    if (order_.empty()) return;
    const auto id = any_job();
    auto& model = jobs_[id];
    const bool can = model.has_failed() && live_twin(model.kind, model.unique_key).empty();
    REQUIRE(queue.retry({id}).has_value() == can);
    if (!can) return;
    model.attempts = model.crashes = model.snoozes = 0;
    model.cancel_requested = false;
    model.run_at = clock.now();
    model.state = JobState::Ready;
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
      REQUIRE(job.snoozes == model.snoozes);
      REQUIRE(job.lease == model.lease);
      REQUIRE(job.leased_by == model.owner);
      REQUIRE(job.input == model.input);
      REQUIRE(job.again_input.has_value() == model.again.has_value());
      REQUIRE(job.cancel_requested == model.cancel_requested);
      REQUIRE(job.pause_requested == model.pause_requested);
      REQUIRE(job.finished_at.has_value() == !model.is_live());
      REQUIRE(job.step_count == model.steps);
      live += model.is_live() ? 1 : 0;
    }
    REQUIRE(queue.count_live().value() == live);
  }

  SeededRandom dice_;
  std::map<std::string, ModelJob> jobs_;
  std::vector<std::string> order_;  ///< of arrival
  std::set<std::string> paused_;
  int next_step_ = 0;
};

}  // namespace indx
