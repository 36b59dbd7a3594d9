#pragma once
#include "base/cancel.hpp"
#include "base/config.hpp"
#include "cli/args.hpp"
#include "cli/place.hpp"

namespace indx {

/// `indx job watch [ID]`. With an id: a bar on a terminal, else a line of JSON for each change; the
/// exit code is the job's. Without: watch_jobs.
int run_job_watch(const Invocation& invocation, const Environment& env, const Registry& registry);
/// `indx job run ID`: runs the job in this process and waits for it.
int run_job_run(const Invocation& invocation, const Environment& env, const Registry& registry);

/// Id of the newest job that could run and is not finished; `not_found` when there is none.
Result<std::string> newest_live_job(Place& place);

/// The data that an operation answers at that place.
Result<Json> call_operation(Place& place, const char* operation, Json input,
                            const CancelToken& cancel = {});

}  // namespace indx
