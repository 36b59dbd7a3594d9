#pragma once
#include "store/database.hpp"

#include <string>

namespace indx {

/// Opens `<dir>/state.db` for writing, migrated to the newest schema. This file cannot be rebuilt.
Result<Database> open_state_db(const std::string& dir, Durability durability);
/// A read-only connection to an existing state.db.
Result<Database> open_state_db_reader(const std::string& dir);

}  // namespace indx
