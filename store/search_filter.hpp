#pragma once
#include "store/note_filter.hpp"
#include "store/search_run.hpp"

#include <string>
#include <vector>

namespace indx {

/// Empty: there is no such file.
Result<std::string> path_of(Database& db, std::int64_t id);

/// The files whose path the filter allows.
Result<FileIds> allowed_files(Database& db, const FilterCheck& check);

/// Drops what the caller may not see or did not ask for, so that counts and pages hold only the
/// rest.
Status apply_filter(Database& db, const FilterCheck& check, std::vector<Found>& found);

}  // namespace indx
