#pragma once
#include "jobs/job.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

std::string_view name(JobState state);  ///< `ready`
std::optional<JobState> parse_job_state(std::string_view name);
bool is_final(JobState state);
std::vector<JobState> job_states();       ///< the live ones first
std::vector<JobState> live_job_states();  ///< in front of every final one
std::vector<std::string> names_of(const std::vector<JobState>& states);

enum class JobEvent : std::uint8_t {
  Due,
  Claim,
  Succeed,
  FailForGood,
  Retry,
  GiveUp,
  Cancel,
  Return,
  OwnerDied,
  CrashedTooOften,
  Park,
  Support,
  Sleep,
  Snooze,
  Wait,
  ChildrenEnded,
  Pause,
  Resume,
  Redrive
};
/// The one transition table; nullopt: that event cannot happen in that state.
std::optional<JobState> next_state(JobState state, JobEvent event);

}  // namespace indx
