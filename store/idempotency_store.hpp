#pragma once
#include "base/clock.hpp"
#include "store/database.hpp"

#include <optional>
#include <string>

namespace indx {

/// One remembered call (G16): (subject, operation, key) → body hash, and either a reply or a job
/// id.
struct IdempotencyRecord {
  std::string subject, operation, key, body_hash;
  bool is_done = false;
  int http_status = 0;
  Json reply;          ///< the `{ok, data|error}` body, when done
  std::string job_id;  ///< the job that answers, if any
  Timestamp created_at;
};

class IdempotencyStore {
 public:
  explicit IdempotencyStore(Database& db) : db_(db) {}
  /// Inserts a running record, or gives the one that is already there (younger than 24 h; older
  /// ones are replaced).
  Result<std::optional<IdempotencyRecord>> claim(const IdempotencyRecord& record, Timestamp now);
  Result<std::optional<IdempotencyRecord>> find(const std::string& subject,
                                                const std::string& operation,
                                                const std::string& key, Timestamp now);
  /// Names the job that will answer a running record.
  Status attach_job(const std::string& subject, const std::string& operation,
                    const std::string& key, const std::string& job_id);
  /// `too_large` for a reply over 256 kB. A record that was forgotten meanwhile stays forgotten:
  /// what the call did counts.
  Status complete(const std::string& subject, const std::string& operation, const std::string& key,
                  int http_status, const Json& reply);
  /// Forgets a running record, so that the call can be tried again (429, 5xx, crash).
  Status release(const std::string& subject, const std::string& operation, const std::string& key);
  /// After a crash: running records without a job and without an open intent are forgotten.
  Status release_orphans();
  Result<std::int64_t> prune(Timestamp before, int limit);

 private:
  Database& db_;
};

}  // namespace indx
