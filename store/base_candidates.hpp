#pragma once
#include "store/database.hpp"
#include "vault/base_prefilter.hpp"

namespace indx {

/// The ids of the files that the prefilter leaves, in order; ids of no file may be among them.
/// Reads each column that the prefilter asks for once and no note.
Result<std::vector<std::int64_t>> base_candidates(Database& db, const BasePrefilter& prefilter);

/// Adds a property, whose value is JSON, to an object that is not closed yet; empty: a new one.
void append_property(std::string& object, const std::string& name, std::string_view value);

/// No file has a larger id.
Result<std::int64_t> max_file_id(Database& db);

}  // namespace indx
