#include "ops/jobs/job_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace job_resume_op {

struct Input {
  std::string id;
};
struct Output {
  JsonObject job;
};

Result<Output> run(Context& ctx, const Input& in) {
  const Job job = INDX_TRY(ctx.jobs().resume(JobId{in.id}));
  return Output{JsonObject{to_json(job)}};
}

}  // namespace job_resume_op

Operation job_resume() {
  using namespace job_resume_op;
  return define<Input, Output>({
      .name = "job_resume",
      .summary = "Let a paused job go on where it was.",
      .guidance = "A job that is not paused stays as it is. A pause of its kind or of all jobs "
                  "still holds it back: queue_status shows those. A job that failed wants "
                  "job_retry.",
      .scopes = {Scope::VaultRead},
      .route = {"POST", "/v1/jobs/{id}/resume"},
      .cli_positional = {"id"},
      .example = "01JQ3V0F8Y4T2XK8M6N1ZB5C7D",
      .effect = Effect::Writes,
      .is_idempotent = true,
      .tool_group = "job_manage",
      .input = {job_id_field(&Input::id)},
      .output = {field("job", &Output::job, "The record as it is now.")},
      .failures = {{Reason::NotFound, "You have no job with that id."}},
      .handler = run,
  });
}

}  // namespace indx
