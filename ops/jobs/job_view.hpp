#pragma once
#include "ops/context.hpp"
#include "ops/define.hpp"
#include "ops/jobs.hpp"

namespace indx {

/// An error that ended a try of a job.
struct JobFaultView {
  std::string what;
  std::int64_t lease = 0;
  JsonObject error;
  std::string at;
  static Fields<JobFaultView> fields();
};

/// Names of states, which the schema has checked.
std::vector<JobState> parse_states(const std::vector<std::string>& names);

/// Records in a list: without their results, which may be large; job_get has them.
std::vector<JsonObject> view_listed_jobs(const std::vector<Job>& jobs);

template <typename Struct>
Field<Struct> job_id_field(std::string Struct::*member) {
  return field("id", member, "Id of the job.", length(1, 64));
}

}  // namespace indx
