#pragma once
#include "base/clock.hpp"
#include "base/json.hpp"

#include <string>
#include <vector>

namespace indx {

/// A fact worth telling: durable when it has an id (G14). Holds no note content.
struct Event {
  std::int64_t id = 0;  ///< 0: not durable (job progress)
  std::string kind;     ///< `note.updated`, `job.finished`, `ai.invocation` …
  Timestamp at;
  std::string actor;    ///< ui | api | cli | mcp | fs | system
  std::string subject;  ///< token id or `local`
  std::string job_id;   ///< empty: none
  Json data = Json::object();

  /// `{id, kind, at, actor, subject, job_id?, …data}`; `id` is `<epoch>-<n>`, left out for events
  /// that are not durable.
  Json to_json(const std::string& epoch) const;
};

/// Whether `kind` is one of the patterns; a pattern may end in `.*`; no patterns: every kind.
bool kind_matches(const std::string& kind, const std::vector<std::string>& patterns);

}  // namespace indx
