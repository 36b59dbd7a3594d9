#pragma once
#include "base/cancel.hpp"
#include "store/database.hpp"

#include <functional>
#include <string>
#include <vector>

namespace indx {

/// What SQLite itself finds wrong with a database: pages, indexes, CHECK constraints, foreign keys;
/// at most 100.
Result<std::vector<std::string>> database_problems(Database& db);

/// A copy of `<dir>/index.db` at `path`, of one moment; writers go on meanwhile.
Status copy_index(const std::string& dir, const std::string& path);

/// What the full-text indexes of a copied index hold beside or other than the texts they are made
/// of.
Result<std::vector<std::string>> full_text_problems(Database& copy);

struct IndexDifference {
  enum class Kind : std::uint8_t {
    Missing,  ///< the file has no row
    Extra,    ///< a row of a file that is not there
    Changed,  ///< rows of the file are not what they must be
    Loose     ///< rows that belong to no file
  };
  Kind kind = Kind::Changed;
  std::string path;
  std::string table;
  std::string detail;  ///< which columns, or how many rows
};

/// Compares all tables of two indexes, whatever rows have for ids. `expected` was made from the
/// files alone. Streams in the order of paths; a file that only one of them knows is told once.
/// `visit` in no particular order. Ends early with `cancelled`.
Status compare_indexes(Database& actual, Database& expected, const CancelToken& cancel,
                       const std::function<void(IndexDifference)>& visit);

}  // namespace indx
