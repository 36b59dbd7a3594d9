#pragma once
#include "ops/define.hpp"
#include "ops/jobs.hpp"

namespace indx {

/// The whole queue in answers.
struct JobCountView {
  std::string kind, state;
  std::int64_t count = 0;
  static Fields<JobCountView> fields();
};
struct JobPauseView {
  std::string kind, subject, at;
  static Fields<JobPauseView> fields();
};

/// Of queue_pause and queue_resume.
struct QueuePauseInput {
  std::string kind;
  static Fields<QueuePauseInput> fields(const char* kind_text);
  std::string what() const { return kind.empty() ? "*" : kind; }
};

std::vector<JobPauseView> view_pauses(const QueueStatus& status);

}  // namespace indx
