#include "ops/context.hpp"
#include "ops/jobs/queue_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace queue_resume_op {

struct Output {
  std::vector<JobPauseView> pauses;
};

Result<Output> run(Context& ctx, const QueuePauseInput& in) {
  INDX_TRY(ctx.jobs().resume_kind(in.what()));
  const QueueStatus status = INDX_TRY(ctx.jobs().status());
  return Output{view_pauses(status)};
}

}  // namespace queue_resume_op

Operation queue_resume() {
  using namespace queue_resume_op;
  return define<QueuePauseInput, Output>({
      .name = "queue_resume",
      .summary = "Let jobs start again that queue_pause holds back.",
      .guidance = "A pause of all jobs and a pause of one kind are taken back apart. What is not "
                  "paused stays so.",
      .scopes = {Scope::VaultAdmin},
      .route = {"POST", "/v1/queue/resume"},
      .example = "--kind ai_tag",
      .effect = Effect::Writes,
      .is_idempotent = true,
      .tool_group = "job_manage",
      .input = QueuePauseInput::fields(
          "Operation whose jobs may start; left out: the pause of all jobs."),
      .output = {field("pauses", &Output::pauses, "What holds jobs back now.")},
      .list = "pauses",
      .failures = {{Reason::Forbidden, "You are no admin."}},
      .handler = run,
  });
}

}  // namespace indx
