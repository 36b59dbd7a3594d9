#pragma once
#include "jobs/job.hpp"

#include <optional>
#include <string>
#include <string_view>

// The JSON columns of a job. Readers take what is damaged as missing; only what callers send is
// refused.
namespace indx {

/// `validation_failed` when a text in it is not UTF-8, so that a job never runs with other
/// arguments than those asked for.
Result<std::string> input_text(const Json& input);
Result<std::string> owner_text(const JobOwner& owner);
std::string progress_text(const JobProgress& progress);
std::string_view no_progress_text();  ///< of a job that has told none yet
std::optional<std::string> result_text(const std::optional<Json>& result);
/// Cut to 64 kB.
std::optional<std::string> error_text(const std::optional<Error>& error);

/// No subject and no scopes when the text is damaged.
JobOwner parse_owner(std::string_view text);
JobProgress parse_progress(std::string_view text);

}  // namespace indx
