#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "store/database.hpp"

namespace indx {

/// A fact worth telling: durable when it has an id (G14). Holds no note content.
struct Event {
  std::int64_t id = 0;    ///< 0: not durable (job progress)
  std::string kind;       ///< `note.updated`, `job.finished`, `ai.invocation` …
  Timestamp at;
  std::string actor;      ///< ui | api | cli | mcp | fs | system
  std::string subject;    ///< token id or `local`
  std::string job_id;     ///< empty: none
  Json data = Json::object();

  /// `{id, kind, at, actor, subject, job_id, …data}`; `id` is the wire id, left out for events that are not durable. Data
  /// cannot replace one of these.
  Json to_json(const std::string& epoch) const;
};

/// The table `events` of state.db.
class EventStore {
 public:
  explicit EventStore(Database& db) : db_(db) {}
  /// Gives the event its id.
  Result<std::int64_t> append(const Event& event);
  /// Events with id > after, oldest first. Empty kinds: all; a kind ending in `.*` is a prefix. Empty job: all.
  Result<std::vector<Event>> after(std::int64_t after, const std::vector<std::string>& kinds, const std::string& job_id,
                                   int limit);
  /// The oldest id that can still be read; newest_id() + 1 when there is none. A reader who has `id` missed events when
  /// id + 1 < oldest_id().
  Result<std::int64_t> oldest_id();
  /// The last id ever given; 0: none.
  Result<std::int64_t> newest_id();
  /// Random, made with the database: part of each wire id `<epoch>-<n>`.
  Result<std::string> epoch();
  /// Deletes at most `limit` events older than `before`, oldest first and without leaving a hole.
  Result<std::int64_t> prune(Timestamp before, int limit);

 private:
  Database& db_;
};

bool kind_matches(const std::string& kind, const std::vector<std::string>& patterns);

}  // namespace indx
