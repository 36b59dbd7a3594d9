#include "ops/context.hpp"
#include "ops/jobs/queue_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace queue_pause_op {

struct Output {
  std::vector<JobPauseView> pauses;
};

Result<Output> run(Context& ctx, const QueuePauseInput& in) {
  INDX_TRY(ctx.jobs().pause_kind(in.what()));
  const QueueStatus status = INDX_TRY(ctx.jobs().status());
  return Output{view_pauses(status)};
}

}  // namespace queue_pause_op

Operation queue_pause() {
  using namespace queue_pause_op;
  return define<QueuePauseInput, Output>({
      .name = "queue_pause",
      .summary = "Hold all jobs back, or those of one kind, over restarts too.",
      .guidance = "Jobs that run go on to their end; no other starts until queue_resume. job_pause "
                  "holds one job.",
      .scopes = {Scope::VaultAdmin},
      .route = {"POST", "/v1/queue/pause"},
      .example = "--kind ai_tag",
      .effect = Effect::Writes,
      .is_idempotent = true,
      .tool_group = "job_manage",
      .input = QueuePauseInput::fields("Operation whose jobs wait; left out: all jobs."),
      .output = {field("pauses", &Output::pauses, "What holds jobs back now.")},
      .list = "pauses",
      .failures = {{Reason::ValidationFailed, "No job is of that kind."},
                   {Reason::Forbidden, "You are no admin."}},
      .handler = run,
  });
}

}  // namespace indx
