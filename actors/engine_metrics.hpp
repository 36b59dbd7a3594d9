#pragma once
#include "actors/core.hpp"

#include <chrono>
#include <vector>

namespace indx {

/// Counts what the events of one commit say about jobs.
void count_job_events(Parts& parts, const std::vector<Event>& events);
/// Counts one commit of state.db by the results of its changes.
void count_commit(Metrics& metrics, const std::vector<Result<Json>>& results,
                  std::chrono::nanoseconds took);
void count_model_call(Metrics& metrics, const std::string& provider,
                      const Result<GenerateReply>& reply);

/// Measures one try of a job: how long it waited, when made; how long it ran, when destroyed.
class JobTiming {
 public:
  JobTiming(Parts& parts, const Job& job);
  ~JobTiming();
  JobTiming(const JobTiming&) = delete;
  JobTiming& operator=(const JobTiming&) = delete;

 private:
  Parts& parts_;
  const std::string kind_;
  const std::chrono::nanoseconds began_;
};

/// Looks up what is not counted as it happens: jobs by state, logs, memory, lag.
Status refresh_engine_metrics(Core& core);

}  // namespace indx
