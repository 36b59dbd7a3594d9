#pragma once
#include "base/config.hpp"
#include "cli/args.hpp"
#include "cli/place.hpp"

namespace indx {

/// `indx job watch [ID]`: a bar on a terminal, else a line of JSON for each change. The exit code
/// is the job's.
int run_job_watch(const Invocation& invocation, const Environment& env, const Registry& registry);
/// `indx job resume ID`: runs the job in this process and waits for it.
int run_job_resume(const Invocation& invocation, const Environment& env, const Registry& registry);

/// Id of the newest job that is not finished; `not_found` when there is none.
Result<std::string> newest_live_job(Place& place);

}  // namespace indx
