#include "base/text.hpp"
#include "jobs/cron.hpp"

#include <algorithm>
#include <cstdlib>
#include <date/tz.h>

namespace indx {
namespace {

constexpr std::chrono::days kHorizon{50 * 366};

/// The library throws when the system's files are missing too.
Result<const date::time_zone*> find_time_zone(const std::string& name) {
  try {
    return date::locate_zone(name);
  } catch (const std::exception&) {
    return invalid(
        cat("This system knows no time zone `", name, "`; give a name such as Europe/Berlin."),
        Json{{"path", "time_zone"}});
  }
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
  const date::time_zone* zone = INDX_TRY(find_time_zone(zone_name));
  const auto last = after + kHorizon;
  try {
    for (auto from = after + milliseconds(1); from < last;) {
      using std::chrono::floor, std::chrono::seconds;
      const auto info = zone->get_info(floor<seconds>(from));
      Stretch stretch{info.begin, info.end, info.offset, info.offset};
      // Clocks go back by hours, not days: a change long ago repeats nothing now.
      if (stretch.begin + std::chrono::days(2) > from)
        stretch.offset_before = zone->get_info(info.begin - seconds(1)).offset;
      if (auto found = next_in(stretch, from, last)) return found;
      from = stretch.end;
    }
  } catch (const std::exception& error) {
    return internal_error(cat("The time zone ", zone_name, " cannot be read: ", error.what()));
  }
  return std::optional<Timestamp>();
}

Status check_time_zone(const std::string& name) {
  INDX_TRY(find_time_zone(name));
  return {};
}

std::string local_time_zone() {
  if (const char* set = std::getenv("TZ")) {  // NOLINT(concurrency-mt-unsafe): nobody sets it
    const std::string name = set[0] == ':' ? set + 1 : set;
    if (!name.empty() && check_time_zone(name)) return name;
  }
  try {
    const auto& name = date::current_zone()->name();
    return check_time_zone(name) ? name : "UTC";
  } catch (const std::exception&) {  // no /etc/localtime, or no link
    return "UTC";
  }
}

}  // namespace indx
