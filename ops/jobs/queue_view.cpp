#include "ops/jobs/queue_view.hpp"

namespace indx {

Fields<JobCountView> JobCountView::fields() {
  return {field("kind", &JobCountView::kind, "Operation of the jobs."),
          field("state", &JobCountView::state, "State that they are in."),
          field("count", &JobCountView::count, "How many there are.")};
}
Fields<JobPauseView> JobPauseView::fields() {
  return {field("kind", &JobPauseView::kind, "Operation whose jobs wait; `*`: all jobs."),
          field("subject", &JobPauseView::subject, "Who paused them: a token id or `local`."),
          field("at", &JobPauseView::at, "When, ISO 8601.")};
}
Fields<QueuePauseInput> QueuePauseInput::fields(const char* kind_text) {
  return {field("kind", &QueuePauseInput::kind, kind_text, optional, length(0, 64))};
}

std::vector<JobPauseView> view_pauses(const QueueStatus& status) {
  std::vector<JobPauseView> views;
  for (const JobPause& pause : status.pauses)
    views.push_back({pause.what, pause.subject, format_time(pause.at)});
  return views;
}

}  // namespace indx
