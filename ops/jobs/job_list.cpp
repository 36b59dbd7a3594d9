#include "jobs/job_state.hpp"
#include "ops/jobs/job_view.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace job_list_op {

struct Input {
  std::vector<std::string> state;
  std::string kind, parent;
  int limit = 50;
  std::string cursor;
};
struct Output {
  std::vector<JsonObject> jobs;
  std::optional<std::string> next_cursor;
};

Result<Output> run(Context& ctx, const Input& in) {
  JobFilter filter;
  filter.states = parse_states(in.state);
  filter.kind = in.kind;
  filter.parent = in.parent;
  auto page = INDX_TRY(ctx.jobs().list(filter, in.limit, in.cursor));
  auto records = view_listed_jobs(page.jobs);
  for (std::size_t i = 0; i < records.size(); ++i)
    records[i].value["is_own"] = page.jobs[i].owner.subject == ctx.principal().subject;
  return Output{std::move(records), std::move(page.next_cursor)};
}

}  // namespace job_list_op

Operation job_list() {
  using namespace job_list_op;
  return define<Input, Output>({
      .name = "job_list",
      .summary = "List jobs, newest first.",
      .guidance = "Shows your jobs; an admin sees all. The result of one job is in job_get.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/jobs"},
      .is_idempotent = true,
      .tool_group = "vault_lists",
      .input = {field("state", &Input::state, "Only jobs in one of these states.", optional,
                      one_of(names_of(job_states()))),
                field("kind", &Input::kind, "Only jobs of this operation.", optional,
                      length(0, 64)),
                field("parent", &Input::parent, "Only jobs that the job with this id made.",
                      optional, length(0, 64)),
                limit_field(&Input::limit), cursor_field(&Input::cursor)},
      .output = {field("jobs", &Output::jobs, "Records without their results."),
                 next_cursor_field(&Output::next_cursor)},
      .failures = {{Reason::ValidationFailed, "The cursor is not one of ours."}},
      .handler = run,
  });
}

}  // namespace indx
