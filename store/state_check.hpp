#pragma once
#include "base/cancel.hpp"
#include "base/clock.hpp"
#include "store/database.hpp"

#include <functional>
#include <string>

namespace indx {

/// Something in state.db or in the files beside it that is not as it must be.
struct StateProblem {
  std::string kind;      ///< `version_damaged`
  bool is_lost = false;  ///< something that cannot be made again
  std::string path;      ///< of the note, or of the file in the index folder
  std::string message;
};
using StateVisitor = std::function<void(StateProblem)>;

/// Reads every kept version and compares it with its hash: `version_damaged`, `version_missing`,
/// `version_unused` (no note refers to it), `version_file_unused`. Gives how many were read. Ends
/// early with `cancelled`.
Result<std::int64_t> check_versions(Database& db, const std::string& dir, const CancelToken& cancel,
                                    const StateVisitor& visit);

/// Writes that were promised before `older_than` and neither confirmed nor dropped:
/// `write_unsettled`.
Status check_intents(Database& db, Timestamp older_than, const StateVisitor& visit);

}  // namespace indx
