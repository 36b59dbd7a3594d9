#pragma once
#include "base/json.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace indx {

/// One thing that is not as it must be.
struct Finding {
  enum class Severity : std::uint8_t {
    Notice,   ///< something left over that does no harm
    Warning,  ///< the index, which can be made again
    Error     ///< something that only a backup brings back
  };
  std::string kind;  ///< stable, such as `index_stale`
  Severity severity = Severity::Warning;
  std::string path;  ///< of a note, or of a file in the index folder; empty: no single file
  std::string message;
  std::string advice;  ///< what to do about it

  /// Whether it is about index.db, so that indexing mends it.
  bool is_in_index() const { return kind.starts_with("index_"); }
};

struct Checkup {
  std::vector<Finding> findings;  ///< in order of kind and path; at most kMaxFindings
  std::int64_t total = 0;         ///< findings, those left out included
  std::int64_t files = 0, versions = 0, jobs = 0;  ///< looked at
};
inline constexpr std::size_t kMaxFindings = 100'000;

/// How many rows were deleted because they are kept no longer.
struct Pruned {
  std::int64_t versions = 0, events = 0, idempotency_keys = 0;
  std::int64_t jobs = 0;         ///< finished ones, and their steps
  std::int64_t slots = 0;        ///< of schedules
  std::int64_t model_calls = 0;  ///< rows of the usage log
  bool is_done = true;           ///< nothing is left

  std::int64_t total() const {
    return versions + events + idempotency_keys + jobs + slots + model_calls;
  }
};

/// As the result of a step.
Json to_json(const Pruned& pruned);

/// Looks after everything that indx keeps.
class Doctor {
 public:
  virtual ~Doctor() = default;
  /// Blocks, tells progress, ends early with `cancelled`. Notes, index.db and state.db are only
  /// read. A file that changes meanwhile is looked at again before it counts as different.
  virtual Result<Checkup> examine() = 0;
  /// Deletes some of what is kept no longer, in one short commit; call it until it is done. In a
  /// step that gives to_json of it and does nothing else, which is stored in the same commit.
  virtual Result<Pruned> prune() = 0;
};

}  // namespace indx
