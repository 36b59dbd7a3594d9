#pragma once
#include "actors/directory.hpp"
#include "actors/parts.hpp"

namespace indx {

struct IndexerState;
/// Keeps index.db in step with the files. Spawn detached. Single files go first: a scan works in slices and looks at the
/// mailbox in between (G12).
IndexerActor::behavior_type indexer(IndexerActor::stateful_pointer<IndexerState> self, Parts* parts, Directory* directory);

}  // namespace indx
