#pragma once
#include "base/clock.hpp"
#include "base/result.hpp"

#include <bitset>
#include <optional>
#include <string>
#include <string_view>

namespace indx {

/// A recurring time in the five fields of Vixie cron: minute, hour, day of the month, month, day of
/// the week. When both days are restricted, one of them is enough; when one begins with `*`, both
/// have to fit.
class Cron {
 public:
  /// Lists of `*`, numbers, English names of three letters, ranges, and `/` steps of `*` and
  /// ranges; Sunday is 0 or 7. Or `@yearly` `@annually` `@monthly` `@weekly` `@daily` `@midnight`
  /// `@hourly`. `validation_failed` names the field.
  static Result<Cron> parse(std::string_view text);

  /// The first instant after `after` that fits the clocks of an IANA zone; nullopt: none within 50
  /// years (30 February). `validation_failed` for an unknown zone.
  ///
  /// When clocks change, as Vixie cron does it: with fixed hours each time of day comes once a day,
  /// for one that is skipped at the first instant after the gap, for one that is repeated the first
  /// time only. When the hour begins with `*`, what the clock shows counts, so that "every 15
  /// minutes" stays 15 minutes.
  Result<std::optional<Timestamp>> next_after(Timestamp after, const std::string& zone) const;

 private:
  /// What the clocks of a place show, counted as if it were UTC.
  using WallTime = std::chrono::sys_time<std::chrono::minutes>;
  struct Stretch;

  bool fits_day(std::chrono::sys_days day) const;
  std::optional<std::chrono::minutes> next_in_day(std::chrono::minutes from) const;
  std::optional<WallTime> next_match(WallTime from, WallTime limit) const;
  std::optional<Timestamp> next_in(const Stretch& stretch, Timestamp from, Timestamp last) const;

  std::bitset<60> minutes_;
  std::bitset<24> hours_;
  std::bitset<32> days_;
  std::bitset<13> months_;
  std::bitset<7> weekdays_;
  bool is_any_day_ = false, is_any_weekday_ = false;  ///< the field begins with `*`
  bool follows_clock_ = false;                        ///< the hour begins with `*`
};

}  // namespace indx
