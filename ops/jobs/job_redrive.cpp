#include "ops/jobs/job_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace job_redrive_op {

struct Input {
  std::vector<std::string> state;
  std::string kind;
  int limit = 100;
  int spread_seconds = 60;
  bool dry_run = false;
};
struct Output {
  std::vector<JsonObject> jobs;
  bool dry_run = false;
};

Result<Output> run(Context& ctx, const Input& in) {
  JobFilter filter;
  filter.states = parse_states(in.state);
  if (filter.states.empty()) filter.states = {JobState::Dead, JobState::Failed};
  filter.kind = in.kind;
  const auto jobs = INDX_TRY(
      ctx.jobs().redrive(filter, std::chrono::seconds(in.spread_seconds), in.limit, in.dry_run));
  return Output{view_listed_jobs(jobs), in.dry_run};
}

}  // namespace job_redrive_op

Operation job_redrive() {
  using namespace job_redrive_op;
  return define<Input, Output>({
      .name = "job_redrive",
      .summary = "Start many failed, dead or cancelled jobs again, spread over a time.",
      .guidance = "For after a provider or a disk was away. See with `dry_run` which jobs it would "
                  "take. Takes your jobs, for an admin those of all; the oldest first. For one job "
                  "use job_retry.",
      .scopes = {Scope::VaultRead},
      .route = {"POST", "/v1/jobs/redrive"},
      .example = "--state dead --kind ai_tag --dry-run",
      .effect = Effect::Writes,
      .tool_group = "job_manage",
      .input = {field("state", &Input::state,
                      "Only jobs in one of these states; left out: dead and failed.", optional,
                      one_of({"dead", "failed", "cancelled"})),
                field("kind", &Input::kind, "Only jobs of this operation.", optional,
                      length(0, 64)),
                field("limit", &Input::limit, "Most jobs to take.", between(1, 1000), optional),
                field("spread_seconds", &Input::spread_seconds,
                      "They start at moments spread over this many seconds.", between(0, 86400),
                      optional),
                field("dry_run", &Input::dry_run, "List what it would take; change nothing.",
                      optional)},
      .output = {field("jobs", &Output::jobs,
                       "Records of the jobs that it took, or would take, without results."),
                 field("dry_run", &Output::dry_run, "True: nothing was changed.")},
      .list = "jobs",
      .failures = {{Reason::Forbidden, "One of the jobs may do more than you; none was taken."}},
      .handler = run,
  });
}

}  // namespace indx
