#pragma once
#include "actors/core.hpp"
#include "ops/jobs.hpp"

namespace indx {

/// Jobs, over state.db, for one caller: the caller's own, or all for an admin.
class EngineJobs : public Jobs {
 public:
  EngineJobs(Core& core, Principal principal) : core_(core), principal_(std::move(principal)) {}

  Result<JobPage> list(const JobFilter& filter, int limit, const std::string& cursor) override;
  Result<Job> get(const JobId& id) override;
  Result<std::vector<Job>> children(const JobId& id) override;
  Result<std::vector<JobFault>> faults(const JobId& id) override;
  Result<Page<Event>> events(const JobId& id, int limit, const std::string& cursor) override;
  std::string event_epoch() const override { return core_.parts.event_epoch; }
  Result<std::vector<JobWrite>> writes(const JobId& id) override;

  Result<Job> cancel(const JobId& id) override;
  Result<Job> pause(const JobId& id) override;
  Result<Job> resume(const JobId& id) override;
  Result<Job> retry(const JobId& id) override;
  Result<std::vector<Job>> redrive(const JobFilter& filter, milliseconds spread, int limit,
                                   bool is_trial) override;

  Result<QueueStatus> status() override;
  Status pause_kind(const std::string& what) override;
  Status resume_kind(const std::string& what) override;

  const Operation* operation_of(const std::string& kind) const override {
    return core_.parts.registry.find(kind);
  }
  Result<std::vector<Schedule>> schedules() override;
  Result<std::vector<ScheduleSlot>> slots(const std::string& schedule, int limit) override;
  Result<Schedule> set_schedule(const Schedule& schedule) override;
  Result<bool> delete_schedule(const std::string& schedule) override;

 private:
  bool may_see(const std::string& subject) const;
  Status check_admin(const std::string& act) const;
  /// Whoever may not start such a job may neither stop nor resume one: a caller may be narrowed to
  /// less under the name of its owner.
  Status check_may_stop(const std::string& kind, const Json& input) const;
  Status check_may_stop(const JobId& id);
  Status check_kind(const std::string& what);
  /// nullopt: there is none; `forbidden`: it is another's.
  Result<std::optional<Schedule>> own_schedule(const std::string& schedule);
  /// As for a job of the schedule that there is.
  Status check_may_change(const std::string& schedule);
  ActBy by() const { return {std::string(name(principal_.surface)), principal_.subject}; }

  Core& core_;
  const Principal principal_;
};

}  // namespace indx
