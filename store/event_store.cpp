#include "store/event_store.hpp"

#include "base/text.hpp"
#include "store/columns.hpp"

#include <algorithm>
#include <array>

namespace indx {
namespace {

Event read_event(const Database::Statement& row) {
  return {.id = row.integer(0),
          .kind = row.text(1),
          .at = time_at(row, 2),
          .actor = row.text(3),
          .subject = row.text(4),
          .job_id = row.text(5),
          .data = json_value(row.text(6))};
}

// The condition on kinds says what kind_matches says.
constexpr std::string_view kOfKinds =
    "id > ?1 AND (?2 = '[]' OR EXISTS ("
    "SELECT 1 FROM json_each(?2) WHERE kind = value OR (substr(value, -2) = '.*' AND "
    "substr(kind, 1, length(value) - 1) = substr(value, 1, length(value) - 1))))";

Result<std::vector<Event>> read_events(Database::Statement query) {
  std::vector<Event> events;
  while (INDX_TRY(query.step())) events.push_back(read_event(query));
  return events;
}

/// Whether a name of the envelope may be among those of the data, where it counts for nothing.
bool may_hide_envelope(std::string_view data) {
  using namespace std::string_view_literals;
  static constexpr std::array kNames = {"\"id\":"sv,    "\"kind\":"sv,    "\"at\":"sv,
                                        "\"actor\":"sv, "\"subject\":"sv, "\"job_id\":"sv};
  return std::any_of(kNames.begin(), kNames.end(), [&](const std::string_view name) {
    return data.find(name) != std::string_view::npos;
  });
}

/// Nearly always the data is a part of the line as it is.
std::string line_of(const Database::Statement& row, const std::string& epoch) {
  const auto data = row.text_view(6);
  if (!data.starts_with("{") || may_hide_envelope(data))
    return json_text(read_event(row).to_json(epoch));
  std::string line = cat(R"({"id":")", epoch, "-", row.integer(0), R"(","kind":)");
  append_json_string(line, row.text_view(1));
  append_json_string(line += R"(,"at":)", format_time(time_at(row, 2)));
  append_json_string(line += R"(,"actor":)", row.text_view(3));
  append_json_string(line += R"(,"subject":)", row.text_view(4));
  if (!row.is_null(5)) append_json_string(line += R"(,"job_id":)", row.text_view(5));
  if (data == "{}") return line += '}';
  return (line += ',') += data.substr(1);
}

}  // namespace

Result<std::vector<EventStore::Line>> EventStore::lines_after(std::int64_t after,
                                                              const std::string& epoch, int limit) {
  auto query = db_.prepare(
      "SELECT id, kind, at, actor, subject, job_id, data FROM events WHERE id > ?1 ORDER BY id "
      "LIMIT ?2");
  query.bind(after, limit);
  std::vector<Line> lines;
  while (INDX_TRY(query.step())) lines.push_back({query.integer(0), line_of(query, epoch)});
  return lines;
}

Result<std::int64_t> EventStore::append(const Event& event) {
  INDX_TRY(db_.prepare("INSERT INTO events (kind, at, actor, subject, job_id, data) VALUES (?1, "
                       "?2, ?3, ?4, ?5, ?6)")
               .bind(event.kind, to_millis(event.at), event.actor, event.subject,
                     null_if_empty(event.job_id), json_text(event.data))
               .run());
  return db_.last_insert_id();
}

Result<std::vector<Event>> EventStore::after(std::int64_t after,
                                             const std::vector<std::string>& kinds,
                                             const std::string& job_id, int limit) {
  static const std::string kSelect =
      cat("SELECT id, kind, at, actor, subject, job_id, data FROM events WHERE ", kOfKinds);
  auto query = job_id.empty() ? db_.prepare(kSelect + " ORDER BY id LIMIT ?3")
                              : db_.prepare(kSelect + " AND job_id = ?4 ORDER BY id LIMIT ?3");
  query.bind(after, json_text(kinds), limit);
  if (!job_id.empty()) query.bind_one(4, job_id);
  return read_events(std::move(query));
}

Result<std::vector<Event>> EventStore::after_of(std::int64_t after,
                                                const std::vector<std::string>& kinds,
                                                const std::vector<std::string>& jobs, int limit) {
  static const std::string kSelect =
      cat("SELECT id, kind, at, actor, subject, job_id, data FROM events INDEXED BY events_job "
          "WHERE job_id IN (SELECT value FROM json_each(?4)) AND ",
          kOfKinds, " ORDER BY id LIMIT ?3");
  auto query = db_.prepare(kSelect);
  query.bind(after, json_text(kinds), limit, json_text(jobs));
  return read_events(std::move(query));
}

Result<std::int64_t> EventStore::oldest_id() {
  auto query = db_.prepare("SELECT MIN(id) FROM events");
  INDX_TRY(query.step());
  if (const auto oldest = query.optional_integer(0)) return *oldest;
  return INDX_TRY(newest_id()) + 1;
}

Result<std::int64_t> EventStore::newest_id() {
  auto query = db_.prepare("SELECT IFNULL(MAX(id), 0) FROM events");
  INDX_TRY(query.step());
  return query.integer(0);
}

Result<std::string> EventStore::epoch() {
  auto query = db_.prepare("SELECT value FROM meta WHERE key = 'event_epoch'");
  if (!INDX_TRY(query.step()))
    return internal_error("state.db has no event epoch; restore it from a backup.");
  return query.text(0);
}

// Only the oldest stretch goes, so that the ids that are left have no hole even when the clock was
// set back. The newest one stays, or its id would be given again.
Result<std::int64_t> EventStore::prune(Timestamp before, int limit) {
  return db_
      .prepare(
          "WITH oldest AS MATERIALIZED (SELECT id, at FROM events ORDER BY id LIMIT ?2) "
          "DELETE FROM events WHERE id IN (SELECT id FROM oldest) "
          "AND id < IFNULL((SELECT MIN(id) FROM oldest WHERE at >= ?1), 9223372036854775807) "
          "AND id < (SELECT MAX(id) FROM events)")
      .bind(to_millis(before), limit)
      .run();
}

}  // namespace indx
