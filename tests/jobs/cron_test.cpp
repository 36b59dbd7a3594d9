#include "jobs/cron.hpp"

#include "base/random.hpp"
#include "base/text.hpp"
#include "base/time_zone.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <vector>

namespace indx {
namespace {

/// `2026-03-16T10:00:00Z`, also with milliseconds.
Timestamp utc(std::string text) {
  if (text.size() == 20) text.insert(19, ".000");
  const auto time = parse_time(text);
  REQUIRE(time.has_value());
  return *time;
}

std::vector<std::string> next_times(const std::string& cron, const std::string& zone,
                                    const std::string& after, int count) {
  const auto parsed = Cron::parse(cron);
  REQUIRE(parsed);
  std::vector<std::string> times;
  auto time = utc(after);
  for (int i = 0; i < count; ++i) {
    const auto next = parsed->next_after(time, zone);
    REQUIRE(next);
    if (!*next) break;
    time = **next;
    times.push_back(format_time(time).substr(0, 16));
  }
  return times;
}
using Times = std::vector<std::string>;

/// A schedule as plain sets, and its text.
struct PlainCron {
  std::string text;
  std::set<int> minutes_of_hour, hours, days, months, weekdays;
  bool is_any_hour = false, is_any_day = false, is_any_weekday = false;

