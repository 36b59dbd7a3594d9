#pragma once
#include "http/router.hpp"
#include "ops/dispatch.hpp"

namespace indx {

/// GET /v1/jobs/{id}/events: the record, then again with each change, then `done`. The dispatcher
/// outlives the router.
void add_job_stream_route(Router& router, Dispatcher& dispatcher);

}  // namespace indx
