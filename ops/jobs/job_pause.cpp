#include "ops/jobs/job_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace job_pause_op {

struct Input {
  std::string id;
};
struct Output {
  JsonObject job;
};

Result<Output> run(Context& ctx, const Input& in) {
  const Job job = INDX_TRY(ctx.jobs().pause(JobId{in.id}));
  return Output{JsonObject{to_json(job)}};
}

}  // namespace job_pause_op

Operation job_pause() {
  using namespace job_pause_op;
  return define<Input, Output>({
      .name = "job_pause",
      .summary = "Hold a job back until it is resumed, over restarts too.",
      .guidance = "A job that runs stops after the notes it works on and later goes on behind "
                  "them. Nothing is lost, and no try is counted. job_resume takes it back; "
                  "job_cancel ends a job for good.",
      .scopes = {Scope::VaultRead},
      .route = {"POST", "/v1/jobs/{id}/pause"},
      .cli_positional = {"id"},
      .example = "01JQ3V0F8Y4T2XK8M6N1ZB5C7D",
      .effect = Effect::Writes,
      .is_idempotent = true,
      .tool_group = "job_manage",
      .input = {job_id_field(&Input::id)},
      .output = {field("job", &Output::job,
                       "The record as it is now; a job that runs is `paused` once it stopped.")},
      .failures = {{Reason::NotFound, "You have no job with that id."},
                   {Reason::Conflict, "The job is finished."}},
      .handler = run,
  });
}

}  // namespace indx
