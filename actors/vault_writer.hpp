#pragma once
#include "actors/directory.hpp"
#include "actors/parts.hpp"

namespace indx {

/// The right to change vault files. Detached: it fsyncs. One write a path at a time, at most 16 in
/// flight.
WriterActor spawn_vault_writer(caf::actor_system& system, Parts* parts, Directory* directory);

}  // namespace indx
