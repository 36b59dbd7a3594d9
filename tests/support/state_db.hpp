#pragma once
#include "store/state_schema.hpp"
#include "tests/support/temp_dir.hpp"

namespace indx {

/// A fresh state.db in its own folder; not synced, as no test cuts the power.
struct StateDb {
  TempDir dir;
  Database db = open_state_db(dir.path(), Durability::Off).value();

  /// What a restart of the process sees.
  void reopen() { db = open_state_db(dir.path(), Durability::Off).value(); }
};

}  // namespace indx
