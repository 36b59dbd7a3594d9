#include "actors/supervisor.hpp"

#include "actors/audit.hpp"
#include "actors/event_bus.hpp"
#include "actors/indexer.hpp"
#include "actors/job_runner.hpp"
#include "actors/state_actor.hpp"
#include "actors/vault_watcher.hpp"
#include "actors/vault_writer.hpp"
#include "base/log.hpp"

#include <caf/actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace indx {
namespace {

const std::string kRunnerName = "job_runner_";

struct SupervisorState {
  struct Child {
    ChildSpec spec;
    caf::actor_addr address;
  };
  explicit SupervisorState(SupervisorActor::pointer self_pointer) : self(self_pointer) {}
  void start_spare_runner();

  SupervisorActor::pointer self;
  std::vector<Child> children;
  Core* core = nullptr;
  int spare_runners = 0;
  inline static const char* name = "supervisor";
};

void SupervisorState::start_spare_runner() {
  if (core->parts.is_draining) return;
  const auto runner = std::find_if(children.begin(), children.end(), [](const Child& child) {
    return child.spec.name.starts_with(kRunnerName);
  });
  if (runner == children.end()) return;
  ChildSpec spec = runner->spec;
  spec.name = kRunnerName + ("spare_" + std::to_string(spare_runners++));
  const auto spare = spec.spawn(self->system());
  self->monitor(spare);
  children.push_back({std::move(spec), spare.address()});
}

SupervisorActor::behavior_type supervisor(SupervisorActor::stateful_pointer<SupervisorState> self,
                                          Core* core, std::vector<ChildSpec> specs) {
  self->state.core = core;
  for (auto& spec : specs) {
    const auto child = spec.spawn(self->system());
    self->monitor(child);
    self->state.children.push_back({std::move(spec), child.address()});
  }
  self->set_down_handler([self](caf::down_msg& down) {
    self->state.core->state_writer.forget(down.source.id());
    if (self->state.core->parts.is_draining) return;
    if (down.reason == caf::exit_reason::user_shutdown) {  // a runner that another one replaced
      std::erase_if(self->state.children,
                    [&](const auto& child) { return child.address == down.source; });
      return;
    }
    for (auto& child : self->state.children) {
      if (child.address != down.source) continue;
      log_error("an actor ended by accident and starts again",
                {{"actor", child.spec.name}, {"reason", caf::to_string(down.reason)}});
      const auto next = child.spec.spawn(self->system());
      if (child.spec.after_restart) child.spec.after_restart();
      self->monitor(next);
      child.address = next.address();
    }
  });
  self->set_exit_handler([self](caf::exit_msg& exit) {
    for (auto child = self->state.children.rbegin(); child != self->state.children.rend(); ++child)
      if (auto actor = caf::actor_cast<caf::strong_actor_ptr>(child->address))
        caf::anon_send_exit(caf::actor_cast<caf::actor>(actor), caf::exit_reason::user_shutdown);
    self->quit(exit.reason);
  });
  return {
      [self](atom::spare_atom) { self->state.start_spare_runner(); },
      [self](atom::crash_atom, const std::string& name) {
        for (const auto& child : self->state.children)
          if (child.spec.name == name)
            if (auto actor = caf::actor_cast<caf::strong_actor_ptr>(child.address))
              caf::anon_send_exit(caf::actor_cast<caf::actor>(actor), caf::exit_reason::kill);
      },
  };
}

}  // namespace

SupervisorActor spawn_supervisor(caf::actor_system& system, Core* core,
                                 std::vector<ChildSpec> children) {
  return system.spawn(supervisor, core, std::move(children));
}

std::vector<ChildSpec> engine_children(Core& core, Directory& directory, bool with_watcher) {
  Parts* parts = &core.parts;
  Directory* known = &directory;
  std::vector<ChildSpec> children;
  const auto add = [&](const std::string& name, auto spawn) {
    children.push_back({name, [spawn, known](caf::actor_system& system) {
                          auto actor = spawn(system);
                          known->set(actor);
                          return caf::actor_cast<caf::actor>(actor);
                        }});
  };
  add("state", [=, &core](caf::actor_system& system) {
    return spawn_state_actor(system, parts, known, &core.state_writer);
  });
  add("event_bus", [=](caf::actor_system& system) { return spawn_event_bus(system, parts); });
  children.back().after_restart = [&core] { core.join_all_again(); };
  add("audit", [=](caf::actor_system& system) { return spawn_audit(system, parts); });
  add("indexer", [=](caf::actor_system& system) { return spawn_indexer(system, parts, known); });
  children.back().after_restart = [known] {
    caf::anon_send(known->get<IndexerActor>(), atom::scan_atom::value,
                   ScanRequest{.is_external = true});
  };
  add("vault_writer",
      [=](caf::actor_system& system) { return spawn_vault_writer(system, parts, known); });
  for (int i = 0; i < parts->config.jobs.runners; ++i)
    children.push_back({kRunnerName + std::to_string(i), [=, &core](caf::actor_system& system) {
                          return caf::actor_cast<caf::actor>(spawn_job_runner(system, &core));
                        }});
  if (with_watcher)
    children.push_back({"vault_watcher", [=](caf::actor_system& system) {
                          return caf::actor_cast<caf::actor>(
                              spawn_vault_watcher(system, parts, known));
                        }});
  return children;
}

}  // namespace indx
