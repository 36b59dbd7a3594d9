#include "store/idempotency_store.hpp"

#include "base/text.hpp"
#include "store/columns.hpp"

namespace indx {
namespace {

constexpr std::chrono::hours kRememberedFor{24};
constexpr std::size_t kMaxReplyBytes = 256 * 1024;

Result<std::string> reply_text(const Json& reply) {
  std::string text = json_text(reply);
  if (text.size() > kMaxReplyBytes)
    return make_error(Reason::TooLarge, cat("The reply has ", text.size(), " bytes; up to ",
                                            kMaxReplyBytes, " are kept for an Idempotency-Key."));
  return text;
}

IdempotencyRecord read_record(const Database::Statement& row) {
  return {.subject = row.text(0),
          .operation = row.text(1),
          .key = row.text(2),
          .body_hash = row.text(3),
          .is_done = row.integer(4) != 0,
          .http_status = static_cast<int>(row.integer(5)),
          .reply = row.is_null(6) ? Json() : json_value(row.text(6)),
          .job_id = row.text(7),
          .created_at = time_at(row, 8)};
}

}  // namespace

Result<std::optional<IdempotencyRecord>> IdempotencyStore::find(const std::string& subject,
                                                                const std::string& operation,
                                                                const std::string& key,
                                                                Timestamp now) {
  auto query = db_.prepare(
      "SELECT subject, operation, key, body_hash, is_done, http_status, reply, job_id, created_at "
      "FROM idempotency "
      "WHERE subject = ?1 AND operation = ?2 AND key = ?3 AND created_at > ?4");
  query.bind(subject, operation, key, to_millis(now - kRememberedFor));
  if (!INDX_TRY(query.step())) return std::optional<IdempotencyRecord>();
  return std::optional(read_record(query));
}

Result<std::optional<IdempotencyRecord>> IdempotencyStore::claim(const IdempotencyRecord& record,
                                                                 Timestamp now) {
  if (record.key.empty()) return invalid("An Idempotency-Key must not be empty.");
  std::optional<std::string> reply;
  if (record.is_done) reply = INDX_TRY(reply_text(record.reply));
  auto existing = INDX_TRY(find(record.subject, record.operation, record.key, now));
  if (existing) return existing;
  INDX_TRY(db_.prepare("INSERT OR REPLACE INTO idempotency (subject, operation, key, body_hash, "
                       "is_done, http_status, "
                       "reply, job_id, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")
               .bind(record.subject, record.operation, record.key, record.body_hash, record.is_done,
                     record.http_status, reply, null_if_empty(record.job_id), to_millis(now))
               .run());
  return std::optional<IdempotencyRecord>();
}

Status IdempotencyStore::complete(const std::string& subject, const std::string& operation,
                                  const std::string& key, int http_status, const Json& reply) {
  const std::string text = INDX_TRY(reply_text(reply));
  INDX_TRY(db_.prepare("UPDATE idempotency SET is_done = 1, http_status = ?4, reply = ?5 "
                       "WHERE subject = ?1 AND operation = ?2 AND key = ?3")
               .bind(subject, operation, key, http_status, text)
               .run());
  return {};
}

Status IdempotencyStore::attach_job(const std::string& subject, const std::string& operation,
                                    const std::string& key, const std::string& job_id) {
  INDX_TRY(db_.prepare("UPDATE idempotency SET job_id = ?4 WHERE subject = ?1 AND operation = ?2 "
                       "AND key = ?3")
               .bind(subject, operation, key, job_id)
               .run());
  return {};
}

Status IdempotencyStore::release(const std::string& subject, const std::string& operation,
                                 const std::string& key) {
  INDX_TRY(
      db_.prepare(
             "DELETE FROM idempotency WHERE subject = ?1 AND operation = ?2 AND key = ?3 "
             "AND is_done = 0 "
             // A write that was promised under this key settles it; until then a repeat must wait.
             "AND NOT EXISTS (SELECT 1 FROM intents WHERE intents.subject = ?1 "
             "AND intents.idempotency_key = ?2 || char(10) || ?3)")
          .bind(subject, operation, key)
          .run());
  return {};
}

Status IdempotencyStore::release_orphans() {
  return db_.execute(
      "DELETE FROM idempotency WHERE is_done = 0 "
      "AND (job_id IS NULL OR NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.id = idempotency.job_id)) "
      "AND NOT EXISTS (SELECT 1 FROM intents WHERE intents.subject = idempotency.subject "
      "AND intents.idempotency_key = idempotency.operation || char(10) || idempotency.key)");
}

Result<std::int64_t> IdempotencyStore::prune(Timestamp before, int limit) {
  return db_
      .prepare(
          "DELETE FROM idempotency WHERE (subject, operation, key) IN "
          "(SELECT subject, operation, key FROM idempotency WHERE created_at < ?1 ORDER BY "
          "created_at LIMIT ?2)")
      .bind(to_millis(before), limit)
      .run();
}

}  // namespace indx
