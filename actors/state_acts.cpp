#include "actors/state.hpp"
#include "base/text.hpp"
#include "jobs/job_state.hpp"

namespace indx {

// Streams show events of jobs by their subject, so it is the owner's; `by` is whose act it was.
Status State::tell_act(const std::string& kind, const Job& job, const ActBy& by, Json data) {
  Json all{{"job", job.id.value},
           {"operation", job.kind},
           {"state", name(job.state)},
           {"by", by.subject}};
  all.update(data);
  return tell({.kind = kind,
               .actor = by.surface,
               .subject = job.owner.subject,
               .job_id = job.id.value,
               .data = all});
}

Result<Job> State::cancel(const JobId& id, const ActBy& by) {
  INDX_TRY(recall_unbegun());
  const auto before = INDX_TRY(queue.get(id));
  if (before && !before->is_final()) INDX_TRY(tell_act("job.cancelling", *before, by));
  return request_cancel(id);
}

Result<Job> State::pause(const JobId& id, const ActBy& by) {
  INDX_TRY(recall_unbegun());
  const auto before = INDX_TRY(queue.get(id));
  Job job = INDX_TRY(queue.pause(id));
  const bool is_new = before && before->state != JobState::Paused && !before->pause_requested;
  // What runs tells `job.paused` when it stopped.
  if (is_new)
    INDX_TRY(tell_act(job.state == JobState::Paused ? "job.paused" : "job.pausing", job, by));
  if (job.state == JobState::Running) fresh_stops.emplace_back(id, CancelReason::Pause);
  return job;
}

Result<Job> State::resume(const JobId& id, const ActBy& by) {
  const auto before = INDX_TRY(queue.get(id));
  Job job = INDX_TRY(queue.resume(id));
  if (before && (before->state == JobState::Paused || before->pause_requested))
    INDX_TRY(tell_act("job.resumed", job, by));
  jobs_changed = true;
  return job;
}

Result<Job> State::retry(const JobId& id, const ActBy& by) {
  Job job = INDX_TRY(queue.retry(id));
  INDX_TRY(tell_act("job.retrying", job, by,
                    {{"reason", "requested"}, {"run_at", format_time(job.run_at)}}));
  jobs_changed = true;
  return job;
}

Result<std::vector<Job>> State::redrive(const JobFilter& filter, milliseconds spread, int limit,
                                        const ActBy& by) {
  auto jobs = INDX_TRY(queue.redrive(filter, spread, limit));
  for (const Job& job : jobs)
    INDX_TRY(tell_act("job.retrying", job, by,
                      {{"reason", "redriven"}, {"run_at", format_time(job.run_at)}}));
  jobs_changed = true;
  return jobs;
}

// Done and taken back, so that a trial takes just what the act would.
Result<std::vector<Job>> State::try_redrive(const JobFilter& filter, int limit) {
  std::optional<std::vector<Job>> taken;
  const Status undone = db.savepoint([&]() -> Status {
    taken = INDX_TRY(queue.redrive(filter, milliseconds(0), limit));
    return make_error(Reason::Cancelled, "It was a trial.");
  });
  if (!taken) return undone.error();
  for (Job& job : *taken)
    if (auto now = INDX_TRY(queue.get(job.id))) job = std::move(*now);
  return std::move(*taken);
}

Status State::pause_kind(const std::string& what, const ActBy& by) {
  INDX_TRY(recall_unbegun());
  INDX_TRY(queue.pause_kind(what, by.subject));
  return tell({.kind = "queue.paused",
               .actor = by.surface,
               .subject = by.subject,
               .job_id = {},
               .data = {{"what", what}}});
}

Status State::resume_kind(const std::string& what, const ActBy& by) {
  INDX_TRY(queue.resume_kind(what));
  jobs_changed = true;
  return tell({.kind = "queue.resumed",
               .actor = by.surface,
               .subject = by.subject,
               .job_id = {},
               .data = {{"what", what}}});
}

}  // namespace indx
