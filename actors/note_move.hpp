#pragma once
#include "actors/note_write.hpp"

namespace indx {

/// The phases of a move (G2, G3) as plain functions. A move is a NoteWrite whose outcome has
/// `moved_from`; its intent names the inode, which tells after a crash whether the rename happened.

bool is_move(const WriteIntent& intent);
bool is_move(const NoteWrite& write);

/// Checks paths, guards and what stands at the new place. Touches nothing.
Result<NoteWrite> plan_move(const Vault& vault, WriteRequest request, const Clock& clock,
                            Random& random);
/// False: the file is no longer the one that was guarded; it is back at its old place.
Result<bool> perform_move(const Vault& vault, const NoteWrite& write, std::string* displaced);
/// The event, and the history that follows the file.
Status finish_move(State& state, const WriteIntent& intent, const WriteOutcome& outcome);
/// After a crash: a move that happened is finished, another dropped.
Status settle_move(State& state, const Vault& vault, const WriteIntent& intent);

}  // namespace indx
