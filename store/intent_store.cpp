#include "store/intent_store.hpp"

#include "store/columns.hpp"

namespace indx {
namespace {

WriteIntent read_intent(const Database::Statement& row) {
  return {.id = {row.text(0)},
          .path = row.text(1),
          .before_sha256 = row.text(2),
          .after_sha256 = row.text(3),
          .temp_name = row.text(4),
          .permanent = row.integer(5) != 0,
          .actor = row.text(6),
          .subject = row.text(7),
          .request_id = row.text(8),
          .job_id = row.text(9),
          .step_key = row.text(10),
          .step_inputs_hash = row.text(11),
          .lease = row.integer(12),
          .idempotency_key = row.text(13),
          .outcome = json_value(row.text(14)),
          .at = time_at(row, 15)};
}

}  // namespace

Status IntentStore::add(const WriteIntent& intent) {
  INDX_TRY(
      db_.prepare(
             "INSERT INTO intents (id, path, before_sha256, after_sha256, temp_name, permanent, "
             "actor, subject, "
             "request_id, job_id, step_key, step_inputs_hash, lease, idempotency_key, outcome, at) "
             "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)")
          .bind(intent.id.value, intent.path, intent.before_sha256, intent.after_sha256,
                intent.temp_name, intent.permanent, intent.actor, intent.subject, intent.request_id,
                intent.job_id, intent.step_key, intent.step_inputs_hash, intent.lease,
                intent.idempotency_key, json_text(intent.outcome), to_millis(intent.at))
          .run());
  return {};
}

Result<bool> IntentStore::remove(const WriteId& id) {
  return INDX_TRY(db_.prepare("DELETE FROM intents WHERE id = ?1").bind(id.value).run()) > 0;
}

Result<std::vector<WriteIntent>> IntentStore::open_intents() {
  auto query = db_.prepare(
      "SELECT id, path, before_sha256, after_sha256, temp_name, permanent, actor, subject, "
      "request_id, job_id, step_key, "
      "step_inputs_hash, lease, idempotency_key, outcome, at FROM intents ORDER BY seq");
  std::vector<WriteIntent> intents;
  while (INDX_TRY(query.step())) intents.push_back(read_intent(query));
  return intents;
}

}  // namespace indx
