#pragma once
#include "actors/directory.hpp"
#include "actors/parts.hpp"

namespace indx {

struct WatcherState;
/// Turns file changes into (path, etag) for the writer, which knows its own. Spawn detached: it waits in poll().
WatcherActor::behavior_type vault_watcher(WatcherActor::stateful_pointer<WatcherState> self, Parts* parts,
                                          Directory* directory);

}  // namespace indx
