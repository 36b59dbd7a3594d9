#pragma once
#include "base/cancel.hpp"
#include "vault/base_definition.hpp"
#include "vault/base_order.hpp"
#include "vault/base_rows.hpp"

#include <optional>
#include <string>
#include <vector>

namespace indx {

/// One question to a base.
struct BaseQuestion {
  std::optional<std::string> view;  ///< by name; nullopt: the first
  std::string this_path;            ///< the file that `this` means; empty: none
  std::size_t limit = 100;
  Json after;  ///< `BaseAnswer::next` of the page before; null: from the start
  BaseClock clock;
  std::uint64_t seed = 0;
  const CancelToken* cancel = nullptr;
};

struct BaseAnswerColumn {
  std::string id, name;  ///< `name` is what people read
};
struct BaseAnswerRow {
  std::string path;
  Json cells = Json::object();  ///< by id of the column, see BaseEvaluator::to_json
  std::optional<Json> group;    ///< value of the group; where the view has groups
};
struct BaseAnswerGroup {
  Json value;         ///< null: the files without a value
  std::string label;  ///< `None` for null
  std::size_t count = 0;
};
struct BaseAnswerSummary {
  std::string column, name;
  Json value;
};
struct BaseAnswer {
  std::string view, type;
  std::vector<BaseAnswerColumn> columns;
  std::vector<BaseAnswerRow> rows;
  std::vector<BaseAnswerGroup> groups;
  std::vector<BaseAnswerSummary> summaries;
  std::size_t total = 0;  ///< rows of the view, after its own limit
  std::vector<std::string> warnings;
  Json next;  ///< where the next page begins; null at the end
};

/// Filters, sorts, groups, limits and sums up (vault-rules 8.2, 8.10–8.12). Fails with `not_found`
/// for a view that is not there, `validation_failed` for a bad `after`, `too_large` when the
/// expressions do too much work, `cancelled`, and what `source` fails with.
Result<BaseAnswer> run_base_query(const BaseDefinition& base, const BaseQuestion& question,
                                  const BaseRowSource& source);

}  // namespace indx
