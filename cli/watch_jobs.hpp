#pragma once
#include "cli/place.hpp"

namespace indx {

/// Watches all jobs that the caller may see until a signal comes: a live table on a terminal; else
/// lines of JSON, first `{type: job, job}` for each live job, then one for each event,
/// `{type: job.started, id, at, job, …}`. A server that goes away is waited for, and what happened
/// meanwhile is told. Gives the exit code.
int watch_jobs(Place& place);

}  // namespace indx
