#include "actors/state.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/time_zone.hpp"
#include "jobs/cron.hpp"

#include <algorithm>

namespace indx {
namespace {

/// Behind everything that somebody waits for.
constexpr int kBuiltinPriority = -10;

constexpr std::string_view kEmbedding = "vault_embed";
/// Changes ask for vectors at once; the schedule comes back to what a model that was away left.
constexpr std::pair<const char*, const char*> kBuiltinSchedules[] = {
    {"vault_prune", "17 3 * * *"},
    {"vault_doctor", "23 4 * * sun"},
    {kEmbedding.data(), "*/15 * * * *"}};

JobOwner builtin_owner() {
  return {"local", "cli", {"vault:read", "vault:write", "vault:admin"}, {}, {}};
}

Schedule builtin_schedule(const char* kind, const char* cron, const std::string& time_zone) {
  const bool is_known = !time_zone.empty() && TimeZone::load(time_zone).has_value();
  return {.name = kind,
          .kind = kind,
          .owner = builtin_owner(),
          .cron = cron,
          .time_zone = is_known ? time_zone : TimeZone::local_name(),
          .is_builtin = true};
}

/// Slots of one outcome in one event.
Json slots_told(const Schedules::Fired& fired, std::string_view outcome) {
  Json data{{"schedule", fired.schedule.name}, {"count", 0}};
  for (const auto& slot : fired.slots) {
    if (slot.outcome != outcome) continue;
    data["count"] = data["count"].get<int>() + 1;
    if (!data.contains("first")) data["first"] = format_time(slot.slot);
    data["last"] = format_time(slot.slot);
  }
  return data;
}

}  // namespace

Status State::make_builtin_schedules() {
  for (const auto& [kind, cron] : kBuiltinSchedules) {
    if (kind == kEmbedding && !settings.wants_embedding) continue;
    if (INDX_TRY(schedules.get(kind))) continue;
    const auto made = schedules.set(builtin_schedule(kind, cron, settings.time_zone));
    if (made) continue;
    if (made.error().http_status() >= 500) return made.error();
    // Without the system's time zones there are no schedules, but everything else.
    log_warn("a built-in schedule was not made",
             {{"schedule", kind}, {"error", made.error().message}});
  }
  return {};
}

/// Somebody's own schedule runs whether or not there is something to do.
bool State::is_wanted(const Schedule& schedule) const {
  if (!schedule.is_builtin || schedule.kind != kEmbedding) return true;
  return settings.wants_embedding && settings.wants_embedding();
}

Result<JobId> State::enqueue_scheduled(const Schedule& schedule) {
  for (const auto& token : INDX_TRY(tokens.list()))
    if (token.id == schedule.owner.subject && token.revoked_at)
      return make_error(Reason::Forbidden,
                        cat("The token ", token.id, ", whose schedule it is, was revoked."));
  JobRequest request;
  request.kind = schedule.kind;
  request.input = schedule.input;
  request.owner = schedule.owner;
  request.keep = true;
  request.priority = schedule.is_builtin ? kBuiltinPriority : 0;
  request.max_attempts = settings.jobs.max_attempts;
  request.max_crashes = settings.jobs.max_crashes;
  request.schedule = schedule.name;
  request.limit_key = "schedule:" + schedule.name;  // one after another
  request.limit_running = 1;
  if (settings.complete_request) settings.complete_request(request);
  const auto made = INDX_TRY(enqueue(request));
  return made.job.id;
}

Status State::enqueue_embedding() {
  if (settings.only_jobs) return {};
  JobRequest request;
  request.kind = kEmbedding;
  request.input = Json{{"reset", false}};
  request.owner = builtin_owner();
  request.keep = true;
  request.priority = kBuiltinPriority;
  request.max_attempts = settings.jobs.max_attempts;
  request.max_crashes = settings.jobs.max_crashes;
  if (settings.complete_request) settings.complete_request(request);
  request.on_duplicate = OnDuplicate::RunAgain;
  INDX_TRY(enqueue(request));
  return {};
}

Status State::tell_fired(const Schedules::Fired& fired) {
  const auto event = [&](const char* kind, const std::string& job, Json data) {
    return tell({.kind = kind,
                 .actor = "system",
                 .subject = fired.schedule.owner.subject,
                 .job_id = job,
                 .data = std::move(data)});
  };
  for (const auto& slot : fired.slots)
    if (!slot.job.empty())
      INDX_TRY(event("schedule.fired", slot.job,
                     {{"schedule", fired.schedule.name},
                      {"slot", format_time(slot.slot)},
                      {"job", slot.job}}));
  if (auto missed = slots_told(fired, "missed"); missed["count"] > 0)
    INDX_TRY(event("schedule.missed", "", std::move(missed)));
  if (fired.why_skipped.empty()) return {};
  auto skipped = slots_told(fired, "skipped");
  skipped["why"] = fired.why_skipped;
  log_warn("a schedule did not run", skipped);
  return event("schedule.skipped", "", std::move(skipped));
}

Status State::run_schedules() {
  if (settings.only_jobs) return {};
  const auto now = clock.now();
  if (!schedules_ran_ || now < *schedules_ran_) INDX_TRY(schedules.realign());
  schedules_ran_ = now;
  const Schedules::Runs runs{
      [this](const Schedule& schedule) { return enqueue_scheduled(schedule); },
      [this](const JobId& id) -> Status {
        INDX_TRY(request_cancel(id));
        return {};
      },
      [this](const Schedule& schedule) { return is_wanted(schedule); }};
  for (const auto& fired : INDX_TRY(schedules.fire_due(runs))) INDX_TRY(tell_fired(fired));
  return {};
}

std::optional<milliseconds> State::next_schedule_in(milliseconds longest) {
  if (settings.only_jobs) return std::nullopt;
  const auto now = clock.now();
  if (!schedules_ran_ || now < *schedules_ran_) return milliseconds(0);
  const auto due = schedules.next_due();
  if (!due) {
    log_warn("schedules cannot be read", {{"error", due.error().message}});
    return std::nullopt;
  }
  if (!*due || **due - now > longest) return std::nullopt;
  return std::max(**due - now, milliseconds(0));
}

Result<Schedule> State::set_schedule(const Schedule& schedule) {
  const auto set = INDX_TRY(schedules.set(schedule));
  Json data = to_json(set);
  for (const auto* key : {"name", "kind", "input"}) data.erase(key);  // an input may name notes
  data["schedule"] = set.name;
  data["operation"] = set.kind;
  INDX_TRY(tell({.kind = "schedule.set",
                 .actor = schedule.owner.surface,
                 .subject = schedule.owner.subject,
                 .data = std::move(data)}));
  return set;
}

}  // namespace indx
