#pragma once
#include "base/clock.hpp"
#include "store/database.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// One upstream model call (G8, row G43), a row of `usage_log`. `started` is committed before the
/// call, so a crash leaves its trace.
struct UsageRecord {
  std::string id;
  std::string operation;
  std::string feature;  ///< empty: usage_feature(operation)
  std::string provider, model, job_id, item, request_id;
  /// started | succeeded | failed | interrupted: whether an answer came nobody knows
  std::string status = "started";
  std::int64_t input_tokens = 0, output_tokens = 0;
  std::optional<double> cost_usd;  ///< nullopt: unknown
  /// What the call may cost at most, while nobody knows: it counts for the daily limit, and in no
  /// total of what was spent.
  double reserved_usd = 0;
  std::string source;  ///< reported | estimated
  int attempt = 1;
  Timestamp started_at;
  std::optional<Timestamp> finished_at;
};

/// What an operation uses models for, by the names of row G43: rag, summarize, embed,
/// suggest_links; for others their own name without `ai_`.
std::string usage_feature(std::string_view operation);

/// Midnight UTC before and after.
Timestamp day_begin(Timestamp at);
Timestamp day_end(Timestamp at);

class UsageStore {
 public:
  explicit UsageStore(Database& db) : db_(db) {}
  Status start(const UsageRecord& record);
  /// The same unless what was spent this day (UTC), what calls without a known end may have cost,
  /// and what this one may cost come to more than the limit: `ai_quota_exceeded` {limit:
  /// daily_cost, reset_at, retry_after_s, limit_usd, spent_usd, reserved_usd} (rows D54, D58).
  Status start_within(const UsageRecord& record, double limit_usd);
  /// Once for each call; later ones change nothing.
  Status finish(const UsageRecord& record);
  /// Marks every `started` row as `interrupted`: the process died during the call. Gives how many.
  Result<std::int64_t> mark_interrupted();
  Result<std::vector<UsageRecord>> list(const std::string& job_id);
  /// An AI operation ended.
  Status count_invocation(Timestamp at);

  struct Totals {
    std::int64_t calls = 0, input_tokens = 0, output_tokens = 0, invocations = 0;
    double cost_usd = 0;
  };
  /// Of the UTC day that holds `at`, also after its rows were pruned.
  Result<Totals> totals_of_day(Timestamp at);
  /// What calls of that day without a known end may have cost.
  Result<double> reserved_of_day(Timestamp at);
  /// Deletes at most `limit` ended rows; the totals of their days stay.
  Result<std::int64_t> prune(Timestamp before, int limit);

 private:
  Database& db_;
};

}  // namespace indx
