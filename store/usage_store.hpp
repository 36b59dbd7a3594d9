#pragma once
#include "base/clock.hpp"
#include "store/database.hpp"

#include <optional>
#include <string>
#include <vector>

namespace indx {

/// One upstream model call (G8). `started` is committed before the call, so a crash leaves its
/// trace.
struct UsageRecord {
  std::string id;
  std::string operation, provider, model, job_id, item, request_id;
  std::string status = "started";  ///< started | succeeded | failed | lost
  int input_tokens = 0, output_tokens = 0;
  std::optional<double> cost_usd;
  std::string source;  ///< reported | estimated
  int attempt = 1;
  Timestamp started_at;
  std::optional<Timestamp> finished_at;
};

class UsageStore {
 public:
  explicit UsageStore(Database& db) : db_(db) {}
  Status start(const UsageRecord& record);
  Status finish(const UsageRecord& record);
  /// Marks every `started` row as `lost`: the process died during the call. Gives how many.
  Result<std::int64_t> mark_lost();
  Result<std::vector<UsageRecord>> list(const std::string& job_id);
  struct Totals {
    std::int64_t calls = 0, input_tokens = 0, output_tokens = 0;
    double cost_usd = 0;
  };
  Result<Totals> totals_since(Timestamp since);

 private:
  Database& db_;
};

}  // namespace indx
