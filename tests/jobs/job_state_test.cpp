#include "jobs/job_state.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

constexpr JobState kAllStates[] = {JobState::Scheduled,   JobState::Ready,     JobState::Running,
                                   JobState::Sleeping,    JobState::Waiting,   JobState::Paused,
                                   JobState::Unsupported, JobState::Succeeded, JobState::Failed,
                                   JobState::Dead,        JobState::Cancelled};
constexpr JobEvent kAllEvents[] = {JobEvent::Due,           JobEvent::Claim,
                                   JobEvent::Succeed,       JobEvent::FailForGood,
                                   JobEvent::Retry,         JobEvent::GiveUp,
                                   JobEvent::Cancel,        JobEvent::Return,
                                   JobEvent::OwnerDied,     JobEvent::CrashedTooOften,
                                   JobEvent::Park,          JobEvent::Support,
                                   JobEvent::Sleep,         JobEvent::Wait,
                                   JobEvent::ChildrenEnded, JobEvent::Pause,
                                   JobEvent::Resume,        JobEvent::Redrive,
                                   JobEvent::Snooze};

}  // namespace

TEST_CASE("the live states and the final ones are all states", "[jobs]") {
  CHECK(job_states() == std::vector<JobState>(std::begin(kAllStates), std::end(kAllStates)));
  for (const auto state : live_job_states()) CHECK_FALSE(is_final(state));
  CHECK(live_job_states().size() == 7);
  CHECK(names_of({JobState::Ready, JobState::Dead}) == std::vector<std::string>{"ready", "dead"});
}

TEST_CASE("every state has a name of its own", "[jobs]") {
  for (const auto state : kAllStates) CHECK(parse_job_state(name(state)) == state);
  CHECK_FALSE(parse_job_state("running ").has_value());
}

TEST_CASE("only a redrive leaves a final state and every live one can be cancelled and paused",
          "[jobs][E3][E9]") {
  for (const auto state : kAllStates) {
    INFO(name(state));
    CHECK(next_state(state, JobEvent::Cancel).has_value() != is_final(state));
    CHECK(next_state(state, JobEvent::Pause).has_value() ==
          (!is_final(state) && state != JobState::Paused));
    if (!is_final(state)) continue;
    for (const auto event : kAllEvents)
      CHECK(next_state(state, event).has_value() ==
            (event == JobEvent::Redrive && state != JobState::Succeeded));
  }
}

TEST_CASE("a job runs only from ready", "[jobs]") {
  for (const auto state : kAllStates)
    CHECK(next_state(state, JobEvent::Claim).has_value() == (state == JobState::Ready));
}

}  // namespace indx
