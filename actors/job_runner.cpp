#include "actors/job_runner.hpp"

#include "actors/job_run.hpp"

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace indx {
namespace {

struct RunnerState {
  explicit RunnerState(RunnerActor::pointer self_pointer) : self(self_pointer) {}
  StateWriter::Runner me() const;
  void ask();
  void run(Claimed claimed);

  RunnerActor::pointer self;
  Core* core = nullptr;
  inline static const char* name = "job_runner";
};

StateWriter::Runner RunnerState::me() const {
  return {self->id(), [to = caf::actor_cast<RunnerActor>(self)](Claimed claimed) {
            caf::anon_send(to, atom::claim_atom::value, std::move(claimed));
          }};
}

void RunnerState::ask() {
  if (!core->parts.is_draining) core->state_writer.ask_for_job(me());
}

/// Runs the job and those that follow at once. Without one the engine stops.
void RunnerState::run(Claimed claimed) {
  while (claimed.job) {
    JobEnd end = run_job(*core, claimed);
    if (end.was_abandoned) return self->quit(caf::exit_reason::user_shutdown);
    if (!end.store) {
      core->parts.running.remove(end.lease);
      return ask();
    }
    auto next = core->state_writer.end_and_ask(std::move(end), me());
    if (!next) return;
    claimed = std::move(*next);
  }
}

RunnerActor::behavior_type job_runner(RunnerActor::stateful_pointer<RunnerState> self, Core* core) {
  self->state.core = core;
  self->send(self, atom::run_atom::value);
  return {
      [self](atom::run_atom) { self->state.ask(); },
      [self](atom::claim_atom, Claimed& claimed) { self->state.run(std::move(claimed)); },
  };
}

}  // namespace

RunnerActor spawn_job_runner(caf::actor_system& system, Core* core) {
  return system.spawn<caf::detached>(job_runner, core);
}

}  // namespace indx
