#include "ops/event_filter.hpp"

#include <algorithm>
#include <string_view>

namespace indx {
namespace {

constexpr std::string_view kJobKinds = "job.";

/// Whether every path that the event names is inside the scope.
bool is_inside(const PathScope& scope, const Json& data) {
  const auto allows = [&](const Json& path) {
    return !path.is_string() || scope.allows(path.get_ref<const std::string&>());
  };
  if (const auto path = data.find("path"); path != data.end() && !allows(*path)) return false;
  for (const auto* name : {"scope_paths", "applied_paths"})
    if (const auto paths = data.find(name);
        paths != data.end() && !std::all_of(paths->begin(), paths->end(), allows))
      return false;
  return true;
}

}  // namespace

bool EventFilter::wants(const Event& event) const {
  if (!jobs.empty() && std::find(jobs.begin(), jobs.end(), event.job_id) == jobs.end())
    return false;
  if (!kind_matches(event.kind, kinds)) return false;
  if (only_own_jobs && event.subject != subject && event.kind.starts_with(kJobKinds)) return false;
  return !is_bounded() || is_inside(scope, event.data);
}

bool EventFilter::wants_kinds_of_jobs() const {
  return kinds.empty() || std::any_of(kinds.begin(), kinds.end(), [](const std::string& pattern) {
           return pattern.starts_with(kJobKinds);
         });
}

}  // namespace indx
