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

}  // namespace indx
