#include "vault/line_marks.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr std::size_t kMaxTableColumns = 256;

}  // namespace

std::size_t count_cells(std::string_view row) {
  const std::size_t first = row.find_first_not_of(" \t");
  if (first == std::string_view::npos) return 0;
  std::size_t cells = 1, end = row.find_last_not_of(" \t") + 1;
  for (std::size_t i = first + (row[first] == '|' ? 1 : 0); i < end; ++i) {
    if (row[i] == '\\') {
      ++i;
    } else if (row[i] == '|' && i + 1 < end && ++cells > kMaxTableColumns) {
      return 0;
    }
  }
  return cells;
}

bool is_delimiter_row(std::string_view row) {
  bool has_dash = false, in_cell = false, cell_done = false;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const char c = row[i];
    if (c == '|') {
      in_cell = cell_done = false;
    } else if (c == '-') {
      if (cell_done) return false;
      has_dash = in_cell = true;
    } else if (c == ':') {
      if (cell_done) return false;
      if (in_cell)
        cell_done = true;
      else if (i + 1 >= row.size() || row[i + 1] != '-')
        return false;
    } else if (is_blank_char(c)) {
      if (in_cell) cell_done = true;
    } else {
      return false;
    }
  }
  return has_dash;
}

std::string_view trailing_block_id(std::string_view line) {
  const std::size_t end = line.find_last_not_of(" \t") + 1;
  std::size_t at = end;
  while (at > 0 &&
         (is_ascii_letter(line[at - 1]) || is_ascii_number(line[at - 1]) || line[at - 1] == '-'))
    --at;
  if (at == end || at == 0 || line[at - 1] != '^') return {};
  if (at >= 2 && !is_blank_char(line[at - 2])) return {};
  return line.substr(at, end - at);
}

std::size_t reference_definition_length(std::string_view text) {
  if (text.size() < 4 || text[0] != '[' || text[1] == '^') return 0;
  std::size_t i = 1;
  bool has_text = false;
  for (; i < text.size() && text[i] != ']'; ++i) {
    if (text[i] == '[' || i > 1000) return 0;
    if (text[i] == '\\') ++i;
    has_text = has_text || !(is_blank_char(text[i]) || text[i] == '\n');
  }
  if (!has_text || i + 1 >= text.size() || text[i + 1] != ':') return 0;
  i += 2;
  const auto skip_space = [&](bool one_line_end) {
    while (i < text.size() && (is_blank_char(text[i]) || (text[i] == '\n' && one_line_end)))
      one_line_end = one_line_end && text[i] != '\n', ++i;
  };
  skip_space(true);
  if (i >= text.size() || text[i] == '\n') return 0;
  if (text[i] == '<') {
    while (i < text.size() && text[i] != '>' && text[i] != '\n') ++i;
    if (i >= text.size() || text[i] != '>') return 0;
    ++i;
  } else {
    while (i < text.size() && !is_blank_char(text[i]) && text[i] != '\n') ++i;
  }
  const std::size_t line_end = std::min(text.find('\n', i), text.size());
  const bool dest_ends_line =
      text.substr(i, line_end - i).find_first_not_of(" \t") == std::string_view::npos;
  const std::size_t after_dest = i;
  skip_space(true);
  if (i > after_dest && i < text.size() && (text[i] == '"' || text[i] == '\'' || text[i] == '(')) {
    const char close = text[i] == '(' ? ')' : text[i];
    const std::size_t title_line_end = std::min(text.find('\n', i), text.size());
    std::size_t quote = i + 1;
    while (quote < title_line_end && text[quote] != close) quote += text[quote] == '\\' ? 2 : 1;
    if (quote < title_line_end &&
        text.substr(quote + 1, title_line_end - quote - 1).find_first_not_of(" \t") ==
            std::string_view::npos)
      return std::min(title_line_end + 1, text.size());
  }
  return dest_ends_line ? std::min(line_end + 1, text.size()) : 0;
}

}  // namespace indx
