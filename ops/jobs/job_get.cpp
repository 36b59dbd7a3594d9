#include "base/text.hpp"
#include "ops/jobs/job_view.hpp"
#include "ops/operations.hpp"
#include "ops/versions.hpp"

namespace indx {
namespace job_get_op {

struct Input {
  std::string id;
};
struct Output {
  JsonObject job;
  std::vector<JobFaultView> faults;
  std::vector<JsonObject> children;
};

Result<Output> run(Context& ctx, const Input& in) {
  const Job job = INDX_TRY(ctx.jobs().get(JobId{in.id}));
  const auto faults = INDX_TRY(ctx.jobs().faults(job.id));
  const auto children = INDX_TRY(ctx.jobs().children(job.id));
  Json record = to_json(job);
  record["is_own"] = job.owner.subject == ctx.principal().subject;
  record["reverted_by"] = INDX_TRY(ctx.versions().reverted_by(job.id));
  Output out{{std::move(record)}, {}, view_listed_jobs(children)};
  for (const JobFault& fault : faults)
    out.faults.push_back({fault.what, fault.lease, {fault.error.to_json()}, format_time(fault.at)});
  return out;
}

/// `Job 01J… (ai_tag): running, 12 of 50 notes done.`
std::string told(const Json&, const Json& output) {
  const Json job = output.value("job", Json::object());
  const auto member = [](const Json& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() ? Json() : *found;
  };
  const auto text = [&](const Json& object, const char* key) {
    const Json value = member(object, key);
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  std::string line =
      cat("Job ", text(job, "id"), " (", text(job, "kind"), "): ", text(job, "state"));
  const Json progress = member(job, "progress");
  if (progress.is_object() && member(progress, "done").is_number()) {
    const Json total = member(progress, "total");
    line += cat(", ", progress["done"].dump(), total.is_number() ? " of " + total.dump() : "", ' ',
                text(progress, "unit"), " done");
  }
  if (const Json error = member(job, "error"); error.is_object())
    line += cat("; its error is ", text(error, "code"));
  return line + '.';
}

}  // namespace job_get_op

Operation job_get() {
  using namespace job_get_op;
  return define<Input, Output>({
      .name = "job_get",
      .title = "Look at a job",
      .summary = "Show a job: state, progress, result, errors, children.",
      .guidance = "Poll it every few seconds. What happened to it: vault_lists with action "
                  "job_events.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/jobs/{id}"},
      .cli_positional = {"id"},
      .example = "01JQ3V0F8Y4T2XK8M6N1ZB5C7D",
      .is_idempotent = true,
      .input = {job_id_field(&Input::id)},
      .output = {field("job", &Output::job, "The record."),
                 field("faults", &Output::faults,
                       "Errors of its tries, oldest first; they stay when it is tried again."),
                 field("children", &Output::children,
                       "Jobs that it made to do parts of its work, without their results.")},
      .told = told,
      .failures = {{Reason::NotFound, "You have no job with that id."}},
      .handler = run,
  });
}

}  // namespace indx
