#include "cli/job_table.hpp"

#include "base/text.hpp"
#include "cli/progress_bar.hpp"

#include <algorithm>
#include <array>
#include <iomanip>
#include <sstream>

namespace indx {
namespace {

constexpr std::size_t kShortIdColumns = 8, kLeastForWholeId = 110, kGap = 2;
constexpr std::array<const char*, 7> kHeads = {"job",  "kind", "state", "done",
                                               "rate", "left", "cost"};
constexpr std::size_t kStateColumn = 2;
using Cells = std::array<std::string, kHeads.size()>;

struct JobLine {
  Cells cells;
  std::string current;
  const char* color = "";
};

bool is_true(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && *it == true;
}

const char* color_of(const std::string& state) {
  if (state == "running" || state == "succeeded") return "\x1b[32m";
  if (state == "failed" || state == "dead") return "\x1b[31m";
  return state == "ready" || state == "scheduled" ? "" : "\x1b[33m";
}

std::string cost_text(double usd) {
  if (usd <= 0) return "";
  std::ostringstream out;
  out << "$" << std::fixed << std::setprecision(usd < 1 ? 4 : 2) << usd;
  return out.str();
}

JobLine line_of_job(const Json& record, bool has_whole_id) {
  const Json progress = record.value("progress", Json::object());
  std::string state = text_in(record, "state");
  JobLine line;
  line.color = color_of(state);
  if (is_true(record, "pause_requested")) state = "pausing";
  if (is_true(record, "cancel_requested")) state = "cancelling";
  const auto done = static_cast<std::int64_t>(number_in(progress, "done"));
  const auto total = static_cast<std::int64_t>(number_in(progress, "total"));
  const double rate = number_in(progress, "rate_per_second");
  const bool runs = state == "running";
  const auto eta = progress.find("eta_seconds");
  const auto id = text_in(record, "id");
  line.cells = {
      has_whole_id || id.size() <= kShortIdColumns ? id : id.substr(id.size() - kShortIdColumns),
      text_in(record, "kind"),
      state,
      total > 0  ? cat(done, "/", total)
      : done > 0 ? std::to_string(done)
                 : "",
      runs && rate > 0 ? rate_text(rate, text_in(progress, "unit")) : "",
      runs && eta != progress.end() && eta->is_number() ? duration_text(eta->get<double>()) : "",
      cost_text(number_in(progress, "cost_usd"))};
  const auto waits_for = text_in(progress, "waits_for");
  line.current = waits_for.empty() ? text_in(progress, "current") : cat("waits for ", waits_for);
  return line;
}

std::string drawn_line(const JobLine& line, const std::array<std::size_t, kHeads.size()>& widths,
                       std::size_t columns, bool has_color) {
  std::string text;
  std::size_t used = 0;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (widths[i] == 0) continue;
    const std::size_t gap = used == 0 ? 0 : kGap;
    if (used + gap + widths[i] > columns) break;
    std::string cell = line.cells[i];  // ASCII all
    cell.resize(std::max(widths[i], cell.size()), ' ');
    const bool is_colored = has_color && i == kStateColumn && *line.color != '\0';
    text += std::string(gap, ' ') + (is_colored ? line.color + cell + "\x1b[0m" : cell);
    used += gap + widths[i];
  }
  if (!line.current.empty() && used + kGap + kShortIdColumns <= columns)
    return text + std::string(kGap, ' ') + shortened(line.current, columns - used - kGap);
  const auto end = text.find_last_not_of(' ');
  return text.substr(0, end == text.npos ? 0 : end + 1);
}

}  // namespace

std::string job_table_text(const std::vector<Json>& records, TableSize size, bool has_color) {
  if (size.rows == 0) return "";
  if (records.empty()) return shortened("No job runs or waits.", size.columns) + "\n";
  std::vector<const Json*> sorted;
  for (const auto& record : records) sorted.push_back(&record);
  std::stable_partition(sorted.begin(), sorted.end(),
                        [](const Json* record) { return text_in(*record, "state") == "running"; });
  const std::size_t room = size.rows - 1;
  const bool fits = sorted.size() <= room;
  const std::size_t shown = fits ? sorted.size() : room == 0 ? 0 : room - 1;
  JobLine head;
  std::copy(kHeads.begin(), kHeads.end(), head.cells.begin());
  std::vector<JobLine> lines;
  std::array<std::size_t, kHeads.size()> widths{};
  for (std::size_t i = 0; i < shown; ++i) {
    lines.push_back(line_of_job(*sorted[i], size.columns >= kLeastForWholeId));
    for (std::size_t c = 0; c < widths.size(); ++c) {
      const std::size_t columns = lines.back().cells[c].size();
      if (columns > 0) widths[c] = std::max({widths[c], columns, head.cells[c].size()});
    }
  }
  head.current = "current";
  const std::string first = drawn_line(head, widths, size.columns, false);
  std::string text = (has_color ? "\x1b[1m" + first + "\x1b[0m" : first) + "\n";
  for (const auto& line : lines) text += drawn_line(line, widths, size.columns, has_color) + "\n";
  if (!fits && room > 0)
    text += shortened(cat("and ", sorted.size() - shown, " more"), size.columns) + "\n";
  return text;
}

std::string ended_job_text(const Json& event_data, std::size_t columns, bool has_color) {
  const std::string state = text_in(event_data, "state");
  const Json error = event_data.value("error", Json());
  std::string line = cat(text_in(event_data, "job"), " ", text_in(event_data, "operation"), " ");
  const std::string message = error.is_object() ? text_in(error, "message") : "";
  const std::size_t used = line.size() + state.size() + kGap;
  if (used > columns) line = shortened(line, columns - std::min(columns, state.size() + 1)) + " ";
  const std::string color = has_color ? color_of(state) : "";
  line += color.empty() ? state : color + state + "\x1b[0m";
  if (!message.empty() && used + kShortIdColumns <= columns)
    line += ": " + shortened(message, columns - used);
  return line + "\n";
}

}  // namespace indx
