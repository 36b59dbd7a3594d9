#include "ops/ai/ai_apply.hpp"

#include "base/text.hpp"
#include "ops/notes/note_view.hpp"

#include <algorithm>
#include <set>

namespace indx {
namespace {

Error apply_conflict(const Json& failed, const std::vector<Json>& applied) {
  const std::string done =
      applied.empty() ? "nothing was written" : cat(applied.size(), " notes were written before");
  return make_error(Reason::AiApplyConflict,
                    cat(failed.size(), " notes are no longer at the given etag; ", done,
                        ". Read them again and repeat."),
                    Json{{"failed", failed}, {"applied", applied}});
}

/// `[{path, expected, actual}]` of the notes that are not at the caller's etag.
Result<Json> preflight(Context& ctx, const std::vector<PlannedWrite>& plan,
                       const ApplyOptions& options) {
  std::vector<std::pair<NotePath, std::string>> expected;
  for (const auto& write : plan) {
    const auto it = options.if_match.find(write.path);
    if (it == options.if_match.end()) continue;
    const NotePath path = INDX_TRY(NotePath::parse(write.path));
    expected.emplace_back(path, plain_etag(it->second));
  }
  if (expected.empty()) return Json(Json::array());
  return ctx.step("preflight", Json{{"if_match", options.if_match}}, [&]() -> Result<Json> {
    const auto failed = INDX_TRY(ctx.notes().check_etags(expected));
    return Json(failed);
  });
}

Json mismatch_row(const std::string& path, const Error& error) {
  return Json{{"path", path},
              {"expected", error.details.value("expected", "")},
              {"actual", error.details.value("actual", "")}};
}

Json applied_row(const PlannedWrite& write, const std::string& etag) {
  Json row{{"path", write.path}, {"etag", etag}};
  row.update(write.told);
  return row;
}

Result<WriteOutcome> write_one(Context& ctx, const PlannedWrite& write) {
  NoteChange change = change_of(NoteChange::Kind::Patch, INDX_TRY(NotePath::parse(write.path)));
  for (const auto& [key, value] : write.values)
    change.ops.push_back(PatchOp{PatchKind::SetFrontmatter, key, value, "", "", ""});
  change.if_match = write.etag;
  return ctx.write_step("apply/" + write.path, change);
}

}  // namespace

AiProposedPatch to_patch(const PlannedWrite& write) {
  AiProposedPatch patch{write.path, write.etag, {}};
  for (const auto& [key, value] : write.values)
    patch.ops.push_back(
        JsonObject{Json{{"op", "set_frontmatter"}, {"key", key}, {"value", value}}});
  return patch;
}

ApplyOptions apply_options(const AiApplyInput& input, std::int64_t model_calls) {
  ApplyOptions options;
  for (const auto& [text, etag] : input.if_match) {
    const auto path = NotePath::parse(text);
    options.if_match[path ? path->str() : text] = etag;
  }
  options.skips_mismatches = input.if_match_mode == "skip";
  options.model_calls = model_calls;
  return options;
}

Result<ApplyOutcome> apply_writes(Context& ctx, const std::vector<PlannedWrite>& plan,
                                  const ApplyOptions& options) {
  ApplyOutcome outcome;
  const Json failed = INDX_TRY(preflight(ctx, plan, options));
  if (!failed.empty() && !options.skips_mismatches) return apply_conflict(failed, {});
  std::set<std::string> skipped;
  for (const auto& row : failed) {
    skipped.insert(row.value("path", ""));
    outcome.warnings.push_back(Json{{"code", "etag_mismatch"},
                                    {"path", row.value("path", "")},
                                    {"reason", "not at the given if_match"}});
  }
  JobProgress progress;
  progress.phase = "apply";
  progress.total = static_cast<std::int64_t>(plan.size());
  progress.model_calls = options.model_calls;
  for (const auto& write : plan) {
    if (ctx.cancel().is_cancelled())
      return make_error(
          Reason::Cancelled,
          cat("Cancelled after ", outcome.applied.size(), " of ", plan.size(),
              " notes were written."),
          Json{{"partial",
                {{"done", progress.done}, {"total", plan.size()}, {"applied", outcome.applied}}}});
    progress.current = write.path;
    if (skipped.contains(write.path)) {
      ++progress.done;
      continue;
    }
    if (!write.is_change()) {
      outcome.warnings.push_back(Json{{"code", "apply_skipped_no_change"}, {"path", write.path}});
    } else if (auto done = write_one(ctx, write); done) {
      if (done->changed)
        outcome.applied.push_back(applied_row(write, done->etag));
      else
        outcome.warnings.push_back(Json{{"code", "apply_skipped_no_change"}, {"path", write.path}});
      for (const auto& code : done->warnings)
        outcome.warnings.push_back(Json{{"code", code}, {"path", write.path}});
    } else if (done.error().reason == Reason::Cancelled ||
               done.error().reason == Reason::StaleLease) {
      return done.error();
    } else if (done.error().reason == Reason::EtagMismatch &&
               options.if_match.contains(write.path) && !options.skips_mismatches) {
      return apply_conflict(Json::array({mismatch_row(write.path, done.error())}), outcome.applied);
    } else {
      outcome.warnings.push_back(Json{{"code", std::string(done.error().name())},
                                      {"path", write.path},
                                      {"reason", done.error().message}});
    }
    ++progress.done;
    ctx.progress(progress);
  }
  return outcome;
}

}  // namespace indx
