#pragma once
#include "base/clock.hpp"
#include "base/error.hpp"

namespace indx {

/// Leaves a handler whose job gives its runner back until a time; nullopt: until its children come.
inline Error suspended_until(std::optional<Timestamp> wake_at) {
  Json details = Json::object();
  if (wake_at) details["wake_at"] = to_millis(*wake_at);
  return make_error(Reason::Suspended, "The job goes on later.", std::move(details));
}
inline std::optional<Timestamp> wake_time(const Error& suspended) {
  const auto at = suspended.details.find("wake_at");
  if (at == suspended.details.end()) return std::nullopt;
  return from_millis(at->get<std::int64_t>());
}

}  // namespace indx
