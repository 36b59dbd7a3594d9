#include "actors/engine_jobs.hpp"

#include "actors/engine_schedules.hpp"
#include "actors/id_cursor.hpp"
#include "base/text.hpp"
#include "store/event_store.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr int kWritesAtOnce = 1000;

Error unseen_job(const JobId& id) {
  return not_found(cat("No job has the id `", id.value, "`; job_list shows yours."),
                   Json{{"id", id.value}});
}

/// Whoever starts a job again must be allowed what its owner was: a caller may be narrowed to less
/// under the same name.
Status check_rights_of(const Job& job, const Principal& principal) {
  const Principal owner = to_principal(job.owner);
  const bool has_scopes = std::all_of(owner.scopes.begin(), owner.scopes.end(),
                                      [&](const Scope scope) { return principal.has(scope); });
  if (has_scopes && (principal.path_globs.empty() || principal.path_globs == owner.path_globs))
    return {};
  std::vector<std::string> scopes;
  for (const Scope scope : owner.scopes) scopes.emplace_back(name(scope));
  return make_error(Reason::Forbidden,
                    cat("The job ", job.id.value,
                        " may do more than this caller; somebody with "
                        "its rights has to start it again."),
                    Json{{"id", job.id.value}, {"required_scopes", scopes}});
}

}  // namespace

bool EngineJobs::may_see(const std::string& subject) const {
  return subject == principal_.subject || principal_.has(Scope::VaultAdmin);
}

Status EngineJobs::check_admin(const std::string& act) const {
  if (principal_.has(Scope::VaultAdmin)) return {};
  const std::string wanted(name(Scope::VaultAdmin));
  return make_error(Reason::Forbidden,
                    cat(act, " needs the scope ", wanted, ", which this caller lacks."),
                    Json{{"required_scopes", {wanted}}});
}

Status EngineJobs::check_may_stop(const std::string& kind, const Json& input) const {
  const Operation* operation = operation_of(kind);
  if (!operation || principal_.has(Scope::VaultAdmin)) return {};
  INDX_TRY(check_scopes(*operation, principal_, operation->scopes));
  // What another version of the operation stored may be beyond this one, and ends all the same.
  const auto readable = validate(operation->input, input);
  if (!operation->extra_scopes || !readable) return {};
  return check_scopes(*operation, principal_, operation->extra_scopes(*readable));
}

Status EngineJobs::check_may_stop(const JobId& id) {
  const Job job = INDX_TRY(get(id));
  return check_may_stop(job.kind, job.input);
}

// ---- reading

Result<Jobs::JobPage> EngineJobs::list(const JobFilter& filter, int limit,
                                       const std::string& cursor) {
  JobFilter visible = filter;
  if (!principal_.has(Scope::VaultAdmin)) visible.subject = principal_.subject;
  auto page = INDX_TRY(
      core_.read_queue([&](JobStore& queue) { return queue.list(visible, limit, cursor); }));
  return JobPage{std::move(page.jobs), std::move(page.next_cursor)};
}

Result<Job> EngineJobs::get(const JobId& id) {
  auto job = INDX_TRY(core_.read_queue([&](JobStore& queue) { return queue.get(id); }));
  if (!job || !may_see(job->owner.subject)) return unseen_job(id);
  return std::move(*job);
}

Result<std::vector<Job>> EngineJobs::children(const JobId& id) {
  INDX_TRY(get(id));
  return core_.read_queue([&](JobStore& queue) { return queue.children(id); });
}

Result<std::vector<JobFault>> EngineJobs::faults(const JobId& id) {
  INDX_TRY(get(id));
  return core_.read_queue([&](JobStore& queue) { return queue.faults(id); });
}

Result<Page<Event>> EngineJobs::events(const JobId& id, int limit, const std::string& cursor) {
  INDX_TRY(get(id));
  const auto after = INDX_TRY(id_cursor(cursor, 0));
  Page<Event> page;
  page.rows = INDX_TRY(core_.read_state(
      [&](Database& db) { return EventStore(db).after(after, {}, id.value, limit + 1); }));
  if (page.rows.size() > static_cast<std::size_t>(limit)) {
    page.rows.pop_back();
    page.next_cursor = std::to_string(page.rows.back().id);
  }
  return page;
}

Result<std::vector<JobWrite>> EngineJobs::writes(const JobId& id) {
  INDX_TRY(get(id));
  std::vector<JobWrite> all;
  while (true) {
    const std::int64_t after = all.empty() ? 0 : all.back().id;
    const auto some = INDX_TRY(core_.read_state(
        [&](Database& db) { return JobWrites(db).list(id.value, after, kWritesAtOnce); }));
    all.insert(all.end(), some.begin(), some.end());
    if (some.size() < static_cast<std::size_t>(kWritesAtOnce)) return all;
  }
}

// ---- acting on one job

Result<Job> EngineJobs::cancel(const JobId& id) {
  INDX_TRY(check_may_stop(id));
  return core_.change_for<Job>([id, who = by()](State& state) { return state.cancel(id, who); });
}

