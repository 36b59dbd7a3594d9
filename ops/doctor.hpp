#pragma once
#include "base/result.hpp"

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

/// Compares everything that indx keeps with what it must be.
class Doctor {
 public:
  virtual ~Doctor() = default;
  /// Blocks, tells progress, ends early with `cancelled`. Notes, index.db and state.db are only
  /// read. A file that changes meanwhile is looked at again before it counts as different.
  virtual Result<Checkup> examine() = 0;
};

}  // namespace indx
