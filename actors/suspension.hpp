#pragma once
#include "base/clock.hpp"
#include "base/error.hpp"

namespace indx {

/// Leaves a handler whose job gives its runner back until a time; nullopt: until its children come.
/// `waits_for`: as JobProgress says.
inline Error suspended_until(std::optional<Timestamp> wake_at, const std::string& waits_for = "") {
  Json details = Json::object();
  if (wake_at) details["wake_at"] = to_millis(*wake_at);
  if (!waits_for.empty()) details["waits_for"] = waits_for;
  return make_error(Reason::Suspended, "The job goes on later.", std::move(details));
}
inline std::optional<Timestamp> wake_time(const Error& suspended) {
  const auto at = suspended.details.find("wake_at");
  if (at == suspended.details.end()) return std::nullopt;
  return from_millis(at->get<std::int64_t>());
}

/// The same for as long as the queue says, because of an error with which a provider asked for it.
inline Error snoozed_by(const Error& why) {
  return make_error(Reason::Suspended, "The job goes on when the provider may be asked again.",
                    {{"snoozed_by", why.to_json()}});
}
inline std::optional<Error> cause_of_snooze(const Error& suspended) {
  const auto why = suspended.details.find("snoozed_by");
  if (why == suspended.details.end()) return std::nullopt;
  return error_from_json(*why);
}

}  // namespace indx
