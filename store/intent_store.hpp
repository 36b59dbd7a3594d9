#pragma once
#include "base/clock.hpp"
#include "base/ids.hpp"
#include "store/database.hpp"

#include <optional>
#include <string>
#include <vector>

namespace indx {

/// A vault write that was promised and not yet confirmed (G2). Settled before serving after a
/// crash.
struct WriteIntent {
  WriteId id;
  std::string path;
  std::string before_sha256;  ///< empty: the file did not exist
  std::string after_sha256;   ///< empty: a delete
  std::string temp_name;      ///< of the temp file in the note's folder
  bool permanent = false;     ///< delete without trash
  std::string actor, subject, request_id;
  std::string job_id, step_key, step_inputs_hash;  ///< empty outside a job step
  std::int64_t lease = 0;
  std::string idempotency_key;    ///< `<operation>\n<key>` of the subject's idempotency row to
                                  ///< complete, empty: none
  Json outcome = Json::object();  ///< the WriteOutcome that becomes the step result and the reply
  Timestamp at;
};

class IntentStore {
 public:
  explicit IntentStore(Database& db) : db_(db) {}
  Status add(const WriteIntent& intent);
  /// False: already settled.
  Result<bool> remove(const WriteId& id);
  /// In the order they were added.
  Result<std::vector<WriteIntent>> open_intents();

 private:
  Database& db_;
};

}  // namespace indx
