#include "base/text.hpp"
#include "ops/jobs.hpp"
#include "ops/jobs/job_view.hpp"
#include "ops/operations.hpp"
#include "ops/versions.hpp"

namespace indx {

Result<Job> find_job(Context& ctx, const std::string& id) {
  auto job = ctx.jobs().get(JobId{id});
  const bool is_missing = !job && job.error().reason == Reason::NotFound;
  if (!job && !is_missing) return job;
  const Principal& principal = ctx.principal();
  if (is_missing || (job->owner.subject != principal.subject && !principal.has(Scope::VaultAdmin)))
    return not_found(cat("No job has the id `", id, "`; job_list shows yours."), Json{{"id", id}});
  return job;
}

namespace job_get_op {

struct Input {
  std::string id;
};
struct Output {
  JsonObject job;
};

Result<Output> run(Context& ctx, const Input& in) {
  const Job job = INDX_TRY(find_job(ctx, in.id));
  Json record = to_json(job);
  record["reverted_by"] = INDX_TRY(ctx.versions().reverted_by(job.id));
  return Output{JsonObject{std::move(record)}};
}

}  // namespace job_get_op

Operation job_get() {
  using namespace job_get_op;
  return define<Input, Output>({
      .name = "job_get",
      .summary = "Show a job: state, progress, result.",
      .guidance = "Poll it every few seconds, or follow `/v1/jobs/{id}/events`.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/jobs/{id}"},
      .cli_positional = {"id"},
      .example = "01JQ3V0F8Y4T2XK8M6N1ZB5C7D",
      .is_idempotent = true,
      .input = {job_id_field(&Input::id)},
      .output = {field("job", &Output::job, "The record.")},
      .failures = {{Reason::NotFound, "You have no job with that id."}},
      .handler = run,
  });
}

}  // namespace indx
