#include "jobs/schedule.hpp"

#include <array>

namespace indx {
namespace {

constexpr std::array<std::string_view, 3> kOverlapNames = {"skip", "queue", "cancel"};
constexpr std::array<std::string_view, 3> kCatchUpNames = {"skip", "once", "all"};

template <typename Choice>
std::optional<Choice> choice_named(const std::array<std::string_view, 3>& names,
                                   std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<Choice>(i);
  return std::nullopt;
}

}  // namespace

std::string_view name(Overlap overlap) { return kOverlapNames[static_cast<std::size_t>(overlap)]; }
std::string_view name(CatchUp catch_up) {
  return kCatchUpNames[static_cast<std::size_t>(catch_up)];
}
std::optional<Overlap> parse_overlap(std::string_view text) {
  return choice_named<Overlap>(kOverlapNames, text);
}
std::optional<CatchUp> parse_catch_up(std::string_view text) {
  return choice_named<CatchUp>(kCatchUpNames, text);
}

Json to_json(const Schedule& schedule) {
  return {{"name", schedule.name},
          {"kind", schedule.kind},
          {"input", schedule.input},
          {"cron", schedule.cron},
          {"time_zone", schedule.time_zone},
          {"overlap", name(schedule.overlap)},
          {"catch_up", name(schedule.catch_up)},
          {"is_paused", schedule.is_paused},
          {"is_builtin", schedule.is_builtin},
          {"next_at", schedule.next_at ? Json(format_time(*schedule.next_at)) : Json()}};
}

}  // namespace indx
