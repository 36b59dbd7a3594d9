#pragma once
#include "actors/directory.hpp"
#include "actors/parts.hpp"

namespace indx {

/// Keeps index.db in step with the files. Detached. Single files go first: a scan works in slices
/// and looks at the mailbox in between (G12).
IndexerActor spawn_indexer(caf::actor_system& system, Parts* parts, Directory* directory);

}  // namespace indx
