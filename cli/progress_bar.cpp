#include "cli/progress_bar.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "cli/output.hpp"
#include "cli/styled_text.hpp"
#include "cli/terminal.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

namespace indx {
namespace {

constexpr std::size_t kBarColumns = 24, kLeastNote = 8;

}  // namespace

double number_in(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_number() ? it->get<double>() : 0;
}
std::string text_in(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::max(0.0, seconds));
  const auto two = [](std::int64_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
  return whole >= 3600 ? cat(whole / 3600, ":", two(whole / 60 % 60), ":", two(whole % 60))
                       : cat(whole / 60, ":", two(whole % 60));
}

std::string rate_text(double rate, const std::string& unit) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(rate < 10 ? 1 : 0) << rate << " "
      << (unit.empty() ? "items" : unit) << "/s";
  return out.str();
}

std::string shortened(const std::string& given, std::size_t columns) {
  std::string text;  // no control character may move the cursor
  for (std::size_t at = 0; at < given.size();) {
    const auto point = decode_at(given, at);
    append_utf8(text, point.value < 0x20 || (point.value >= 0x7F && point.value < 0xA0)
                          ? U' '
                          : point.value);
    at += point.length;
  }
  if (columns_of(text) <= columns) return text;
  if (columns == 0) return "";
  std::size_t left = columns_of(text), at = 0;
  while (at < text.size()) {
    const auto point = decode_at(text, at);
    if (left + 1 <= columns && columns_of(point.value) != 0) break;
    left -= columns_of(point.value);
    at += point.length;
  }
  return "…" + text.substr(at);
}

std::string bar_text(const Json& progress, std::size_t width, bool has_color) {
  const double done = number_in(progress, "done"), total = number_in(progress, "total");
  const double share = total > 0 ? std::min(1.0, done / total) : 0;
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(kBarColumns));
  std::string bar;
  for (std::size_t i = 0; i < kBarColumns; ++i) bar += i < filled ? "█" : "░";
  std::string facts =
      total > 0 ? cat(" ", static_cast<int>(share * 100), "% ", static_cast<std::int64_t>(done),
                      "/", static_cast<std::int64_t>(total))
                : cat(" ", static_cast<std::int64_t>(done));
  if (const auto phase = text_in(progress, "phase"); !phase.empty()) facts += " " + phase;
  if (const double rate = number_in(progress, "rate_per_second"); rate > 0)
    facts += " " + rate_text(rate, text_in(progress, "unit"));
  if (progress.contains("eta_seconds") && progress["eta_seconds"].is_number())
    facts += " " + duration_text(number_in(progress, "eta_seconds")) + " left";
  const std::size_t needed = kBarColumns + columns_of(facts);
  if (needed > width) return shortened(std::string(trim(facts)), width);
  std::string line = (has_color ? "\x1b[32m" + bar + "\x1b[0m" : bar) + facts;
  const auto current = text_in(progress, "current");
  if (!current.empty() && needed + 1 + kLeastNote <= width)
    line += " " + shortened(current, width - needed - 1);
  return line;
}

ProgressBar::ProgressBar(int fd) : fd_(fd), is_shown_(is_terminal(fd)), has_color_(wants_color()) {}

void ProgressBar::draw(const Json& progress) {
  if (!is_shown_ || !progress.is_object()) return;
  const std::scoped_lock lock(mutex_);
  std::string line = bar_text(progress, terminal_width(fd_) - 1, has_color_);
  if (line == drawn_) return;
  write_all(fd_, "\r" + line + "\x1b[K");
  drawn_ = std::move(line);
}

void ProgressBar::clear() {
  const std::scoped_lock lock(mutex_);
  if (!drawn_.empty()) write_all(fd_, "\r\x1b[K");
  drawn_.clear();
}

}  // namespace indx