Result<Job> EngineJobs::pause(const JobId& id) {
  INDX_TRY(check_may_stop(id));
  return core_.change_for<Job>([id, who = by()](State& state) { return state.pause(id, who); });
}

Result<Job> EngineJobs::resume(const JobId& id) {
  INDX_TRY(check_may_stop(id));
  return core_.change_for<Job>([id, who = by()](State& state) { return state.resume(id, who); });
}

Result<Job> EngineJobs::retry(const JobId& id) {
  INDX_TRY(check_rights_of(INDX_TRY(get(id)), principal_));
  return core_.change_for<Job>([id, who = by()](State& state) { return state.retry(id, who); });
}

Result<std::vector<Job>> EngineJobs::redrive(const JobFilter& filter, milliseconds spread,
                                             int limit, bool is_trial) {
  JobFilter visible = filter;
  if (!principal_.has(Scope::VaultAdmin)) visible.subject = principal_.subject;
  return core_.change_for<std::vector<Job>>(
      [=, principal = principal_, who = by()](State& state) -> Result<std::vector<Job>> {
        auto jobs = INDX_TRY(is_trial ? state.try_redrive(visible, limit)
                                      : state.redrive(visible, spread, limit, who));
        // Refused as a whole: the change is undone with it.
        for (const Job& job : jobs) INDX_TRY(check_rights_of(job, principal));
        return jobs;
      });
}

// ---- the whole queue

Result<QueueStatus> EngineJobs::status() {
  INDX_TRY(check_admin("The state of the whole queue"));
  auto status = INDX_TRY(core_.read_queue([](JobStore& queue) -> Result<QueueStatus> {
    QueueStatus read;
    read.counts = INDX_TRY(queue.counts());
    read.pauses = INDX_TRY(queue.pauses());
    read.oldest_ready = INDX_TRY(queue.oldest_ready());
    return read;
  }));
  status.running = static_cast<int>(core_.parts.running.size());
  status.runners = core_.parts.config.jobs.runners;
  status.stuck_handlers = core_.parts.stuck_handlers;
  return status;
}

/// A word that no job has would hold nothing back, without a sign.
Status EngineJobs::check_kind(const std::string& what) {
  if (what == "*") return {};
  const Operation* operation = core_.parts.registry.find(what);
  if (operation != nullptr && operation->execution != Execution::Inline) return {};
  for (const JobCount& row :
       INDX_TRY(core_.read_queue([](JobStore& queue) { return queue.counts(); })))
    if (row.kind == what) return {};
  return invalid(cat("No job is of the kind `", what,
                     "`; a kind is the name of an operation that "
                     "runs as a job, such as `vault_reindex`."),
                 Json{{"path", "kind"}, {"expected", "a kind of job"}, {"actual", what}});
}

Status EngineJobs::pause_kind(const std::string& what) {
  INDX_TRY(check_admin("A pause of many jobs"));
  INDX_TRY(check_kind(what));
  INDX_TRY(core_.change([what, who = by()](State& state) -> Result<Json> {
    INDX_TRY(state.pause_kind(what, who));
    return Json();
  }));
  return {};
}

Status EngineJobs::resume_kind(const std::string& what) {
  INDX_TRY(check_admin("The end of a pause of many jobs"));
  INDX_TRY(core_.change([what, who = by()](State& state) -> Result<Json> {
    INDX_TRY(state.resume_kind(what, who));
    return Json();
  }));
  return {};
}

// ---- schedules

Result<std::optional<Schedule>> EngineJobs::own_schedule(const std::string& schedule) {
  for (Schedule& there : INDX_TRY(read_schedules(core_))) {
    if (there.name != schedule) continue;
    if (may_see(there.owner.subject)) return std::optional(std::move(there));
    return make_error(Reason::Forbidden,
                      cat("The schedule `", schedule, "` belongs to somebody else."),
                      Json{{"name", schedule}});
  }
  return std::optional<Schedule>();
}

Status EngineJobs::check_may_change(const std::string& schedule) {
  const auto there = INDX_TRY(own_schedule(schedule));
  return there ? check_may_stop(there->kind, there->input) : Status();
}

Result<std::vector<Schedule>> EngineJobs::schedules() {
  auto all = INDX_TRY(read_schedules(core_));
  std::erase_if(all, [this](const Schedule& one) { return !may_see(one.owner.subject); });
  return all;
}

Result<std::vector<ScheduleSlot>> EngineJobs::slots(const std::string& schedule, int limit) {
  INDX_TRY(own_schedule(schedule));
  return read_slots(core_, schedule, limit);
}

Result<Schedule> EngineJobs::set_schedule(const Schedule& schedule) {
  INDX_TRY(check_may_change(schedule.name));
  return change_schedule(core_, schedule);
}

Result<bool> EngineJobs::delete_schedule(const std::string& schedule) {
  INDX_TRY(check_may_change(schedule));
  return remove_schedule(core_, schedule);
}

}  // namespace indx