  bool fits(Timestamp wall) const {
    const auto day = std::chrono::floor<std::chrono::days>(wall);
    const std::chrono::year_month_day date(day);
    const auto of_day = std::chrono::floor<std::chrono::minutes>(wall - day).count();
    const bool fits_day = days.contains(static_cast<int>(static_cast<unsigned>(date.day())));
    const bool fits_weekday =
        weekdays.contains(static_cast<int>(std::chrono::weekday(day).c_encoding()));
    return minutes_of_hour.contains(static_cast<int>(of_day % 60)) &&
           hours.contains(static_cast<int>(of_day / 60)) &&
           months.contains(static_cast<int>(static_cast<unsigned>(date.month()))) &&
           (is_any_day || is_any_weekday ? fits_day && fits_weekday : fits_day || fits_weekday);
  }
};

int cron_int(Random& random, int low, int high) {
  return low + static_cast<int>(random.uniform() * (high - low + 1));
}

/// One field: `*`, a step, a range with a step, or a list. Gives its text and fills the set.
std::string random_field(Random& random, int low, int high, double stars, std::set<int>& values) {
  if (random.uniform() < stars) {
    const int step = random.uniform() < 0.5 ? 1 : cron_int(random, 2, std::max(2, high / 2));
    for (int value = low; value <= high; value += step) values.insert(value);
    return step == 1 ? "*" : cat("*/", step);
  }
  std::vector<std::string> items;
  for (int count = cron_int(random, 1, 3); count > 0; --count) {
    const int first = cron_int(random, low, high), last = cron_int(random, first, high);
    if (random.uniform() < 0.6) {
      values.insert(first);
      items.push_back(std::to_string(first));
    } else {
      const int step = cron_int(random, 1, 4);
      for (int value = first; value <= last; value += step) values.insert(value);
      items.push_back(cat(first, "-", last, "/", step));
    }
  }
  return join(items, ",");
}

PlainCron random_cron(Random& random) {
  PlainCron cron;
  const auto minute = random_field(random, 0, 59, 0.3, cron.minutes_of_hour);
  const auto hour = random_field(random, 0, 23, 0.4, cron.hours);
  const auto day = random_field(random, 1, 31, 0.5, cron.days);
  const auto month = random_field(random, 1, 12, 0.8, cron.months);
  const auto weekday = random_field(random, 0, 6, 0.5, cron.weekdays);
  cron.is_any_hour = hour[0] == '*' || cron.hours.size() == 24;
  cron.is_any_day = day[0] == '*';
  cron.is_any_weekday = weekday[0] == '*';
  cron.text = cat(minute, " ", hour, " ", day, " ", month, " ", weekday);
  return cron;
}

/// One minute of a place, and what its clocks did then.
struct SeenMinute {
  Timestamp time, wall;
  bool is_repeat = false;          ///< the clocks have shown it before
  std::vector<Timestamp> skipped;  ///< what they left out just before it
};

std::vector<SeenMinute> minutes_seen(const std::string& zone_name, Timestamp from, Timestamp to) {
  const auto zone = TimeZone::load(zone_name).value();
  std::vector<SeenMinute> all;
  std::set<Timestamp> seen;
  for (auto time = from - std::chrono::days(1); time < to; time += std::chrono::minutes(1)) {
    SeenMinute now{time, time + zone.offset_at(time), false, {}};
    now.is_repeat = !seen.insert(now.wall).second;
    if (!all.empty())
      for (auto wall = all.back().wall + std::chrono::minutes(1); wall < now.wall;
           wall += std::chrono::minutes(1))
        now.skipped.push_back(wall);
    all.push_back(std::move(now));
  }
  std::erase_if(all, [&](const SeenMinute& one) { return one.time < from; });
  return all;
}

std::vector<Timestamp> times_by_scan(const PlainCron& cron, const std::vector<SeenMinute>& seen) {
  std::vector<Timestamp> times;
  for (const auto& one : seen) {
    const bool came_late =
        !cron.is_any_hour && std::any_of(one.skipped.begin(), one.skipped.end(),
                                         [&](Timestamp wall) { return cron.fits(wall); });
    if (came_late || (cron.fits(one.wall) && (cron.is_any_hour || !one.is_repeat)))
      times.push_back(one.time);
  }
  return times;
}

std::vector<Timestamp> times_by_cron(const std::string& text, const std::string& zone,
                                     Timestamp from, Timestamp to) {
  const auto cron = Cron::parse(text).value();
  std::vector<Timestamp> times;
  auto next = cron.next_after(from - milliseconds(1), zone).value();
  for (; next && *next < to; next = cron.next_after(*next, zone).value()) times.push_back(*next);
  return times;
}

}  // namespace

TEST_CASE("five fields say when, with lists, ranges, steps and names", "[jobs][cron]") {
  CHECK(next_times("*/20 * * * *", "UTC", "2026-03-16T10:05:00Z", 4) ==
        Times{"2026-03-16T10:20", "2026-03-16T10:40", "2026-03-16T11:00", "2026-03-16T11:20"});
  CHECK(next_times("0 9-17/4 * * MON-fri", "UTC", "2026-03-13T12:00:00Z", 4) ==
        Times{"2026-03-13T13:00", "2026-03-13T17:00", "2026-03-16T09:00", "2026-03-16T13:00"});
  CHECK(next_times("5,10 0 1 jan,jul *", "UTC", "2026-03-16T10:00:00Z", 3) ==
        Times{"2026-07-01T00:05", "2026-07-01T00:10", "2027-01-01T00:05"});
  CHECK(next_times("0 0 * * 7", "UTC", "2026-03-16T10:00:00Z", 1) == Times{"2026-03-22T00:00"});
  CHECK(next_times("0 0 * * fri-sun", "UTC", "2026-03-16T10:00:00Z", 3) ==
        Times{"2026-03-20T00:00", "2026-03-21T00:00", "2026-03-22T00:00"});
  CHECK(next_times("@monthly", "UTC", "2026-03-16T10:00:00Z", 2) ==
        Times{"2026-04-01T00:00", "2026-05-01T00:00"});
  CHECK(next_times("  @Daily ", "Asia/Tokyo", "2026-03-16T10:00:00Z", 1) ==
        Times{"2026-03-16T15:00"});
  CHECK(next_times("0 0 29 2 *", "UTC", "2026-03-16T10:00:00Z", 2) ==
        Times{"2028-02-29T00:00", "2032-02-29T00:00"});
}

TEST_CASE("a time is never given for itself, and seconds do not matter", "[jobs][cron]") {
  CHECK(next_times("30 2 * * *", "UTC", "2026-03-16T02:30:00Z", 1) == Times{"2026-03-17T02:30"});
  CHECK(next_times("30 2 * * *", "UTC", "2026-03-16T02:29:59.999Z", 1) ==
        Times{"2026-03-16T02:30"});
  CHECK(next_times("30 2 * * *", "UTC", "2026-03-16T02:30:00.001Z", 1) ==
        Times{"2026-03-17T02:30"});
}

TEST_CASE("one of two restricted days is enough, with a star both have to fit", "[jobs][cron]") {
  CHECK(next_times("0 0 13 * fri", "UTC", "2026-03-29T00:00:00Z", 4) ==
        Times{"2026-04-03T00:00", "2026-04-10T00:00", "2026-04-13T00:00", "2026-04-17T00:00"});
  CHECK(next_times("0 0 */10 * mon", "UTC", "2026-03-29T00:00:00Z", 3) ==
        Times{"2026-05-11T00:00", "2026-06-01T00:00", "2026-08-31T00:00"});
}

TEST_CASE("what is no schedule is refused with its field", "[jobs][cron]") {
  for (const auto* text : {"",
                           "* * * *",
                           "* * * * * *",
                           "60 * * * *",
                           "* 24 * * *",
                           "* * 0 * *",
                           "* * 32 * *",
                           "* * * 13 * ",
                           "* * * * 8",
                           "-1 * * * *",
                           "1- * * * *",
                           "5-1 * * * *",
                           "*/0 * * * *",
                           "*/x * * * *",
                           "5/10 * * * *",
                           "1,,2 * * * *",
                           "* * * foo *",
                           "* * L * *",
                           "@reboot",
                           "@never",
                           "99999999999999999999 * * * *",
                           "1.5 * * * *",
                           "* * * * mon#2"}) {
    INFO(text);
    const auto cron = Cron::parse(text);
    REQUIRE_FALSE(cron);
    CHECK(cron.error().reason == Reason::ValidationFailed);
    CHECK(cron.error().details["path"] == "cron");
  }
  CHECK(Cron::parse("* 24 * * *").error().message.find("hour") != std::string::npos);
}

TEST_CASE("times that never come are told, as is a zone that is none", "[jobs][cron]") {
  const auto never = Cron::parse("0 0 30 2 *").value();

  CHECK(never.next_after(utc("2026-03-16T10:00:00Z"), "Europe/Berlin").value() == std::nullopt);
  for (const auto* zone : {"Europe/Nowhere", "", "../../etc/passwd", "/etc/localtime"}) {
    INFO(zone);
    CHECK(never.next_after(utc("2026-03-16T10:00:00Z"), zone).error().reason ==
          Reason::ValidationFailed);
    CHECK(never.next_after(utc("2026-03-16T10:00:00Z"), zone).error().details["path"] ==
          "time_zone");
  }
  CHECK(TimeZone::load(TimeZone::local_name()).has_value());
}

TEST_CASE("02:30 in Berlin comes once a day on the nights when clocks change",
          "[jobs][cron][jobs-51]") {
  CHECK(next_times("30 2 * * *", "Europe/Berlin", "2026-03-27T12:00:00Z", 4) ==
        Times{"2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:30", "2026-03-31T00:30"});
  CHECK(next_times("30 2 * * *", "Europe/Berlin", "2026-10-23T12:00:00Z", 4) ==
        Times{"2026-10-24T00:30", "2026-10-25T00:30", "2026-10-26T01:30", "2026-10-27T01:30"});
  // Several skipped times are one.
  CHECK(next_times("*/15 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2) ==
        Times{"2026-03-29T01:00", "2026-03-30T00:00"});
}

TEST_CASE("every 15 minutes stays 15 minutes when clocks change", "[jobs][cron][jobs-51]") {
  for (const auto* night : {"2026-03-28T20:00:00Z", "2026-10-24T20:00:00Z"}) {
    const auto from = utc(night);
    const auto times =
        times_by_cron("*/15 * * * *", "Europe/Berlin", from, from + std::chrono::hours(10));
    REQUIRE(times.size() == 40);
    for (std::size_t i = 1; i < times.size(); ++i)
      CHECK(times[i] - times[i - 1] == std::chrono::minutes(15));
  }
}

TEST_CASE("the next time is the first minute that fits, by a scan of a year", "[jobs][cron]") {
  SeededRandom random(7);
  const auto from = utc("2027-06-01T00:00:00Z"), to = utc("2028-06-01T00:00:00Z");
  const auto seen = minutes_seen("UTC", from, to);
  for (int round = 0; round < 12; ++round) {
    const auto cron = random_cron(random);
    INFO(cron.text);
    CHECK(times_by_cron(cron.text, "UTC", from, to) == times_by_scan(cron, seen));
  }
}

TEST_CASE("the next time is the first minute that fits, by a scan of nights when clocks change",
          "[jobs][cron][jobs-51]") {
  SeededRandom random(11);
  // Changes by an hour, by half of one, at midnight, and of a whole day.
  const std::vector<std::pair<const char*, const char*>> changes = {
      {"Europe/Berlin", "2026-03-29T01:00:00Z"},
      {"Europe/Berlin", "2026-10-25T01:00:00Z"},
      {"America/New_York", "2026-03-08T07:00:00Z"},
      {"America/New_York", "2026-11-01T06:00:00Z"},
      {"Australia/Lord_Howe", "2026-04-04T15:00:00Z"},
      {"Australia/Lord_Howe", "2026-10-03T15:30:00Z"},
      {"America/Asuncion", "2023-10-01T04:00:00Z"},
      {"Pacific/Apia", "2011-12-30T10:00:00Z"}};
  for (const auto& [zone, change] : changes) {
    const auto from = utc(change) - std::chrono::hours(30), to = from + std::chrono::hours(60);
    const auto seen = minutes_seen(zone, from, to);
    for (int round = 0; round < 60; ++round) {
      const auto cron = random_cron(random);
      INFO(zone << ": " << cron.text);
      CHECK(times_by_cron(cron.text, zone, from, to) == times_by_scan(cron, seen));
    }
  }
}

}  // namespace indx
