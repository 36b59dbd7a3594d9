#include "ops/jobs/job_view.hpp"

#include "jobs/job_state.hpp"

namespace indx {

Fields<JobFaultView> JobFaultView::fields() {
  return {field("what", &JobFaultView::what, "How the try ended.",
                one_of({"failed", "crashed", "timed_out", "snoozed"})),
          field("lease", &JobFaultView::lease, "Number of the try."),
          field("error", &JobFaultView::error, "`{code, message, details}`."),
          field("at", &JobFaultView::at, "When, ISO 8601.")};
}

std::vector<JobState> parse_states(const std::vector<std::string>& names) {
  std::vector<JobState> states;
  for (const auto& name : names)
    if (const auto state = parse_job_state(name)) states.push_back(*state);
  return states;
}

std::vector<JsonObject> view_listed_jobs(const std::vector<Job>& jobs) {
  std::vector<JsonObject> records;
  records.reserve(jobs.size());
  for (const Job& job : jobs) {
    Json record = to_json(job);
    record.erase("result");
    records.push_back({std::move(record)});
  }
  return records;
}

}  // namespace indx
