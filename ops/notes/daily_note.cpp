#include "ops/notes/daily_note.hpp"

#include "base/time_zone.hpp"

namespace indx {
namespace {

Result<std::chrono::sys_days> read_day(const std::string& text, std::chrono::sys_days today) {
  if (text.empty() || text == "today") return today;
  if (text == "yesterday") return today - std::chrono::days(1);
  if (text == "tomorrow") return today + std::chrono::days(1);
  const auto time =
      text.size() == 10 ? parse_time(text + "T00:00:00.000Z") : std::optional<Timestamp>();
  if (time) return std::chrono::floor<std::chrono::days>(*time);
  return invalid("`date` is YYYY-MM-DD, today, yesterday or tomorrow.", Json{{"path", "date"}});
}

}  // namespace

Result<DailyNote> find_daily_note(Context& ctx, const std::string& date) {
  const auto zone = INDX_TRY(TimeZone::load(ctx.config().time_zone));
  const auto time = ctx.clock().now();
  auto now = wall_time(time, zone.offset_at(time));
  now.date = INDX_TRY(read_day(date, std::chrono::sys_days(now.date)));
  const auto& daily = ctx.config().daily;
  DailySettings settings;
  if (daily.folder.empty() || daily.format.empty() || daily.template_path.empty())
    settings = INDX_TRY(read_daily_settings(ctx.config().vault_dir));
  if (!daily.folder.empty()) settings.folder = daily.folder;
  if (!daily.format.empty()) settings.format = daily.format;
  if (!daily.template_path.empty()) settings.template_path = daily.template_path;
  auto path = INDX_TRY(daily_note_path(settings, now));
  return DailyNote{std::move(path), format_moment(now, "YYYY-MM-DD"), now, std::move(settings)};
}

}  // namespace indx
