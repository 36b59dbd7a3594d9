#pragma once
#include "jobs/job.hpp"

#include <optional>
#include <string>

namespace indx {

/// What becomes of a slot while a job of an earlier one is still live.
enum class Overlap : std::uint8_t {
  Skip,   ///< the slot is recorded as skipped
  Queue,  ///< its job waits behind the other
  Cancel  ///< the earlier job is cancelled
};
/// What becomes of slots that passed while nothing ran.
enum class CatchUp : std::uint8_t {
  Skip,  ///< recorded as missed
  Once,  ///< the last one runs, those before it are recorded as missed
  All    ///< each runs, at most the last 100
};
std::string_view name(Overlap overlap);  ///< `skip`
std::string_view name(CatchUp catch_up);
std::optional<Overlap> parse_overlap(std::string_view name);
std::optional<CatchUp> parse_catch_up(std::string_view name);

/// A job that is made again and again: one row of the table `schedules`.
struct Schedule {
  std::string name;
  std::string kind;  ///< operation name
  Json input = Json::object();
  JobOwner owner;
  std::string cron;               ///< five fields, or `@daily` and its like
  std::string time_zone = "UTC";  ///< IANA name
  Overlap overlap = Overlap::Skip;
  CatchUp catch_up = CatchUp::Once;
  bool is_paused = false, is_builtin = false;
  std::optional<Timestamp> next_at;  ///< empty: never again
  Timestamp created_at, updated_at;
};
/// `{name, kind, input, cron, time_zone, overlap, catch_up, is_paused, is_builtin, next_at}`.
Json to_json(const Schedule& schedule);

/// One row of `schedule_slots`.
struct ScheduleSlot {
  Timestamp slot;
  std::string job;      ///< empty: none was made
  std::string outcome;  ///< started | missed | skipped
  Timestamp at;
};

}  // namespace indx
