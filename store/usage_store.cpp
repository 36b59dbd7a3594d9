#include "store/usage_store.hpp"

#include "base/text.hpp"
#include "store/columns.hpp"

namespace indx {
namespace {

UsageRecord read_usage(const Database::Statement& row) {
  return {.id = row.text(0),
          .operation = row.text(1),
          .provider = row.text(2),
          .model = row.text(3),
          .job_id = row.text(4),
          .item = row.text(5),
          .request_id = row.text(6),
          .status = row.text(7),
          .input_tokens = static_cast<int>(row.integer(8)),
          .output_tokens = static_cast<int>(row.integer(9)),
          .cost_usd = row.is_null(10) ? std::nullopt : std::optional(row.real(10)),
          .source = row.text(11),
          .attempt = static_cast<int>(row.integer(12)),
          .started_at = time_at(row, 13),
          .finished_at = optional_time_at(row, 14)};
}

}  // namespace

Status UsageStore::start(const UsageRecord& record) {
  INDX_TRY(db_.prepare("INSERT INTO usage (id, operation, provider, model, job_id, item, "
                       "request_id, status, input_tokens, "
                       "output_tokens, cost_usd, source, attempt, started_at, finished_at) "
                       "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)")
               .bind(record.id, record.operation, record.provider, record.model, record.job_id,
                     record.item, record.request_id, record.status, record.input_tokens,
                     record.output_tokens, record.cost_usd, record.source, record.attempt,
                     to_millis(record.started_at), optional_millis(record.finished_at))
               .run());
  return {};
}

Status UsageStore::finish(const UsageRecord& record) {
  const auto changed = INDX_TRY(
      db_.prepare("UPDATE usage SET model = ?2, status = ?3, input_tokens = ?4, output_tokens = "
                  "?5, cost_usd = ?6, "
                  "source = ?7, attempt = ?8, finished_at = ?9 WHERE id = ?1")
          .bind(record.id, record.model, record.status, record.input_tokens, record.output_tokens,
                record.cost_usd, record.source, record.attempt, optional_millis(record.finished_at))
          .run());
  if (changed == 0) return not_found(cat("No model call ", record.id, " was started."));
  return {};
}

Result<std::int64_t> UsageStore::mark_lost() {
  return db_.prepare("UPDATE usage SET status = 'lost' WHERE status = 'started'").run();
}

Result<std::vector<UsageRecord>> UsageStore::list(const std::string& job_id) {
  auto query = db_.prepare(
      "SELECT id, operation, provider, model, job_id, item, request_id, status, input_tokens, "
      "output_tokens, cost_usd, "
      "source, attempt, started_at, finished_at FROM usage WHERE job_id = ?1 ORDER BY started_at, "
      "id");
  query.bind(job_id);
  std::vector<UsageRecord> records;
  while (INDX_TRY(query.step())) records.push_back(read_usage(query));
  return records;
}

Result<UsageStore::Totals> UsageStore::totals_since(Timestamp since) {
  auto query = db_.prepare(
      "SELECT COUNT(*), IFNULL(SUM(input_tokens), 0), IFNULL(SUM(output_tokens), 0), "
      "IFNULL(SUM(cost_usd), 0.0) "
      "FROM usage WHERE started_at >= ?1");
  query.bind(to_millis(since));
  INDX_TRY(query.step());
  return Totals{.calls = query.integer(0),
                .input_tokens = query.integer(1),
                .output_tokens = query.integer(2),
                .cost_usd = query.real(3)};
}

}  // namespace indx
