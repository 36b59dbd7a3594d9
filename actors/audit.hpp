#pragma once
#include "actors/directory.hpp"
#include "actors/parts.hpp"

namespace indx {

/// Detached: it writes a file.
AuditActor spawn_audit(caf::actor_system& system, Parts* parts);

}  // namespace indx
