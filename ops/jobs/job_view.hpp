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

/// A record in a list: without its result, which may be large; job_get has it.
JsonObject view_listed_job(const Job& job);
std::vector<JsonObject> view_listed_jobs(const std::vector<Job>& jobs);

template <typename Struct>
Field<Struct> job_id_field(std::string Struct::*member) {
  return field("id", member, "Id of the job.", length(1, 64));
}

}  // namespace indx
