#include "ops/bases/base_view.hpp"

#include "base/json_text.hpp"
#include "base/text.hpp"
#include "base/time_zone.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/table_cell.hpp"

namespace indx {
namespace {

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return cat('"', replace_all(text, "\"", "\"\""), '"');
}

std::string table_field(const std::string& text) {
  auto field = replace_all(replace_all(text, "\\", "\\\\"), "|", "\\|");
  return replace_all(replace_all(field, "\r", ""), "\n", "<br>");
}

template <typename Field>
std::string table_line(const BaseAnswer& answer, const Json* cells, std::string_view path,
                       Field field, std::string_view separator) {
  std::string line = field(std::string(path));
  for (const auto& column : answer.columns) {
    line += separator;
    line += field(cells == nullptr ? column.name : table_cell((*cells)[column.id]));
  }
  return line;
}

}  // namespace

Fields<BaseColumnView> BaseColumnView::fields() {
  return {field("id", &BaseColumnView::id, "Key of its cells, such as `note.price`."),
          field("name", &BaseColumnView::name, "Its heading.")};
}

Fields<BaseRowView> BaseRowView::fields() {
  return {field("path", &BaseRowView::path, "The file."),
          field("cells", &BaseRowView::cells,
                "Value by column: null, boolean, number, text, list, or an object with `type` "
                "(link, file, duration, html, …); `{error}` where there is none."),
          field("group", &BaseRowView::group, "Value of its group; null: none.", nullable)};
}

Fields<BaseGroupView> BaseGroupView::fields() {
  return {field("value", &BaseGroupView::value, "What its rows have in common; null: no value.",
                nullable),
          field("label", &BaseGroupView::label, "The value as text, or `None`."),
          field("count", &BaseGroupView::count, "Its rows.")};
}

Fields<BaseSummaryView> BaseSummaryView::fields() {
  return {field("column", &BaseSummaryView::column, "Id of the column."),
          field("name", &BaseSummaryView::name, "Which summary, such as `Average`."),
          field("value", &BaseSummaryView::value, "Over all rows, before any limit.", nullable)};
}

Fields<BaseQueryView> BaseQueryView::fields() {
  return {
      field("view", &BaseQueryView::view, "Name of the view; empty: it has none."),
      field("type", &BaseQueryView::type, "How the view is drawn: table, cards, …"),
      field("total", &BaseQueryView::total, "Rows on all pages."),
      field("columns", &BaseQueryView::columns, "In order."),
      field("rows", &BaseQueryView::rows,
            "One page, sorted and grouped; empty when `text` is given."),
      field("text", &BaseQueryView::text,
            "The page as ndjson, csv or md, where asked for; the first page has the heading, so "
            "that pages put together are one file."),
      field("groups", &BaseQueryView::groups, "In order of the rows; empty: not grouped."),
      field("summaries", &BaseQueryView::summaries, "Those of the view."),
      field("warnings", &BaseQueryView::warnings,
            "Formulas that cannot be read, and filters that failed on some files."),
      next_cursor_field(&BaseQueryView::next_cursor)};
}

std::string render_base_rows(const BaseAnswer& answer, std::string_view format, bool is_first) {
  std::string out;
  if (format == "ndjson") {
    for (const auto& row : answer.rows) {
      Json line = {{"path", row.path}, {"cells", row.cells}};
      if (row.group) line["group"] = *row.group;
      (out += json_text(line)) += '\n';
    }
    return out;
  }
  if (format == "csv") {
    if (is_first) (out += table_line(answer, nullptr, "path", csv_field, ",")) += "\r\n";
    for (const auto& row : answer.rows)
      (out += table_line(answer, &row.cells, row.path, csv_field, ",")) += "\r\n";
    return out;
  }
  if (is_first) {
    out += cat("| ", table_line(answer, nullptr, "path", table_field, " | "), " |\n|");
    for (std::size_t i = 0; i <= answer.columns.size(); ++i) out += " --- |";
    out += '\n';
  }
  for (const auto& row : answer.rows)
    out += cat("| ", table_line(answer, &row.cells, row.path, table_field, " | "), " |\n");
  return out;
}

Result<BaseQueryView> query_base(Context& ctx, const BaseDefinition& base,
                                 const BaseQueryInput& input) {
  BaseQuestion question;
  question.view = input.view;
  question.this_path = input.this_path;
  question.limit = static_cast<std::size_t>(input.limit);
  if (!input.cursor.empty()) question.after = INDX_TRY(read_cursor(input.cursor));
  const auto zone = INDX_TRY(TimeZone::load(ctx.config().time_zone));
  question.clock = {ctx.clock().now(), [&](Timestamp time) { return zone.offset_at(time); }};
  question.seed = static_cast<std::uint64_t>(ctx.clock().monotonic().count());
  question.cancel = &ctx.cancel();
  auto answer = INDX_TRY(
      run_base_query(base, question, [&](const BaseRowNeeds& needs, const BaseRowVisitor& visit) {
        return ctx.index().visit_files(needs, visit);
      }));
  BaseQueryView view;
  view.view = answer.view;
  view.type = answer.type;
  view.total = answer.total;
  if (!answer.next.is_null()) view.next_cursor = make_cursor(answer.next);
  if (input.format != "json")
    view.text = render_base_rows(answer, input.format, input.cursor.empty());
  for (auto& column : answer.columns)
    view.columns.push_back({std::move(column.id), std::move(column.name)});
  if (input.format == "json")
    for (auto& row : answer.rows)
      view.rows.push_back({std::move(row.path), {std::move(row.cells)}, std::move(row.group)});
  for (auto& group : answer.groups)
    view.groups.push_back({std::move(group.value), std::move(group.label), group.count});
  for (auto& summary : answer.summaries)
    view.summaries.push_back(
        {std::move(summary.column), std::move(summary.name), std::move(summary.value)});
  view.warnings = std::move(answer.warnings);
  return view;
}

}  // namespace indx
