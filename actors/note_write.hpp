#pragma once
#include "actors/messages.hpp"
#include "actors/state.hpp"
#include "vault/vault.hpp"

#include <optional>
#include <string>

namespace indx {

/// The phases of one note write (G2) as plain functions; the writer actor puts them in order.

/// What a change will do, worked out before anything is promised.
struct NoteWrite {
  WriteRequest request;
  std::optional<std::string> before, after;  ///< nullopt: no file
  WriteOutcome outcome;
  WriteIntent intent;
  std::vector<std::string> also_displaced;  ///< edits of others, beyond the first
};

/// Reads the note, checks rules and guards, applies the change to the bytes. Touches nothing.
Result<NoteWrite> plan_write(const Vault& vault, WriteRequest request, const Clock& clock,
                             Random& random);

/// (a): the promise with the before-image. Fails with `stale_lease` when the job is no longer ours.
Status begin_write(State& state, const NoteWrite& write);

/// (b): the file. False: an external edit was found and put back; its bytes go to `*displaced`.
Result<bool> perform_write(const Vault& vault, NoteWrite& write, std::string* displaced);

/// (c): promise kept: event, step result, idempotent reply, what the job wrote. Also used when
/// nothing had to be written.
Status finish_write(State& state, const WriteIntent& intent, const WriteOutcome& outcome);

/// Instead of (c): the promise is dropped; displaced bytes are kept as a version. False: it was
/// dropped before.
Result<bool> abandon_write(State& state, const NoteWrite& write, const std::string& displaced);

/// Before serving: every open promise of a process that died is kept or dropped by what the file
/// holds.
Status settle_writes(State& state, const Vault& vault);

Error etag_mismatch(const NotePath& path, const std::string& expected, const std::string& actual);

}  // namespace indx
