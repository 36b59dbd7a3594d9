#include "cli/terminal.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "ops/table_cell.hpp"

#include <algorithm>
#include <cstdlib>
#include <sys/ioctl.h>
#include <vector>

namespace indx {
namespace {

constexpr std::size_t kNarrowest = 8;

/// One line of what a cell shows; control characters would move the cursor.
std::string cell_text(const Json& value) {
  std::string text = table_cell(value);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  return text;
}

/// The start of the text in at most `columns`.
std::string cut_end(const std::string& text, std::size_t columns) {
  if (count_code_points(text) <= columns) return text;
  std::string kept;
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_start = (static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U;
    if (is_start && ++count >= columns) break;
    kept += text[i];
  }
  return kept + "…";
}

struct TableColumn {
  std::string key, name;
  bool is_cell = false;  ///< one of those that the rows name themselves (CellColumns)
};

std::vector<TableColumn> table_columns(const SchemaNode& item, const Json& rows,
                                       const CellColumns& cells, const Json& data) {
  std::vector<TableColumn> columns;
  for (const auto& property : item.properties) {
    if (!cells.cells.empty() && property.name == cells.cells) {
      for (const auto& column : data.value(cells.columns, Json::array()))
        columns.push_back({column.value("id", ""), cell_text(column.value("name", Json())), true});
      continue;
    }
    using Type = SchemaNode::Type;
    const auto type = property.schema.type;
    const bool is_plain = type != Type::Object && type != Type::Map && type != Type::Any &&
                          (type != Type::Array || property.schema.items->type == Type::String);
    const bool is_used = std::any_of(rows.begin(), rows.end(), [&](const Json& row) {
      return row.contains(property.name) && !cell_text(row[property.name]).empty();
    });
    if (is_plain && is_used) columns.push_back({property.name, property.name});
  }
  return columns;
}

/// What the row has in the column, as it is shown.
std::string shown_cell(const Json& row, const TableColumn& column, const CellColumns& cells) {
  const Json* holder = &row;
  if (column.is_cell) {
    if (!row.contains(cells.cells)) return "";
    holder = &row[cells.cells];
  }
  return holder->contains(column.key) ? cell_text((*holder)[column.key]) : std::string();
}

/// Takes from the widest until all fit.
void shrink(std::vector<std::size_t>& widths, std::size_t most) {
  const auto total = [&] {
    std::size_t sum = 2 * (widths.size() - 1);
    for (const auto width : widths) sum += width;
    return sum;
  };
  while (total() > most) {
    auto& widest = *std::max_element(widths.begin(), widths.end());
    if (widest <= kNarrowest) return;
    --widest;
  }
}

std::string bold(const std::string& text, bool has_color) {
  return has_color ? "\x1b[1m" + text + "\x1b[0m" : text;
}

}  // namespace

std::size_t terminal_width(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::size_t terminal_height(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 24;
}

bool wants_color() {
  const char* no_color =
      std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe): nobody sets variables here
  const char* terminal = std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe): as above
  return (no_color == nullptr || *no_color == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

std::string table_text(const Operation& operation, const Json& data, std::size_t width,
                       bool has_color) {
  const auto* list = operation.output->find(operation.list);
  if (list == nullptr || !list->schema.items || !data.contains(operation.list) ||
      !data[operation.list].is_array())
    return "";
  const Json& rows = data[operation.list];
  std::string text;
  const auto& cells = operation.cells;
  const auto columns = table_columns(*list->schema.items, rows, cells, data);
  if (columns.empty()) {
    for (const auto& row : rows) text += cut_end(cell_text(row), width) + "\n";
  } else {
    std::vector<std::size_t> widths;
    for (const auto& column : columns) {
      std::size_t widest = count_code_points(column.name);
      for (const auto& row : rows)
        widest = std::max(widest, count_code_points(shown_cell(row, column, cells)));
      widths.push_back(widest);
    }
    shrink(widths, width);
    const auto line = [&](const auto& cell_of) {
      std::string out;
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto cell = cut_end(cell_of(columns[i]), widths[i]);
        out += (i == 0 ? "" : "  ") + cell;
        if (i + 1 < columns.size()) out += std::string(widths[i] - count_code_points(cell), ' ');
      }
      return out;
    };
    text += bold(line([](const TableColumn& column) { return column.name; }), has_color) + "\n";
    for (const auto& row : rows)
      text +=
          line([&](const TableColumn& column) { return shown_cell(row, column, cells); }) + "\n";
  }
  if (rows.empty()) text += "(nothing)\n";
  for (const auto& [key, value] : data.items())
    if (key != operation.list && key != cells.columns && !cell_text(value).empty())
      text += cat(key, ": ", cell_text(value), "\n");
  return text;
}

}  // namespace indx
