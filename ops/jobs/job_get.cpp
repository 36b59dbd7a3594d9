#include "ops/jobs/job_view.hpp"
#include "ops/operations.hpp"
#include "ops/versions.hpp"

namespace indx {
namespace job_get_op {

struct Input {
  std::string id;
};
struct Output {
  JsonObject job;
  std::vector<JobFaultView> faults;
  std::vector<JsonObject> children;
};

Result<Output> run(Context& ctx, const Input& in) {
  const Job job = INDX_TRY(ctx.jobs().get(JobId{in.id}));
  const auto faults = INDX_TRY(ctx.jobs().faults(job.id));
  const auto children = INDX_TRY(ctx.jobs().children(job.id));
  Json record = to_json(job);
  record["is_own"] = job.owner.subject == ctx.principal().subject;
  record["reverted_by"] = INDX_TRY(ctx.versions().reverted_by(job.id));
  Output out{{std::move(record)}, {}, view_listed_jobs(children)};
  for (const JobFault& fault : faults)
    out.faults.push_back({fault.what, fault.lease, {fault.error.to_json()}, format_time(fault.at)});
  return out;
}

}  // namespace job_get_op

Operation job_get() {
  using namespace job_get_op;
  return define<Input, Output>({
      .name = "job_get",
      .title = "Look at a job",
      .summary = "Show a job: state, progress, result, errors, children.",
      .guidance = "Poll it every few seconds, or follow `/v1/jobs/{id}/events`. job_events tells "
                  "what happened to it.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/jobs/{id}"},
      .cli_positional = {"id"},
      .example = "01JQ3V0F8Y4T2XK8M6N1ZB5C7D",
      .is_idempotent = true,
      .input = {job_id_field(&Input::id)},
      .output = {field("job", &Output::job, "The record."),
                 field("faults", &Output::faults,
                       "Errors of its tries, oldest first; they stay when it is tried again."),
                 field("children", &Output::children,
                       "Jobs that it made to do parts of its work, without their results.")},
      .failures = {{Reason::NotFound, "You have no job with that id."}},
      .handler = run,
  });
}

}  // namespace indx
