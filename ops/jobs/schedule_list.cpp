#include "ops/jobs/schedule_view.hpp"
#include "ops/operations.hpp"

#include <algorithm>

namespace indx {

Fields<ScheduleSlotView> ScheduleSlotView::fields() {
  return {
      field("slot", &ScheduleSlotView::slot, "The time it is about."),
      field("outcome", &ScheduleSlotView::outcome,
            "missed: nothing ran then and it was not caught up with. skipped: an earlier job had "
            "not ended, or the job was refused.",
            one_of({"started", "missed", "skipped"})),
      field("job", &ScheduleSlotView::job, "Id of the job that it started.", optional)};
}

Fields<ScheduleView> ScheduleView::fields() {
  return {
      field("name", &ScheduleView::name, "Name."),
      field("kind", &ScheduleView::kind, "The operation that it runs."),
      field("input", &ScheduleView::input, "Input of that operation."),
      field("cron", &ScheduleView::cron, "When."),
      field("time_zone", &ScheduleView::time_zone, "Of which clocks."),
      field("overlap", &ScheduleView::overlap, "What happens while an earlier job has not ended.",
            one_of({"skip", "queue", "cancel"})),
      field("catch_up", &ScheduleView::catch_up, "What happens with times that were missed.",
            one_of({"skip", "once", "all"})),
      field("paused", &ScheduleView::paused, "Whether it rests."),
      field("builtin", &ScheduleView::builtin,
            "Whether it is always there: it can be paused and changed, not deleted."),
      field("next_at", &ScheduleView::next_at, "When it runs next; left out: it does not.",
            optional),
      field("last_slots", &ScheduleView::last_slots, "Its last times, newest first.")};
}

Result<ScheduleView> view_schedule(Context& ctx, const Schedule& schedule, int slots) {
  ScheduleView view;
  view.name = schedule.name;
  view.kind = schedule.kind;
  view.cron = schedule.cron;
  view.time_zone = schedule.time_zone;
  view.overlap = name(schedule.overlap);
  view.catch_up = name(schedule.catch_up);
  view.input = {schedule.input};
  view.paused = schedule.is_paused;
  view.builtin = schedule.is_builtin;
  if (schedule.next_at) view.next_at = format_time(*schedule.next_at);
  if (slots == 0) return view;
  for (const auto& slot : INDX_TRY(ctx.jobs().slots(schedule.name, slots)))
    view.last_slots.push_back({format_time(slot.slot), slot.outcome,
                               slot.job.empty() ? std::nullopt : std::optional(slot.job)});
  return view;
}

Result<std::optional<Schedule>> find_schedule(Context& ctx, const std::string& name) {
  auto all = INDX_TRY(ctx.jobs().schedules());
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Schedule& schedule) { return schedule.name == name; });
  return found == all.end() ? std::nullopt : std::optional(std::move(*found));
}

namespace schedule_list_op {

struct Input {
  int slots = 3;
};
struct Output {
  std::vector<ScheduleView> schedules;
};

Result<Output> run(Context& ctx, const Input& in) {
  Output out;
  for (const auto& schedule : INDX_TRY(ctx.jobs().schedules()))
    out.schedules.push_back(INDX_TRY(view_schedule(ctx, schedule, in.slots)));
  return out;
}

}  // namespace schedule_list_op

Operation schedule_list() {
  using namespace schedule_list_op;
  return define<Input, Output>({
      .name = "schedule_list",
      .summary = "List schedules with their next and last times.",
      .guidance = "Shows your schedules; an admin sees all. What a job did is in job_get.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/schedules"},
      .is_idempotent = true,
      .tool_group = "vault_lists",
      .input = {field("slots", &Input::slots, "How many of the last times of each.",
                      between(0, 200), optional)},
      .output = {field("schedules", &Output::schedules, "In order of names.")},
      .list = "schedules",
      .handler = run,
  });
}

}  // namespace indx
