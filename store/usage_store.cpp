#include "store/usage_store.hpp"

#include "base/text.hpp"
#include "store/columns.hpp"

#include <chrono>
#include <cstdio>

namespace indx {
namespace {

std::int64_t day_of(Timestamp at) {
  return std::chrono::floor<std::chrono::days>(at).time_since_epoch().count();
}

UsageRecord read_usage(const Database::Statement& row) {
  return {.id = row.text(0),
          .operation = row.text(1),
          .feature = row.text(2),
          .provider = row.text(3),
          .model = row.text(4),
          .job_id = row.text(5),
          .item = row.text(6),
          .request_id = row.text(7),
          .status = row.text(8),
          .input_tokens = row.integer(9),
          .output_tokens = row.integer(10),
          .cost_usd = row.is_null(11) ? std::nullopt : std::optional(row.real(11)),
          .reserved_usd = row.real(12),
          .source = row.text(13),
          .attempt = static_cast<int>(row.integer(14)),
          .started_at = time_at(row, 15),
          .finished_at = optional_time_at(row, 16)};
}

/// Six digits behind the point: a token of a cheap model costs less than a millionth.
std::string dollars(double amount) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6f", amount);
  return text;
}

Error over_the_limit(double limit, double spent, double reserved, Timestamp now) {
  const auto reset = day_end(now);
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(reset - now).count();
  return make_error(
      Reason::AiQuotaExceeded,
      cat("This call could pass the limit of ", dollars(limit),
          " US dollars a day (ai.daily_cost_usd): ", dollars(spent), " are spent and ",
          dollars(reserved), " set aside for calls under way. The day ends at ", format_time(reset),
          "."),
      {{"limit", "daily_cost"},
       {"reset_at", format_time(reset)},
       {"retry_after_s", seconds},
       {"limit_usd", limit},
       {"spent_usd", spent},
       {"reserved_usd", reserved}});
}

}  // namespace

Timestamp day_begin(Timestamp at) { return std::chrono::floor<std::chrono::days>(at); }
Timestamp day_end(Timestamp at) {
  return std::chrono::floor<std::chrono::days>(at) + std::chrono::days(1);
}

std::string usage_feature(std::string_view operation) {
  if (operation == "ai_ask") return "rag";
  if (operation == "ai_relate") return "suggest_links";
  if (operation == "vault_embed") return "embed";
  return std::string(operation.starts_with("ai_") ? operation.substr(3) : operation);
}

Status UsageStore::start(const UsageRecord& record) {
  INDX_TRY(
      db_.prepare("INSERT INTO usage_log (id, operation, feature, provider, model, job_id, item, "
                  "request_id, status, input_tokens, output_tokens, cost_usd, reserved_usd, "
                  "source, attempt, started_at, finished_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, "
                  "?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)")
          .bind(record.id, record.operation,
                record.feature.empty() ? usage_feature(record.operation) : record.feature,
                record.provider, record.model, record.job_id, record.item, record.request_id,
                record.status, record.input_tokens, record.output_tokens, record.cost_usd,
                record.reserved_usd, record.source, record.attempt, to_millis(record.started_at),
                optional_millis(record.finished_at))
          .run());
  INDX_TRY(db_.prepare("INSERT INTO usage_days (day, calls) VALUES (?1, 1) "
                       "ON CONFLICT DO UPDATE SET calls = calls + 1")
               .bind(day_of(record.started_at))
               .run());
  return {};
}

Status UsageStore::start_within(const UsageRecord& record, double limit_usd) {
  const double spent = INDX_TRY(totals_of_day(record.started_at)).cost_usd;
  const double reserved = INDX_TRY(reserved_of_day(record.started_at));
  if (record.reserved_usd > 0 && spent + reserved + record.reserved_usd > limit_usd)
    return over_the_limit(limit_usd, spent, reserved, record.started_at);
  return start(record);
}

Status UsageStore::finish(const UsageRecord& record) {
  const auto changed = INDX_TRY(
      db_.prepare("UPDATE usage_log SET model = ?2, status = ?3, input_tokens = ?4, "
                  "output_tokens = ?5, cost_usd = ?6, reserved_usd = ?7, source = ?8, attempt = "
                  "?9, finished_at = ?10 WHERE id = ?1 AND finished_at IS NULL")
          .bind(record.id, record.model, record.status, record.input_tokens, record.output_tokens,
                record.cost_usd, record.reserved_usd, record.source, record.attempt,
                optional_millis(record.finished_at))
          .run());
  if (changed > 0) {
    INDX_TRY(db_.prepare("UPDATE usage_days SET input_tokens = input_tokens + ?2, output_tokens = "
                         "output_tokens + ?3, cost_usd = cost_usd + ?4 WHERE day = ?1")
                 .bind(day_of(record.started_at), record.input_tokens, record.output_tokens,
                       record.cost_usd.value_or(0))
                 .run());
    return {};
  }
  auto known = db_.prepare("SELECT 1 FROM usage_log WHERE id = ?1");
  known.bind(record.id);
  if (INDX_TRY(known.step())) return {};
  return not_found(cat("No model call ", record.id, " was started."));
}

Result<std::int64_t> UsageStore::mark_interrupted() {
  return db_.prepare("UPDATE usage_log SET status = 'interrupted' WHERE status = 'started'").run();
}

Result<std::vector<UsageRecord>> UsageStore::list(const std::string& job_id) {
  auto query = db_.prepare(
      "SELECT id, operation, feature, provider, model, job_id, item, request_id, status, "
      "input_tokens, output_tokens, cost_usd, reserved_usd, source, attempt, started_at, "
      "finished_at FROM usage_log WHERE job_id = ?1 ORDER BY started_at, id");
  query.bind(job_id);
  std::vector<UsageRecord> records;
  while (INDX_TRY(query.step())) records.push_back(read_usage(query));
  return records;
}

Status UsageStore::count_invocation(Timestamp at) {
  INDX_TRY(db_.prepare("INSERT INTO usage_days (day, invocations) VALUES (?1, 1) "
                       "ON CONFLICT DO UPDATE SET invocations = invocations + 1")
               .bind(day_of(at))
               .run());
  return {};
}

Result<UsageStore::Totals> UsageStore::totals_of_day(Timestamp at) {
  auto query = db_.prepare(
      "SELECT calls, input_tokens, output_tokens, invocations, cost_usd FROM usage_days WHERE day "
      "= ?1");
  query.bind(day_of(at));
  if (!INDX_TRY(query.step())) return Totals();
  return Totals{.calls = query.integer(0),
                .input_tokens = query.integer(1),
                .output_tokens = query.integer(2),
                .invocations = query.integer(3),
                .cost_usd = query.real(4)};
}

Result<double> UsageStore::reserved_of_day(Timestamp at) {
  auto query = db_.prepare(
      "SELECT IFNULL(SUM(reserved_usd), 0.0) FROM usage_log WHERE reserved_usd > 0 AND started_at "
      ">= ?1 AND started_at < ?2");
  query.bind(to_millis(day_begin(at)), to_millis(day_end(at)));
  INDX_TRY(query.step());
  return query.real(0);
}

Result<std::int64_t> UsageStore::prune(Timestamp before, int limit) {
  return db_
      .prepare(
          "DELETE FROM usage_log WHERE id IN (SELECT id FROM usage_log WHERE started_at < ?1 AND "
          "status <> 'started' ORDER BY started_at LIMIT ?2)")
      .bind(to_millis(before), limit)
      .run();
}

}  // namespace indx
