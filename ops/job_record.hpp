#pragma once
#include "base/json.hpp"
#include "base/result.hpp"

namespace indx {

/// What the public record of a job says, as job_get gives it.

bool is_final_record(const Json& record);
/// What a final record answers: its result, or its error with the job's id.
Result<Json> outcome_of(const Json& record);

}  // namespace indx
