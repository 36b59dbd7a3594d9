#pragma once
#include "jobs/job_state.hpp"
#include "ops/jobs.hpp"
#include "ops/operation.hpp"
#include "ops/principal.hpp"
#include "tests/support/fake_clock.hpp"

#include <algorithm>
#include <map>

namespace indx {

/// What a FakeJobs knows beside the jobs.
struct FakeQueue {
  std::map<std::string, std::vector<JobFault>> faults;  ///< by job
  std::map<std::string, std::vector<JobWrite>> writes;  ///< by job
  std::vector<Event> events;
  std::vector<JobPause> pauses;
  std::map<std::string, Schedule> schedules;
  std::map<std::string, std::vector<ScheduleSlot>> slots;  ///< by schedule, newest first
  QueueStatus status;                                      ///< but for counts and pauses
};

/// Jobs in memory, as one caller sees them. Nothing runs.
class FakeJobs : public Jobs {
 public:
  FakeJobs(std::vector<Job>& jobs, FakeQueue& queue, const Principal& principal,
           const FakeClock& clock)
      : jobs_(jobs), queue_(queue), principal_(principal), clock_(clock) {}

  Result<JobPage> list(const JobFilter& filter, int limit, const std::string&) override {
    JobPage page;
    for (const Job* job : taken(filter))
      if (page.jobs.size() < static_cast<std::size_t>(limit)) page.jobs.push_back(*job);
    return page;
  }
  Result<Job> get(const JobId& id) override {
    const Job* job = INDX_TRY(find(id));
    return *job;
  }
  Result<std::vector<Job>> children(const JobId& id) override {
    INDX_TRY(find(id));
    std::vector<Job> children;
    for (const Job& job : jobs_)
      if (job.parent == id.value) children.push_back(job);
    return children;
  }
  Result<std::vector<JobFault>> faults(const JobId& id) override {
    INDX_TRY(find(id));
    return queue_.faults[id.value];
  }
  Result<Page<Event>> events(const JobId& id, int limit, const std::string& cursor) override {
    INDX_TRY(find(id));
    Page<Event> page;
    for (const Event& event : queue_.events) {
      if (event.job_id != id.value || (!cursor.empty() && event.id <= std::stoll(cursor))) continue;
      if (page.rows.size() == static_cast<std::size_t>(limit)) {
        page.next_cursor = std::to_string(page.rows.back().id);
        break;
      }
      page.rows.push_back(event);
    }
    return page;
  }
  std::string event_epoch() const override { return "e"; }
  Result<std::vector<JobWrite>> writes(const JobId& id) override {
    INDX_TRY(find(id));
    return queue_.writes[id.value];
  }

  Result<Job> cancel(const JobId& id) override {
    Job* job = INDX_TRY(find(id));
    if (!job->is_final()) job->cancel_requested = true;
    return *job;
  }
  Result<Job> pause(const JobId& id) override {
    Job* job = INDX_TRY(find(id));
    if (job->is_final()) return make_error(Reason::Conflict, "It is finished.");
    if (job->state == JobState::Running)
      job->pause_requested = true;
    else
      job->state = JobState::Paused;
    return *job;
  }
  Result<Job> resume(const JobId& id) override {
    Job* job = INDX_TRY(find(id));
    if (job->state == JobState::Paused) job->state = JobState::Scheduled;
    job->pause_requested = false;
    return *job;
  }
  Result<Job> retry(const JobId& id) override {
    Job* job = INDX_TRY(find(id));
    const auto state = next_state(job->state, JobEvent::Redrive);
    if (!state) return make_error(Reason::Conflict, "It did not fail.");
    job->state = *state;
    return *job;
  }
  Result<std::vector<Job>> redrive(const JobFilter& filter, milliseconds spread, int limit,
                                   bool is_trial) override {
    std::vector<Job> redriven;
    for (Job* job : taken(filter)) {
      const auto state = next_state(job->state, JobEvent::Redrive);
      if (!state || redriven.size() == static_cast<std::size_t>(limit)) continue;
      if (!is_trial) {
        job->state = *state;
        job->run_at = clock_.now() + spread;
      }
      redriven.push_back(*job);
    }
    return redriven;
  }

  Result<QueueStatus> status() override {
    QueueStatus status = queue_.status;
    std::map<std::pair<std::string, JobState>, std::int64_t> counts;
    for (const Job& job : jobs_) ++counts[{job.kind, job.state}];
    for (const auto& [key, count] : counts) status.counts.push_back({key.first, key.second, count});
    status.pauses = queue_.pauses;
    return status;
  }
  Status pause_kind(const std::string& what) override {
    queue_.pauses.push_back({what, principal_.subject, clock_.now()});
    return {};
  }
  Status resume_kind(const std::string& what) override {
    std::erase_if(queue_.pauses, [&](const JobPause& pause) { return pause.what == what; });
    return {};
  }

  const Operation* operation_of(const std::string& kind) const override {
    static const Registry kRegistry = make_registry();
    return kRegistry.find(kind);
  }
  Result<std::vector<Schedule>> schedules() override {
    std::vector<Schedule> all;
    for (const auto& [name, schedule] : queue_.schedules) all.push_back(schedule);
    return all;
  }
  Result<std::vector<ScheduleSlot>> slots(const std::string& schedule, int limit) override {
    auto all = queue_.slots[schedule];
    all.resize(std::min(all.size(), static_cast<std::size_t>(limit)));
    return all;
  }
  Result<Schedule> set_schedule(const Schedule& schedule) override {
    return queue_.schedules.insert_or_assign(schedule.name, schedule).first->second;
  }
  Result<bool> delete_schedule(const std::string& name) override {
    const auto it = queue_.schedules.find(name);
    if (it == queue_.schedules.end()) return false;
    if (it->second.is_builtin) return make_error(Reason::Forbidden, "It is built in.");
    queue_.schedules.erase(it);
    return true;
  }

 private:
  bool may_see(const Job& job) const {
    return job.owner.subject == principal_.subject || principal_.has(Scope::VaultAdmin);
  }
  Result<Job*> find(const JobId& id) {
    for (Job& job : jobs_)
      if (job.id == id && may_see(job)) return &job;
    return not_found("no job");
  }
  std::vector<Job*> taken(const JobFilter& filter) {
    std::vector<Job*> taken;
    for (Job& job : jobs_) {
      const auto& states = filter.states;
      const bool fits =
          (states.empty() || std::find(states.begin(), states.end(), job.state) != states.end()) &&
          (filter.kind.empty() || job.kind == filter.kind) &&
          (filter.subject.empty() || job.owner.subject == filter.subject) &&
          (filter.parent.empty() || job.parent == filter.parent);
      if (fits && may_see(job)) taken.push_back(&job);
    }
    return taken;
  }

  std::vector<Job>& jobs_;
  FakeQueue& queue_;
  const Principal& principal_;
  const FakeClock& clock_;
};

}  // namespace indx
