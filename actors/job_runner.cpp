#include "actors/job_runner.hpp"

#include "actors/job_run.hpp"
#include "base/log.hpp"

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <thread>

namespace indx {
namespace {

constexpr std::chrono::milliseconds kAskAgain{200};
constexpr int kMostTriesWhileDraining = 10;
constexpr int kComplainEvery = 300;  // tries, so about once a minute

struct RunnerState {
  explicit RunnerState(RunnerActor::pointer self_pointer) : self(self_pointer) {}
  StateWriter::Runner me() const;
  void ask();
  void run(const Claimed& claimed);
  void keep_storing(const JobEnd& end, Result<Json> answer);

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

void RunnerState::run(const Claimed& claimed) {
  if (!claimed.job) return;  // the engine stops
  const JobEnd end = run_job(*core, claimed);
  if (end.was_abandoned) return self->quit(caf::exit_reason::user_shutdown);
  if (!end.store) {
    core->parts.running.remove(end.lease);
    return ask();
  }
  keep_storing(end, core->state_writer.change_and_ask({end.store}, me()));
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

RunnerActor::behavior_type job_runner(RunnerActor::stateful_pointer<RunnerState> self, Core* core) {
  self->state.core = core;
  self->send(self, atom::run_atom::value);
  return {
      [self](atom::run_atom) { self->state.ask(); },
      [self](atom::claim_atom, const Claimed& claimed) { self->state.run(claimed); },
  };
}

}  // namespace

RunnerActor spawn_job_runner(caf::actor_system& system, Core* core) {
  return system.spawn<caf::detached>(job_runner, core);
}

}  // namespace indx
