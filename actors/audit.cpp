#include "actors/audit.hpp"

#include "actors/audit_log.hpp"
#include "base/log.hpp"
#include "store/event_store.hpp"
#include "store/state_schema.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace indx {
namespace {

struct AuditState {
  Status open(Parts* parts);
  Status catch_up();

  std::optional<Database> reader;
  std::optional<AuditLog> log;
  std::string epoch;
  std::int64_t last_id = 0;
  inline static const char* name = "audit";
};

Status AuditState::open(Parts* parts) {
  reader.emplace(INDX_TRY(open_state_db_reader(parts->config.index_dir)));
  epoch = parts->event_epoch;
  log.emplace(parts->config.index_dir, epoch);
  last_id = INDX_TRY(log->last_id());
  parts->is_audit_asked = false;  // a predecessor may have ended with the message
  return {};
}

Status AuditState::catch_up() {
  constexpr int kPage = 500;
  EventStore store(*reader);
  for (;;) {
    const auto page = INDX_TRY(store.lines_after(last_id, epoch, kPage));
    for (const auto& [id, line] : page) {
      INDX_TRY(log->append(line));
      last_id = id;
    }
    INDX_TRY(log->flush());
    if (page.size() < kPage) return {};
  }
}

AuditActor::behavior_type audit(AuditActor::stateful_pointer<AuditState> self, Parts* parts) {
  if (const Status opened = self->state.open(parts); !opened.has_value()) {
    log_error("audit log cannot be opened", {{"error", opened.error().message}});
    self->quit(caf::exit_reason::unhandled_exception);
  }
  return {
      [self, parts](atom::tick_atom) {
        parts->is_audit_asked = false;
        if (const Status done = self->state.catch_up(); !done.has_value())
          log_warn("audit log is behind", {{"error", done.error().message}});
      },
      [self](atom::drain_atom) -> Reply {
        if (const Status done = self->state.catch_up(); !done.has_value()) return {done.error()};
        return {};
      },
  };
}

}  // namespace

AuditActor spawn_audit(caf::actor_system& system, Parts* parts) {
  return system.spawn<caf::detached>(audit, parts);
}

}  // namespace indx
