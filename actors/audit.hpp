#pragma once
#include "actors/directory.hpp"
#include "actors/parts.hpp"

namespace indx {

struct AuditState;
/// Spawn detached: it writes a file.
AuditActor::behavior_type audit(AuditActor::stateful_pointer<AuditState> self, Parts* parts);

}  // namespace indx
