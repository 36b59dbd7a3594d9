#include "actors/job_runner.hpp"

#include "actors/job_run.hpp"
#include "base/log.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <thread>

namespace indx {
namespace {

constexpr std::chrono::milliseconds kAskAgain{200};
constexpr std::chrono::seconds kStoreDeadline{30};
constexpr int kMostTriesWhileDraining = 10;
constexpr int kComplainEvery = 300;  // tries, so about once a minute

struct RunnerState {
  explicit RunnerState(RunnerActor::pointer self_pointer) : self(self_pointer) {}
  void ask();
  void run(const Claimed& claimed);
  void keep_storing(const JobEnd& end, Result<Json> answer);

  RunnerActor::pointer self;
  Core* core = nullptr;
  Directory* directory = nullptr;
  inline static const char* name = "job_runner";
};

void RunnerState::ask() {
  if (core->parts.is_draining) return;
  // The claim waits in the state actor until a job is due, so it has no deadline of its own.
  self->request(directory->get<StateActor>(), caf::infinite, atom::claim_atom::value)
      .then([this](const Claimed& claimed) { run(claimed); },
            [this](caf::error&) { self->delayed_send(self, kAskAgain, atom::run_atom::value); });
}

void RunnerState::run(const Claimed& claimed) {
  if (!claimed.job) {  // the engine stops, or the state actor starts anew
    if (!core->parts.is_draining) self->delayed_send(self, kAskAgain, atom::run_atom::value);
    return;
  }
  const JobEnd end = run_job(*core, claimed);
  if (end.was_abandoned) return self->quit(caf::exit_reason::user_shutdown);
  if (!end.store) {
    core->parts.running.remove(end.lease);
    return ask();
  }
  // The end and the next claim go out together, so that one commit serves both.
  self->request(directory->get<StateActor>(), kStoreDeadline, atom::change_atom::value,
                StateChange{end.store})
      .then([this, end](Reply& reply) { keep_storing(end, std::move(reply.result)); },
            [this, end](caf::error&) { keep_storing(end, actor_is_gone().result); });
  ask();
}

/// The end must be stored: while this instance lives nobody else takes the job back, so a busy
/// database is asked again until it answers for good or the engine stops.
void RunnerState::keep_storing(const JobEnd& end, Result<Json> answer) {
  for (int attempt = 0; !answer.has_value(); ++attempt) {
    if (attempt % kComplainEvery == 0)
      log_warn("end of job not stored",
               {{"job_id", end.lease.job.value}, {"error", answer.error().message}});
    if (!answer.error().is_retryable()) break;
    if (core->parts.is_draining && attempt >= kMostTriesWhileDraining) break;
    std::this_thread::sleep_for(kAskAgain);
    answer = core->change(end.store);
  }
  core->parts.running.remove(end.lease);
}

RunnerActor::behavior_type job_runner(RunnerActor::stateful_pointer<RunnerState> self, Core* core,
                                      Directory* directory) {
  self->state.core = core;
  self->state.directory = directory;
  self->send(self, atom::run_atom::value);
  return {
      [self](atom::run_atom) { self->state.ask(); },
  };
}

}  // namespace

RunnerActor spawn_job_runner(caf::actor_system& system, Core* core, Directory* directory) {
  return system.spawn<caf::detached>(job_runner, core, directory);
}

}  // namespace indx
