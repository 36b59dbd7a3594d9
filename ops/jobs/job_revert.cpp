#include "base/text.hpp"
#include "jobs/job_state.hpp"
#include "ops/jobs.hpp"
#include "ops/jobs/job_view.hpp"
#include "ops/jobs/undo_run.hpp"
#include "ops/links.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace job_revert_op {

struct Input {
  std::string id;
  bool dry_run = false;
};

/// A job that may still write cannot be undone.
Result<Job> ended_job(Context& ctx, const std::string& id) {
  auto job = INDX_TRY(ctx.jobs().get(JobId{id}));
  if (job.is_final()) return job;
  return make_error(
      Reason::Conflict,
      cat("Job `", id, "` is still ", name(job.state), "; cancel it first, with job_cancel."),
      Json{{"id", id}, {"state", std::string(name(job.state))}});
}

Json writes_json(const std::vector<JobWrite>& writes) {
  Json rows = Json::array();
  for (const auto& write : writes) {
    Json row{{"path", write.path}};
    if (write.moved_from) row["from"] = *write.moved_from;
    if (write.before_sha256) row["sha256"] = *write.before_sha256;
    if (write.before_etag) row["before"] = *write.before_etag;
    if (write.after_etag) row["after"] = *write.after_etag;
    rows.push_back(std::move(row));
  }
  return rows;
}
std::vector<JobWrite> writes_of(const Json& rows) {
  std::vector<JobWrite> writes;
  const auto text = [](const Json& row, const char* key) {
    const auto it = row.find(key);
    return it == row.end() ? std::nullopt : std::optional(it->get<std::string>());
  };
  for (const auto& row : rows)
    writes.push_back({.path = row.at("path").get<std::string>(),
                      .moved_from = text(row, "from"),
                      .before_sha256 = text(row, "sha256"),
                      .before_etag = text(row, "before"),
                      .after_etag = text(row, "after"),
                      .at = {}});
  return writes;
}

Result<UndoReport> run(Context& ctx, const Input& in) {
  const Job job = INDX_TRY(ended_job(ctx, in.id));
  // Stored, for the job may be tried again while it is being undone.
  const Json rows = INDX_TRY(ctx.step("writes", Json{{"job", in.id}}, [&]() -> Result<Json> {
    return writes_json(INDX_TRY(ctx.jobs().writes(job.id)));
  }));
  if (rows.empty()) {
    UndoReport report;
    report.job = in.id;
    report.dry_run = in.dry_run;
    report.message = "The job wrote no file; there is nothing to undo.";
    return report;
  }
  const auto plan = plan_undo(writes_of(rows));
  if (in.dry_run) return preview_undo(ctx, job.id, plan);
  const auto turn = INDX_TRY(ctx.links().take_turn());
  return run_undo(ctx, job.id, plan);
}

/// What changes files is always a job.
Result<std::size_t> size(Context& ctx, const Input& in) {
  const Job job = INDX_TRY(ended_job(ctx, in.id));
  if (in.dry_run) return std::size_t{0};
  return INDX_TRY(ctx.jobs().writes(job.id)).size();
}

std::string target_of(const Json& input) {
  return input.value("dry_run", false) ? std::string() : input.value("id", "");
}

/// `Undid job 01J…: 3 files restored, 1 left because it was changed since.`
std::string told(const Json&, const Json& output) {
  const auto size = [&](const char* list) {
    const auto found = output.find(list);
    return found == output.end() ? std::size_t{0} : found->size();
  };
  const bool is_trial = output.value("dry_run", false);
  const std::size_t restored = size("restored");
  std::vector<std::string> parts = {cat(restored, restored == 1 ? " file" : " files",
                                        is_trial ? " would be restored" : " restored")};
  const auto add = [&](std::size_t count, std::string_view what) {
    if (count > 0) parts.push_back(cat(count, ' ', what));
  };
  add(size("changed_since"), "left as changed since");
  add(size("missing_version"), "left without a kept version");
  add(size("failed"), "failed");
  add(output.value("hidden", std::size_t{0}), "hidden from you and left");
  if (restored == 0)
    return cat("Nothing of job ", output.value("job", ""), is_trial ? " would be" : " was",
               " undone. ", output.value("message", ""));
  return cat(is_trial ? "Dry run, nothing was written; of job " : "Undid job ",
             output.value("job", ""), ": ", join(parts, ", "), '.');
}

}  // namespace job_revert_op

Operation job_revert() {
  using namespace job_revert_op;
  return define<Input, UndoReport>({
      .name = "job_revert",
      .summary = "Undo what a job wrote: every file gets back what it held before.",
      .guidance = "Try `dry_run` first. A file that was changed since is left alone and listed. "
                  "Runs as a job, which can be reverted too. Works for 7 days after the job.",
      .scopes = {Scope::VaultWrite},
      .route = {"POST", "/v1/jobs/{id}/revert"},
      .cli_positional = {"id"},
      .example = "01JQ3V0F8Y4T2XK8M6N1ZB5C7D --dry-run",
      .execution = Execution::Sized,
      .inline_limit = 0,
      .size = size,
      .effect = Effect::Writes,
      .is_idempotent = true,
      .wants_consent = [](const Input& in) { return !in.dry_run; },
      .tool_group = "job_manage",
      .job = {.unique_key = target_of, .on_duplicate = OnDuplicate::Reject, .reverts = target_of},
      .input = {job_id_field(&Input::id),
                field("dry_run", &Input::dry_run, "Only tell what would happen, with diffs.",
                      optional)},
      .output = UndoReport::fields(),
      .told = told,
      .failures = {{Reason::NotFound, "You have no job with that id."},
                   {Reason::Conflict, "The job still runs, or is being undone already."},
                   {Reason::InProgress,
                    "The index is still being filled, or another change rewrites links."}},
      .handler = run,
  });
}

}  // namespace indx
