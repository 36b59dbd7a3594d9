#include "ops/jobs/job_view.hpp"

namespace indx {

Fields<JobFaultView> JobFaultView::fields() {
  return {field("what", &JobFaultView::what, "How the try ended.",
                one_of({"failed", "crashed", "timed_out"})),
          field("lease", &JobFaultView::lease, "Number of the try."),
          field("error", &JobFaultView::error, "`{code, message, details}`."),
          field("at", &JobFaultView::at, "When, ISO 8601.")};
}

JsonObject view_listed_job(const Job& job) {
  Json record = to_json(job);
  record.erase("result");
  return {std::move(record)};
}

std::vector<JsonObject> view_listed_jobs(const std::vector<Job>& jobs) {
  std::vector<JsonObject> records;
  records.reserve(jobs.size());
  for (const Job& job : jobs) records.push_back(view_listed_job(job));
  return records;
}

}  // namespace indx
