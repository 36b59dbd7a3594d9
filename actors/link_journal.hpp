#pragma once
#include "actors/state.hpp"
#include "store/intent_store.hpp"

#include <string>

namespace indx {

/// What a finished write leaves to do, so that no crash loses it: the links that follow a move or a
/// renamed heading. A journal is `{key, kind, input, path_globs, plan}`: the job that would go on,
/// and what the call that wrote needs to do so itself. It is kept as an intent of its own.

/// Keeps the journal that an intent carries. A job needs none: its own steps say where it is.
Status keep_journal(State& state, const WriteIntent& intent);
bool is_journal(const WriteIntent& intent);
/// After a crash: makes it a job, unless it is one that still runs.
Status resume_journal(State& state, const WriteIntent& intent);

/// The plan of the journal with that key; null: there is none.
Result<Json> find_journal(Database& db, const std::string& key);
Status end_journal(State& state, const std::string& key);

}  // namespace indx
