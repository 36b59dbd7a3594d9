#pragma once
#include "ops/define.hpp"
#include "vault/daily_note.hpp"

namespace indx {

/// The daily note that a call is about.
struct DailyNote {
  NotePath path;
  std::string date;  ///< YYYY-MM-DD
  WallTime now;      ///< what a new one is dated with: that day, at the time of the call
  DailySettings settings;
};
/// `date`: YYYY-MM-DD, `today`, `yesterday`, `tomorrow`; empty: today, in the configured time zone.
Result<DailyNote> find_daily_note(Context& ctx, const std::string& date);

template <typename Struct>
Field<Struct> date_field(std::string Struct::*member) {
  return field("date", member, "YYYY-MM-DD, today, yesterday or tomorrow.", optional,
               length(0, 16));
}

}  // namespace indx
