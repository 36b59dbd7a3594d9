#pragma once
#include "ops/dispatch.hpp"

#include <functional>
#include <string>

namespace indx {

/// Follows a job to its end, here or over the wire: `on_record` gets the public record now and
/// after each change. A server that goes away is waited for, up to 30 s. Gives the last record;
/// `cancelled` when `cancel` was.
Result<Json> follow_job(Dispatcher& dispatcher, const Principal& principal, const std::string& id,
                        const CancelToken& cancel,
                        const std::function<void(const Json& record)>& on_record);

/// What a final record answers: its result, or its error with the job's id.
Result<Json> outcome_of(const Json& record);
bool is_final_record(const Json& record);

}  // namespace indx
