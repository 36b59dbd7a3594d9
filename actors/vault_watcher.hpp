#pragma once
#include "actors/directory.hpp"
#include "actors/parts.hpp"

namespace indx {

/// Turns file changes into (path, etag) for the writer, which knows its own. Detached: it waits in
/// poll().
WatcherActor spawn_vault_watcher(caf::actor_system& system, Parts* parts, Directory* directory);

}  // namespace indx
