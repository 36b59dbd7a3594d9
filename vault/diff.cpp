#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/note_edit.hpp"

#include <algorithm>
#include <unordered_map>

namespace indx {
namespace {

constexpr int kContext = 3;
constexpr int kMaxEdits =
    1000;  ///< beyond this many the differing middle is shown as replaced as a whole

struct DiffLine {
  char mark = ' ';
  std::size_t before = 0, after = 0;  ///< line numbers from 0
};

std::vector<std::string_view> diff_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

/// Myers' greedy algorithm on line numbers; false when more than kMaxEdits are needed.
bool shortest_edits(const std::vector<int>& a, const std::vector<int>& b,
                    std::vector<char>& marks) {
  const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
  const int limit = std::min(n + m, kMaxEdits);
  std::vector<int> furthest(static_cast<std::size_t>(2 * limit + 3), 0);
  const auto at = [&](std::vector<int>& row, int k) -> int& {
    return row[static_cast<std::size_t>(k + limit + 1)];
  };
  std::vector<std::vector<int>> trace;
  int edits = -1;
  for (int d = 0; d <= limit && edits < 0; ++d) {
    trace.emplace_back(furthest.begin() + (limit + 1 - d - 1),
                       furthest.begin() + (limit + 1 + d + 2));
    for (int k = -d; k <= d; k += 2) {
      int x = k == -d || (k != d && at(furthest, k - 1) < at(furthest, k + 1))
                  ? at(furthest, k + 1)
                  : at(furthest, k - 1) + 1;
      while (x < n && x - k < m && x - k >= 0 &&
             a[static_cast<std::size_t>(x)] == b[static_cast<std::size_t>(x - k)])
        ++x;
      at(furthest, k) = x;
      if (x >= n && x - k >= m) {
        edits = d;
        break;
      }
    }
  }
  if (edits < 0) return false;
  int x = n, y = m;
  for (int d = edits; d > 0; --d) {
    const std::vector<int>& row = trace[static_cast<std::size_t>(d)];
    const auto reached = [&](int k) { return row[static_cast<std::size_t>(k + d + 1)]; };
    const int k = x - y;
    const int from = k == -d || (k != d && reached(k - 1) < reached(k + 1)) ? k + 1 : k - 1;
    const int old_x = reached(from), old_y = old_x - from;
    const int snake_begin = from == k - 1 ? old_x + 1 : old_x;
    for (; x > snake_begin; --x, --y) marks.push_back(' ');
    marks.push_back(from == k - 1 ? '-' : '+');
    x = old_x;
    y = old_y;
  }
  for (; x > 0 && y > 0; --x, --y) marks.push_back(' ');
  std::reverse(marks.begin(), marks.end());
  return true;
}

void append_line(std::string& out, char mark, std::string_view line) {
  out += mark;
  out += replace_invalid_utf8(line);
  if (line.empty() || line.back() != '\n') out += "\n\\ No newline at end of file\n";
}

}  // namespace

std::string unified_diff(std::string_view path, std::string_view before, std::string_view after) {
  if (before == after) return {};
  const auto old_lines = diff_lines(before), new_lines = diff_lines(after);
  std::size_t same_front = 0, same_back = 0;
  const std::size_t shorter = std::min(old_lines.size(), new_lines.size());
  while (same_front < shorter && old_lines[same_front] == new_lines[same_front]) ++same_front;
  while (same_back < shorter - same_front &&
         old_lines[old_lines.size() - 1 - same_back] == new_lines[new_lines.size() - 1 - same_back])
    ++same_back;

  std::unordered_map<std::string_view, int> numbers;
  const auto number_all = [&](const std::vector<std::string_view>& lines) {
    std::vector<int> result;
    for (std::size_t i = same_front; i < lines.size() - same_back; ++i)
      result.push_back(
          numbers.try_emplace(lines[i], static_cast<int>(numbers.size())).first->second);
    return result;
  };
  const std::vector<int> a = number_all(old_lines), b = number_all(new_lines);
  std::vector<char> marks;
  if (!shortest_edits(a, b, marks)) {
    marks.assign(a.size(), '-');
    marks.insert(marks.end(), b.size(), '+');
  }
  marks.insert(marks.begin(), same_front, ' ');
  marks.insert(marks.end(), same_back, ' ');

  std::string out = cat("--- a/", path, "\n+++ b/", path, "\n");
  std::size_t old_at = 0, new_at = 0;
  for (std::size_t i = 0; i < marks.size();) {
    if (marks[i] == ' ') {
      ++i, ++old_at, ++new_at;
      continue;
    }
    const std::size_t lead = std::min<std::size_t>({kContext, i, old_at, new_at});
    std::size_t end = i, last_change = i;
    while (end < marks.size() && end - last_change <= 2 * kContext) {
      if (marks[end] != ' ') last_change = end;
      ++end;
    }
    end = std::min(marks.size(), last_change + kContext + 1);
    std::size_t old_line = old_at - lead, new_line = new_at - lead, old_count = 0, new_count = 0;
    std::string hunk;
    for (std::size_t j = i - lead; j < end; ++j) {
      if (marks[j] == '+') {
        append_line(hunk, '+', new_lines[new_line + new_count++]);
      } else {
        append_line(hunk, marks[j], old_lines[old_line + old_count++]);
        if (marks[j] == ' ') ++new_count;
      }
    }
    out += cat("@@ -", old_count == 0 ? old_line : old_line + 1, ",", old_count, " +",
               new_count == 0 ? new_line : new_line + 1, ",", new_count, " @@\n", hunk);
    old_at = old_line + old_count;
    new_at = new_line + new_count;
    i = end;
  }
  return out;
}

}  // namespace indx
