#pragma once
#include <sqlite3.h>

namespace indx {

/// Runs `use` with the FTS5 of a connection, which is where its tokenizers and functions are
/// registered; gives an SQLite result code.
template <typename Use>
int with_fts5(sqlite3* db, Use use) {
  fts5_api* api = nullptr;
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &statement, nullptr);
  if (code != SQLITE_OK) return code;
  sqlite3_bind_pointer(statement, 1, &api, "fts5_api_ptr", nullptr);
  sqlite3_step(statement);
  code = sqlite3_finalize(statement);
  if (code != SQLITE_OK) return code;
  return api == nullptr ? SQLITE_ERROR : use(*api);
}

}  // namespace indx
