#include "base/time_zone.hpp"
#include "jobs/cron.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr std::chrono::days kHorizon{50 * 366};

/// A schedule goes by the zone that it names, wherever the program runs.
Result<TimeZone> named_zone(const std::string& name) {
  if (name.empty())
    return invalid("A schedule needs a time zone, such as Europe/Berlin.", {{"path", "time_zone"}});
  return TimeZone::load(name);
}

}  // namespace

/// A time in which the clocks of a place are not changed.
struct Cron::Stretch {
  Timestamp begin, end;
  milliseconds offset;         ///< east of UTC
  milliseconds offset_before;  ///< of the stretch that ends at `begin`
};

std::optional<Timestamp> Cron::next_in(const Stretch& stretch, Timestamp from,
                                       Timestamp last) const {
  const auto wall = [](Timestamp time, milliseconds offset) {
    return std::chrono::ceil<std::chrono::minutes>(time + offset);
  };
  auto first = wall(from, stretch.offset);
  if (!follows_clock_) {
    const auto shown_before = wall(stretch.begin, stretch.offset_before);
    const auto shown_after = wall(stretch.begin, stretch.offset);
    if (stretch.begin >= from && next_match(shown_before, shown_after)) return stretch.begin;
    first = std::max(first, shown_before);
  }
  const auto found = next_match(first, wall(std::min(stretch.end, last), stretch.offset));
  if (!found) return std::nullopt;
  return Timestamp(*found) - stretch.offset;
}

Result<std::optional<Timestamp>> Cron::next_after(Timestamp after,
                                                  const std::string& zone_name) const {
  const auto zone = INDX_TRY(named_zone(zone_name));
  const auto last = after + kHorizon;
  for (auto from = after + milliseconds(1); from < last;) {
    const auto now = zone.stretch_at(from);
    Stretch stretch{now.begin, now.end, now.offset, now.offset};
    // Clocks go back by hours, not days: a change long ago repeats nothing now.
    if (stretch.begin + std::chrono::days(2) > from)
      stretch.offset_before = zone.offset_at(now.begin - milliseconds(1));
    if (auto found = next_in(stretch, from, last)) return found;
    from = stretch.end;
  }
  return std::optional<Timestamp>();
}

}  // namespace indx
