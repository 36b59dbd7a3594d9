#pragma once
#include "base/event.hpp"
#include "vault/note_query.hpp"

#include <string>
#include <vector>

namespace indx {

/// What to hear of, and from where.
struct EventFilter {
  std::vector<std::string> kinds;  ///< patterns, empty: all
  std::vector<std::string> jobs;   ///< ids, empty: events of all jobs and of none
  PathScope scope;                 ///< events about paths outside are left out
  std::string subject;             ///< whose token it is; empty: nobody's
  bool only_own_jobs = false;      ///< `job.*` events of other subjects are left out
  /// Without a last event id: begins with what is stored about `jobs`, so that who learns of a job
  /// after its first event sees that one too.
  bool from_first = false;

  bool wants(const Event& event) const;
  /// Whether it is bound to some paths of the vault.
  bool is_bounded() const { return !scope.any_of.empty() || !scope.none_of.empty(); }
  bool wants_kinds_of_jobs() const;  ///< any `job.…`
};

}  // namespace indx
