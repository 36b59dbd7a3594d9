#include "base/text.hpp"
#include "ops/jobs/schedule_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace schedule_delete_op {

struct Input {
  std::string name;
};
struct Output {
  bool deleted = true;
};

Result<Output> run(Context& ctx, const Input& in) {
  const auto found = INDX_TRY(find_schedule(ctx, in.name));
  if (!found || !INDX_TRY(ctx.jobs().delete_schedule(in.name)))
    return not_found(cat("You have no schedule `", in.name, "`; schedule_list shows yours."),
                     Json{{"name", in.name}});
  ctx.emit("schedule.removed",
           {{"schedule", found->name}, {"operation", found->kind}, {"cron", found->cron}});
  return Output{};
}

}  // namespace schedule_delete_op

Operation schedule_delete() {
  using namespace schedule_delete_op;
  return define<Input, Output>({
      .name = "schedule_delete",
      .summary = "Delete a schedule.",
      .guidance = "Jobs that it made go on; job_cancel ends them. A built-in schedule can only be "
                  "paused, with schedule_set.",
      .scopes = {Scope::VaultRead},
      .route = {"DELETE", "/v1/schedules/{name}"},
      .cli_positional = {"name"},
      .example = "nightly",
      .effect = Effect::Destructive,
      .tool_group = "job_manage",
      .input = {schedule_name_field(&Input::name)},
      .output = {field("deleted", &Output::deleted, "Always true.")},
      .failures = {{Reason::NotFound, "You have no schedule of that name."},
                   {Reason::Forbidden, "The schedule is built in."}},
      .handler = run,
  });
}

}  // namespace indx
