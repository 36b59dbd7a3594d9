#include "ops/jobs/job_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace job_cancel_op {

struct Input {
  std::string id;
};
struct Output {
  JsonObject job;
};

Result<Output> run(Context& ctx, const Input& in) {
  const Job job = INDX_TRY(ctx.jobs().cancel(JobId{in.id}));
  return Output{JsonObject{to_json(job)}};
}

}  // namespace job_cancel_op

Operation job_cancel() {
  using namespace job_cancel_op;
  return define<Input, Output>({
      .name = "job_cancel",
      .summary = "Ask a job to stop after the note it works on.",
      .guidance = "What was written stays written. A finished job stays as it is. job_pause stops "
                  "one for a while only; job_retry starts a cancelled one again.",
      .scopes = {Scope::VaultRead},
      .route = {"POST", "/v1/jobs/{id}/cancel"},
      .cli_positional = {"id"},
      .example = "01JQ3V0F8Y4T2XK8M6N1ZB5C7D",
      .effect = Effect::Writes,
      .is_idempotent = true,
      .tool_group = "job_manage",
      .input = {job_id_field(&Input::id)},
      .output = {field("job", &Output::job,
                       "The record as it is now; `cancel_requested` until it stopped.")},
      .failures = {{Reason::NotFound, "You have no job with that id."}},
      .handler = run,
  });
}

}  // namespace indx
