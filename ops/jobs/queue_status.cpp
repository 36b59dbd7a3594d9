#include "jobs/job_state.hpp"
#include "ops/context.hpp"
#include "ops/jobs/queue_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace queue_status_op {

struct Input {};
struct Output {
  std::vector<JobCountView> counts;
  std::vector<JobPauseView> pauses;
  std::optional<std::string> oldest_ready;
  double waits_seconds = 0;
  int running = 0, runners = 0, stuck_handlers = 0;
};

Result<Output> run(Context& ctx, const Input&) {
  const QueueStatus status = INDX_TRY(ctx.jobs().status());
  Output out;
  for (const JobCount& row : status.counts)
    if (row.count > 0) out.counts.push_back({row.kind, std::string(name(row.state)), row.count});
  out.pauses = view_pauses(status);
  if (status.oldest_ready) {
    out.oldest_ready = format_time(*status.oldest_ready);
    const auto waits = ctx.clock().now() - *status.oldest_ready;
    out.waits_seconds = std::max(0.0, std::chrono::duration<double>(waits).count());
  }
  out.running = status.running;
  out.runners = status.runners;
  out.stuck_handlers = status.stuck_handlers;
  return out;
}

}  // namespace queue_status_op

Operation queue_status() {
  using namespace queue_status_op;
  return define<Input, Output>({
      .name = "queue_status",
      .summary = "Show the queue of all jobs: counts, pauses, and how long jobs wait.",
      .guidance = "Ask it when jobs do not start: a pause, busy runners or stuck handlers are "
                  "seen here. job_list shows the jobs themselves.",
      .scopes = {Scope::VaultAdmin},
      .route = {"GET", "/v1/queue"},
      .is_idempotent = true,
      .tool_group = "vault_lists",
      .output = {field("counts", &Output::counts, "Jobs by kind and state, finished ones too."),
                 field("pauses", &Output::pauses, "What holds jobs back."),
                 field("oldest_ready", &Output::oldest_ready,
                       "When the ready job became due that waits longest, ISO 8601; null: none.",
                       nullable),
                 field("waits_seconds", &Output::waits_seconds, "How long that job waits."),
                 field("running", &Output::running, "Jobs that run in this process."),
                 field("runners", &Output::runners, "How many may run at once."),
                 field("stuck_handlers", &Output::stuck_handlers,
                       "Tries that ignore their time limit; more than 0 is unhealthy.")},
      .list = "counts",
      .failures = {{Reason::Forbidden, "You are no admin."}},
      .handler = run,
  });
}

}  // namespace indx
