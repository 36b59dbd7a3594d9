#include "jobs/cron.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <vector>

namespace indx {
namespace {

constexpr std::array<std::string_view, 12> kMonthNames = {"jan", "feb", "mar", "apr", "may", "jun",
                                                          "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kWeekdayNames = {"sun", "mon", "tue", "wed",
                                                           "thu", "fri", "sat"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kAliases = {
    {{"@yearly", "0 0 1 1 *"},
     {"@annually", "0 0 1 1 *"},
     {"@monthly", "0 0 1 * *"},
     {"@weekly", "0 0 * * 0"},
     {"@daily", "0 0 * * *"},
     {"@midnight", "0 0 * * *"},
     {"@hourly", "0 * * * *"}}};

/// What a field may hold; `names` stand for `low`, `low` + 1 …
struct CronField {
  std::string_view name;
  int low, high;
  std::span<const std::string_view> names = {};
};
constexpr CronField kMinuteField{"minute", 0, 59}, kHourField{"hour", 0, 23},
    kDayField{"day of the month", 1, 31};
const CronField kMonthField{"month", 1, 12, kMonthNames},
    kWeekdayField{"day of the week", 0, 7, kWeekdayNames};

Error bad_cron(const std::string& message) { return invalid(message, Json{{"path", "cron"}}); }

std::string lower_ascii(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

Result<int> parse_cron_value(std::string_view text, const CronField& field) {
  const auto named = std::find(field.names.begin(), field.names.end(), text);
  if (named != field.names.end()) return field.low + static_cast<int>(named - field.names.begin());
  int value = -1;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size() || value < field.low ||
      value > field.high)
    return bad_cron(cat("The ", field.name, " of a schedule is ", field.low, " to ", field.high,
                        field.names.empty() ? "" : " or a name such as ",
                        field.names.empty() ? "" : field.names.front(), ", not `", text, "`."));
  return value;
}

/// Sets the bits of one item of a list: `*`, `5`, `1-5`, `*/15`, `mon-fri`.
Status add_cron_item(std::string_view item, const CronField& field, std::uint64_t& bits) {
  const auto slash = item.find('/');
  const auto range = item.substr(0, slash);
  const auto dash = range.find('-');
  int first = field.low, last = field.high, step = 1;
  if (range != "*") {
    first = last = INDX_TRY(parse_cron_value(range.substr(0, dash), field));
    if (dash != range.npos) last = INDX_TRY(parse_cron_value(range.substr(dash + 1), field));
    if (&field == &kWeekdayField && first > 0 && last == 0) last = 7;  // fri-sun
    if (last < first)
      return bad_cron(cat("The ", field.name, " `", item, "` of a schedule runs backwards."));
  } else if (&field == &kWeekdayField) {
    last = 6;
  }
  if (slash != item.npos) {
    if (range != "*" && dash == range.npos)
      return bad_cron(cat("The step of `", item, "` needs a range or `*` before it."));
    const auto text = item.substr(slash + 1);
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), step);
    if (failed != std::errc() || end != text.data() + text.size() || step < 1 || step > 60)
      return bad_cron(cat("The step of `", item, "` must be a number of at least 1."));
  }
  for (int value = first; value <= last; value += step)
    bits |= std::uint64_t{1} << static_cast<unsigned>(value);
  return {};
}

Result<std::uint64_t> parse_cron_field(std::string_view text, const CronField& field) {
  std::uint64_t bits = 0;
  for (const auto& item : split(text, ',')) INDX_TRY(add_cron_item(item, field, bits));
  return bits;
}

std::vector<std::string> cron_words(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; (at = text.find_first_not_of(" \t", at)) != text.npos;) {
    const auto end = std::min(text.find_first_of(" \t", at), text.size());
    words.push_back(lower_ascii(text.substr(at, end - at)));
    at = end;
  }
  return words;
}

}  // namespace

Result<Cron> Cron::parse(std::string_view text) {
  auto words = cron_words(text);
  if (words.size() == 1)
    for (const auto& [alias, fields] : kAliases)
      if (words[0] == alias) {
        words = cron_words(fields);
        break;
      }
  if (words.size() != 5)
    return bad_cron(cat(
        "`", text,
        "` is no schedule: give minute, hour, day of the month, month and day of the week, such "
        "as `30 2 * * *`, or @hourly, @daily, @weekly, @monthly, @yearly."));
  Cron cron;
  cron.minutes_ = INDX_TRY(parse_cron_field(words[0], kMinuteField));
  cron.hours_ = INDX_TRY(parse_cron_field(words[1], kHourField));
  cron.days_ = INDX_TRY(parse_cron_field(words[2], kDayField));
  cron.months_ = INDX_TRY(parse_cron_field(words[3], kMonthField));
  const auto weekdays = INDX_TRY(parse_cron_field(words[4], kWeekdayField));
  cron.weekdays_ = (weekdays | weekdays >> 7U) & 0x7FU;
  cron.follows_clock_ = words[1].starts_with('*') || cron.hours_.all();
  cron.is_any_day_ = words[2].starts_with('*');
  cron.is_any_weekday_ = words[4].starts_with('*');
  return cron;
}

bool Cron::fits_day(std::chrono::sys_days day) const {
  const std::chrono::year_month_day date(day);
  const bool day_fits = days_[static_cast<unsigned>(date.day())];
  const bool weekday_fits = weekdays_[std::chrono::weekday(day).c_encoding()];
  return is_any_day_ || is_any_weekday_ ? day_fits && weekday_fits : day_fits || weekday_fits;
}

std::optional<std::chrono::minutes> Cron::next_in_day(std::chrono::minutes from) const {
  const auto start = static_cast<std::size_t>(from.count());
  for (std::size_t hour = start / 60, minute = start % 60; hour < 24; ++hour, minute = 0) {
    if (!hours_[hour]) continue;
    for (; minute < 60; ++minute)
      if (minutes_[minute])
        return std::chrono::minutes(static_cast<std::int64_t>(hour * 60 + minute));
  }
  return std::nullopt;
}

std::optional<Cron::WallTime> Cron::next_match(WallTime from, WallTime limit) const {
  auto day = std::chrono::floor<std::chrono::days>(from);
  auto in_day = from - day;
  while (day < limit) {
    const std::chrono::year_month_day date(day);
    if (!months_[static_cast<unsigned>(date.month())]) {
      day = std::chrono::sys_days((date.year() / date.month() + std::chrono::months(1)) / 1);
    } else {
      const auto found = fits_day(day) ? next_in_day(in_day) : std::nullopt;
      if (found) return day + *found < limit ? std::optional(day + *found) : std::nullopt;
      day += std::chrono::days(1);
    }
    in_day = std::chrono::minutes(0);
  }
  return std::nullopt;
}

}  // namespace indx
