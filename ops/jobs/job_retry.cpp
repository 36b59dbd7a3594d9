#include "ops/jobs/job_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace job_retry_op {

struct Input {
  std::string id;
};
struct Output {
  JsonObject job;
};

Result<Output> run(Context& ctx, const Input& in) {
  const Job job = INDX_TRY(ctx.jobs().retry(JobId{in.id}));
  return Output{JsonObject{to_json(job)}};
}

}  // namespace job_retry_op

Operation job_retry() {
  using namespace job_retry_op;
  return define<Input, Output>({
      .name = "job_retry",
      .summary = "Start a failed, dead or cancelled job again, now.",
      .guidance =
          "It has all its tries again. A job that failed goes on behind the steps that it had "
          "finished, for a week; its old errors stay in job_get. For many jobs use "
          "job_redrive.",
      .scopes = {Scope::VaultRead},
      .route = {"POST", "/v1/jobs/{id}/retry"},
      .cli_positional = {"id"},
      .example = "01JQ3V0F8Y4T2XK8M6N1ZB5C7D",
      .effect = Effect::Writes,
      .tool_group = "job_manage",
      .input = {job_id_field(&Input::id)},
      .output = {field("job", &Output::job, "The record as it is now.")},
      .failures = {{Reason::NotFound, "You have no job with that id."},
                   {Reason::Conflict,
                    "The job is live or succeeded, or another live job has its unique key."},
                   {Reason::Forbidden, "The job may do more than you."}},
      .handler = run,
  });
}

}  // namespace indx
