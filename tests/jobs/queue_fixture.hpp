#pragma once
#include "base/random.hpp"
#include "jobs/job_queue.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/state_db.hpp"

namespace indx {

/// A queue over a fresh state.db with a clock that stands still. The instance is called `a`; `tag`
/// is a known kind.
struct QueueFixture : StateDb {
  FakeClock clock;
  SeededRandom random{42};
  JobQueue queue{
      db, clock, random, {.spill_dir = dir.path() + "/spill", .secret_key = std::string(32, 'k')}};
  std::vector<JobStore::KnownKind> known = {{.kind = "tag"}};

  static JobRequest request() {
    JobRequest request;
    request.kind = "tag";
    request.input = {{"scope", "**"}};
    request.owner = {.subject = "tok_1",
                     .surface = "api",
                     .scopes = {"vault:read"},
                     .path_globs = {},
                     .request_id = "r1"};
    return request;
  }
  Job add() { return queue.enqueue(request()).value().job; }
  Job add(const JobRequest& request) { return queue.enqueue(request).value().job; }
  std::optional<Job> claim(const std::string& instance = "a") {
    auto jobs = queue.claim(instance, known, 1).value();
    if (jobs.empty()) return std::nullopt;
    return std::move(jobs.front());
  }
  Job get(const JobId& id) { return *queue.get(id).value(); }

  static Lease lease_of(const Job& job) { return {job.id, job.lease, job.leased_by}; }
  Job finish(const Job& job, const JobOutcome& outcome) {
    return queue.finish(lease_of(job), outcome, known).value().job;
  }
  static JobOutcome success(Json result = Json::object()) {
    return {.kind = JobOutcome::Kind::Succeeded, .result = std::move(result)};
  }
  static JobOutcome failure(Reason reason, const std::string& message = "no") {
    return {.kind = JobOutcome::Kind::Failed, .error = make_error(reason, message)};
  }
  static JobOutcome returned() { return {.kind = JobOutcome::Kind::Returned}; }
};

}  // namespace indx
