#include "actors/job_runner.hpp"

#include "actors/job_run.hpp"

#include <caf/typed_event_based_actor.hpp>

namespace indx {
namespace {

constexpr std::chrono::milliseconds kAskAgain{200};

}  // namespace

RunnerActor::behavior_type job_runner(RunnerActor::pointer self, Core* core, Directory* directory) {
  self->send(self, atom::run_atom::value);
  return {
      [self, core, directory](atom::run_atom) {
        if (core->parts.is_draining) return;
        // The claim waits in the state actor until a job is due, so it has no deadline of its own.
        self->request(directory->get<StateActor>(), caf::infinite, atom::claim_atom::value)
            .then(
                [self, core](const Claimed& claimed) {
                  if (!claimed.job) {  // the engine stops, or the state actor starts anew
                    if (!core->parts.is_draining)
                      self->delayed_send(self, kAskAgain, atom::run_atom::value);
                    return;
                  }
                  run_job(*core, *claimed.job);
                  self->send(self, atom::run_atom::value);
                },
                [self](caf::error&) {
                  self->delayed_send(self, kAskAgain, atom::run_atom::value);
                });
      },
  };
}

}  // namespace indx
