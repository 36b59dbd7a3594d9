#include "jobs/job_state.hpp"

#include <algorithm>
#include <array>

namespace indx {
namespace {

constexpr std::array<std::string_view, 11> kStateNames = {
    "scheduled",   "ready",     "running", "sleeping", "waiting",  "paused",
    "unsupported", "succeeded", "failed",  "dead",     "cancelled"};

struct Transition {
  JobState from;
  JobEvent event;
  JobState to;
};

constexpr std::array kTransitions = {
    Transition{JobState::Scheduled, JobEvent::Due, JobState::Ready},
    Transition{JobState::Sleeping, JobEvent::Due, JobState::Ready},
    Transition{JobState::Ready, JobEvent::Claim, JobState::Running},
    Transition{JobState::Ready, JobEvent::Park, JobState::Unsupported},
    Transition{JobState::Unsupported, JobEvent::Support, JobState::Ready},

    Transition{JobState::Running, JobEvent::Succeed, JobState::Succeeded},
    Transition{JobState::Running, JobEvent::FailForGood, JobState::Failed},
    Transition{JobState::Running, JobEvent::Retry, JobState::Scheduled},
    Transition{JobState::Running, JobEvent::GiveUp, JobState::Dead},
    Transition{JobState::Running, JobEvent::Return, JobState::Ready},
    Transition{JobState::Running, JobEvent::OwnerDied, JobState::Ready},
    Transition{JobState::Running, JobEvent::CrashedTooOften, JobState::Dead},
    Transition{JobState::Running, JobEvent::Sleep, JobState::Sleeping},
    Transition{JobState::Running, JobEvent::Snooze, JobState::Sleeping},
    Transition{JobState::Running, JobEvent::Wait, JobState::Waiting},
    Transition{JobState::Waiting, JobEvent::ChildrenEnded, JobState::Ready},

    // A running job is asked to pause first (pause_requested); this is the end of that try.
    Transition{JobState::Running, JobEvent::Pause, JobState::Paused},
    Transition{JobState::Scheduled, JobEvent::Pause, JobState::Paused},
    Transition{JobState::Ready, JobEvent::Pause, JobState::Paused},
    Transition{JobState::Sleeping, JobEvent::Pause, JobState::Paused},
    Transition{JobState::Waiting, JobEvent::Pause, JobState::Paused},
    Transition{JobState::Unsupported, JobEvent::Pause, JobState::Paused},
    // What it waited for is looked at again by the try that follows.
    Transition{JobState::Paused, JobEvent::Resume, JobState::Scheduled},

    Transition{JobState::Failed, JobEvent::Redrive, JobState::Scheduled},
    Transition{JobState::Dead, JobEvent::Redrive, JobState::Scheduled},
    Transition{JobState::Cancelled, JobEvent::Redrive, JobState::Scheduled},

    // A running job is asked to stop first (cancel_requested); this is the end of that try.
    Transition{JobState::Running, JobEvent::Cancel, JobState::Cancelled},
    Transition{JobState::Scheduled, JobEvent::Cancel, JobState::Cancelled},
    Transition{JobState::Ready, JobEvent::Cancel, JobState::Cancelled},
    Transition{JobState::Sleeping, JobEvent::Cancel, JobState::Cancelled},
    Transition{JobState::Waiting, JobEvent::Cancel, JobState::Cancelled},
    Transition{JobState::Paused, JobEvent::Cancel, JobState::Cancelled},
    Transition{JobState::Unsupported, JobEvent::Cancel, JobState::Cancelled},
};

}  // namespace

std::string_view name(JobState state) { return kStateNames[static_cast<std::size_t>(state)]; }

std::optional<JobState> parse_job_state(std::string_view name) {
  const auto* const found = std::find(kStateNames.begin(), kStateNames.end(), name);
  if (found == kStateNames.end()) return std::nullopt;
  return static_cast<JobState>(found - kStateNames.begin());
}

bool is_final(JobState state) { return state >= JobState::Succeeded; }

std::vector<JobState> job_states() {
  std::vector<JobState> states;
  for (std::size_t state = 0; state < kStateNames.size(); ++state)
    states.push_back(static_cast<JobState>(state));
  return states;
}

std::vector<JobState> live_job_states() {
  auto states = job_states();
  std::erase_if(states, is_final);
  return states;
}

std::vector<std::string> names_of(const std::vector<JobState>& states) {
  std::vector<std::string> names;
  for (const auto state : states) names.emplace_back(name(state));
  return names;
}

std::optional<JobState> next_state(JobState state, JobEvent event) {
  for (const auto& row : kTransitions)
    if (row.from == state && row.event == event) return row.to;
  return std::nullopt;
}

}  // namespace indx
