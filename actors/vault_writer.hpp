#pragma once
#include "actors/directory.hpp"
#include "actors/parts.hpp"

namespace indx {

struct VaultWriterState;
/// The right to change vault files. Spawn detached: it fsyncs. One write a path at a time, at most 16 in flight.
WriterActor::behavior_type vault_writer(WriterActor::stateful_pointer<VaultWriterState> self, Parts* parts,
                                        Directory* directory);

}  // namespace indx
