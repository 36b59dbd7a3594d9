#include "base/text.hpp"
#include "base/time_zone.hpp"
#include "jobs/cron.hpp"
#include "ops/dispatch.hpp"
#include "ops/jobs/schedule_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace schedule_set_op {

struct Input {
  std::string name;
  std::optional<std::string> kind, cron, time_zone, overlap, catch_up;
  std::optional<JsonObject> input;
  std::optional<bool> paused;
};
struct Output {
  ScheduleView schedule;
  bool created = false;
};

/// The input as a call of that operation would have it, defaults filled in.
Result<Json> check_call(Context& ctx, const std::string& kind, const Json& input) {
  const Principal& principal = ctx.principal();
  const Operation* operation = ctx.jobs().operation_of(kind);
  if (operation == nullptr || operation->execution == Execution::Inline || operation->takes_file)
    return invalid(
        cat("`", kind,
            "` is no operation that runs as a job; `vault_reindex` and `note_move` are."),
        Json{{"path", "kind"}, {"actual", kind}});
  INDX_TRY(check_scopes(*operation, principal, operation->scopes));
  Json checked = INDX_TRY(validate(*operation->input, input));
  if (operation->extra_scopes)
    INDX_TRY(check_scopes(*operation, principal, operation->extra_scopes(checked)));
  if (!take_secrets(*operation->input, checked).is_null())
    return invalid("A schedule keeps no secrets; leave them out of its input.",
                   Json{{"path", "input"}});
  checked.erase("idempotency_key");  // each time is a call of its own
  return checked;
}

Result<Output> run(Context& ctx, const Input& in) {
  const auto before = INDX_TRY(find_schedule(ctx, in.name));
  Schedule schedule = before.value_or(Schedule{});
  if (!before) {
    for (const auto& [given, path] : {std::pair(in.kind, "kind"), std::pair(in.cron, "cron")})
      if (!given)
        return invalid(
            cat("There is no schedule `", in.name, "` yet: a new one needs `", path, "`."),
            Json{{"path", path}});
    schedule.name = in.name;
    schedule.time_zone =
        ctx.config().time_zone.empty() ? TimeZone::local_name() : ctx.config().time_zone;
  }
  schedule.owner = to_owner(ctx.principal());
  schedule.kind = in.kind.value_or(schedule.kind);
  schedule.cron = in.cron.value_or(schedule.cron);
  schedule.time_zone = in.time_zone.value_or(schedule.time_zone);
  if (in.overlap) schedule.overlap = parse_overlap(*in.overlap).value_or(schedule.overlap);
  if (in.catch_up) schedule.catch_up = parse_catch_up(*in.catch_up).value_or(schedule.catch_up);
  schedule.is_paused = in.paused.value_or(schedule.is_paused);
  if (in.input) schedule.input = in.input->value;
  schedule.input = INDX_TRY(check_call(ctx, schedule.kind, schedule.input));
  const auto set = INDX_TRY(ctx.jobs().set_schedule(schedule));
  return Output{INDX_TRY(view_schedule(ctx, set, 0)), !before};
}

}  // namespace schedule_set_op

Operation schedule_set() {
  using namespace schedule_set_op;
  return define<Input, Output>({
      .name = "schedule_set",
      .summary = "Make a schedule that runs an operation again and again, or change one.",
      .guidance =
          "Runs a job at each time, with your rights and for as long as your token lives. What is "
          "left out stays as it is, so `paused` alone pauses. When clocks change, a fixed hour "
          "runs once a day all the same. A server has to be running; what it missed it catches up "
          "with.",
      .scopes = {Scope::VaultRead},
      .route = {"PUT", "/v1/schedules/{name}"},
      .cli_positional = {"name", "kind", "cron"},
      .example = "nightly vault_reindex '17 3 * * *' --time-zone Europe/Berlin",
      .effect = Effect::Writes,
      .is_idempotent = true,
      .tool_group = "job_manage",
      .input =
          {schedule_name_field(&Input::name),
           field("kind", &Input::kind,
                 "The operation to run, one that can run as a job; a new schedule needs it.",
                 optional, length(1, 64)),
           field("cron", &Input::cron,
                 "Such as `30 2 * * mon-fri` (minute, hour, day, month, weekday) or @daily; a new "
                 "schedule needs it.",
                 optional, length(1, 200)),
           field("input", &Input::input, "Input of that operation.", optional),
           field("time_zone", &Input::time_zone,
                 "IANA name, such as Europe/Berlin; at first that of the vault.", optional,
                 length(1, 64)),
           field("overlap", &Input::overlap,
                 "While an earlier job runs: skip that time, queue behind it, or cancel it.",
                 optional, one_of({"skip", "queue", "cancel"})),
           field("catch_up", &Input::catch_up,
                 "Times that passed without a server: skip them, run once, or run all (at most "
                 "100).",
                 optional, one_of({"skip", "once", "all"})),
           field("paused", &Input::paused, "Whether it rests; false lets it go on.", optional)},
      .output = {field("schedule", &Output::schedule, "The schedule as it is now."),
                 field("created", &Output::created, "Whether there was none before.")},
      .failures =
          {{Reason::ValidationFailed,
            "The operation, its input, the times or the zone are not valid, or the times "
            "never come."},
           {Reason::Forbidden,
            "Your token may not run that operation, the schedule is somebody else's, or it is "
            "built in and runs something else."}},
      .handler = run,
  });
}

}  // namespace indx
