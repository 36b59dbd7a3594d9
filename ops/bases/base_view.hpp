#pragma once
#include "ops/define.hpp"
#include "vault/base_query.hpp"

namespace indx {

/// What both ways to query a base take and give.

struct BaseQueryInput {
  std::optional<std::string> view;
  std::string this_path;
  int limit = 100;
  std::string cursor;
  std::string format = "json";
};

struct BaseColumnView {
  std::string id, name;
  static Fields<BaseColumnView> fields();
};
struct BaseRowView {
  std::string path;
  JsonObject cells;
  std::optional<Json> group;
  static Fields<BaseRowView> fields();
};
struct BaseGroupView {
  Json value;
  std::string label;
  std::size_t count = 0;
  static Fields<BaseGroupView> fields();
};
struct BaseSummaryView {
  std::string column, name;
  Json value;
  static Fields<BaseSummaryView> fields();
};
struct BaseQueryView {
  std::string view, type;
  std::size_t total = 0;
  std::vector<BaseColumnView> columns;
  std::vector<BaseRowView> rows;
  std::optional<std::string> text;
  std::vector<BaseGroupView> groups;
  std::vector<BaseSummaryView> summaries;
  std::vector<std::string> warnings;
  std::optional<std::string> next_cursor;
  static Fields<BaseQueryView> fields();
};

/// Runs the base over the caller's files.
Result<BaseQueryView> query_base(Context& ctx, const BaseDefinition& base,
                                 const BaseQueryInput& input);

/// The rows as lines of JSON, as CSV (RFC 4180) or as a Markdown table; with its heading when this
/// is the first page.
std::string render_base_rows(const BaseAnswer& answer, std::string_view format, bool is_first);

inline const std::vector<std::string> kBaseFormats = {"json", "ndjson", "csv", "md"};

}  // namespace indx
