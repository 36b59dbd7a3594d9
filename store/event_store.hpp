#pragma once
#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/ids.hpp"
#include "store/database.hpp"

#include <optional>
#include <string>
#include <vector>

namespace indx {

/// The table `events` of state.db.
class EventStore {
 public:
  explicit EventStore(Database& db) : db_(db) {}
  /// Gives the event its id.
  Result<std::int64_t> append(const Event& event);
  /// Events with id > after, oldest first. Empty kinds: all; a kind ending in `.*` is a prefix.
  /// Empty job: all.
  Result<std::vector<Event>> after(std::int64_t after, const std::vector<std::string>& kinds,
                                   const std::string& job_id, int limit);
  /// The same for several jobs, found by their index: one page may take all of their events.
  Result<std::vector<Event>> after_of(std::int64_t after, const std::vector<std::string>& kinds,
                                      const std::vector<std::string>& jobs, int limit);
  /// What Event::to_json gives for those after an id, as one line each.
  struct Line {
    std::int64_t id = 0;
    std::string text;
  };
  Result<std::vector<Line>> lines_after(std::int64_t after, const std::string& epoch, int limit);
  /// The oldest id that can still be read; newest_id() + 1 when there is none. A reader who has
  /// `id` missed events when id + 1 < oldest_id().
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

}  // namespace indx
