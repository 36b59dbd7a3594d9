#include "ops/jobs/undo_run.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <atomic>
#include <map>

namespace indx {
namespace {

using Kind = UndoAct::Kind;
using What = UndoOutcome::What;

/// Between lanes and the report. What is Done needs no more.
Json outcome_json(const UndoOutcome& outcome) {
  Json json{{"what", static_cast<int>(outcome.what)},
            {"code", outcome.code},
            {"message", outcome.message}};
  if (outcome.expected) json["expected"] = *outcome.expected;
  if (outcome.actual) json["actual"] = *outcome.actual;
  return json;
}
UndoOutcome outcome_from_json(const Json& json) {
  UndoOutcome outcome{.what = static_cast<What>(json.at("what").get<int>()),
                      .code = json.at("code").get<std::string>(),
                      .message = json.at("message").get<std::string>()};
  if (const auto it = json.find("expected"); it != json.end())
    outcome.expected = it->get<std::string>();
  if (const auto it = json.find("actual"); it != json.end())
    outcome.actual = it->get<std::string>();
  return outcome;
}

std::string action_of(const UndoFile& file) {
  if (!file.before_etag) return "trashed";
  return file.etag ? "restored" : "made_again";
}

/// Does the acts in order and keeps account of them. A file that cannot be undone keeps its later
/// acts from being done, as each needs those before it.
class UndoRun {
 public:
  UndoRun(Context& ctx, UndoPlan plan)
      : ctx_(ctx), plan_(std::move(plan)), is_left_(plan_.files.size(), false) {
    progress_.phase = "undo";
    progress_.unit = "files";
    progress_.total = static_cast<std::int64_t>(plan_.acts.size());
    const auto scope = ctx_.principal().path_scope();
    std::vector<bool> is_touched(plan_.files.size(), false);
    for (const auto& act : plan_.acts)
      if (act.kind != Kind::FolderBack) is_touched[act.file] = true;
    for (std::size_t i = 0; i < plan_.files.size(); ++i) {
      const auto& file = plan_.files[i];
      if (!is_touched[i]) continue;
      const bool is_visible =
          std::all_of(file.places.begin(), file.places.end(),
                      [&](const std::string& place) { return scope.allows(place); });
      if (!is_visible)
        leave_hidden(i);
      else if (file.foreign_change)
        leave(i, {.what = What::Changed,
                  .expected = file.foreign_change->first,
                  .actual = file.foreign_change->second,
                  .message = "Somebody else changed it while the job ran."});
    }
  }

  const UndoPlan& plan() const { return plan_; }
  bool is_wanted(const UndoAct& act) const {
    return act.kind == Kind::FolderBack || !is_left_[act.file];
  }

  Status run(Undoing& undoing) {
    for (std::size_t i = 0; i < plan_.acts.size(); ++i) {
      const auto& act = plan_.acts[i];
      if (ctx_.cancel().is_cancelled()) return cancelled();
      if (act.kind == Kind::FolderBack)
        INDX_TRY(run_folder(undoing, act, i));
      else if (is_wanted(act))
        INDX_TRY(run_file(undoing, act));
      progress_.current = act.path;
      ++progress_.done;
      ctx_.progress(progress_);
    }
    return {};
  }

  void add(const UndoAct& act, const UndoOutcome& outcome) {
    auto& file = plan_.files[act.file];
    const bool is_as_before = outcome.what == What::Changed && act.kind == Kind::Contents &&
                              outcome.actual == file.before_etag;
    if (is_as_before) {
      ++as_before_;
      return leave(act.file, {.what = What::Changed,
                              .expected = outcome.expected,
                              .actual = outcome.actual,
                              .message = "It is as before the job already."});
    }
    if (outcome.what != What::Done) return leave(act.file, outcome);
    auto& row = rows_[act.file];
    if (act.kind == Kind::Contents) {
      row.action = action_of(file);
      row.path = act.path;
      if (!outcome.diff.empty()) row.diff = outcome.diff;
      file.etag = file.before_etag;
    } else {
      if (row.action.empty()) row.action = "moved";
      row.path = act.back_to;
      row.moved_from = file.last_path;
    }
    row.etag = file.etag;
  }

  UndoReport finish(const JobId& job, bool dry_run) {
    for (auto& [number, row] : rows_) report_.restored.push_back(std::move(row));
    std::move(folders_.begin(), folders_.end(), std::back_inserter(report_.restored));
    const auto left = report_.changed_since.size() + report_.missing_version.size() +
                      report_.failed.size() + static_cast<std::size_t>(report_.hidden);
    report_.partial = left > 0;
    report_.job = job.value;
    report_.dry_run = dry_run;
    report_.message =
        report_.restored.empty() && left > 0 && left == as_before_
            ? "It is undone already: every file is as before the job."
            : cat(report_.restored.size(), dry_run ? " would be" : " are", " as before the job; ",
                  left, dry_run ? " would stay" : " stay", " as now.");
    return std::move(report_);
  }

  Error cancelled() const {
    Json restored = Json::array();
    for (const auto& [number, row] : rows_) restored.push_back(row.path);
    return make_error(Reason::Cancelled,
                      cat("Cancelled after ", progress_.done, " of ", *progress_.total, " steps."),
                      Json{{"partial",
                            {{"done", progress_.done},
                             {"total", *progress_.total},
                             {"restored", std::move(restored)}}}});
  }

 private:
  Status run_file(Undoing& undoing, const UndoAct& act) {
    const auto& file = plan_.files[act.file];
    add(act, act.kind == Kind::Contents ? INDX_TRY(undoing.restore(file, act))
                                        : INDX_TRY(undoing.move_back(act, file.etag.value_or(""))));
    return {};
  }

  Status run_folder(Undoing& undoing, const UndoAct& act, std::size_t at) {
    const auto scope = ctx_.principal().path_scope();
    const bool is_visible = scope.allows(act.path) && scope.allows(act.back_to);
    const auto outcome =
        is_visible ? INDX_TRY(undoing.move_back(act, "")) : UndoOutcome{.what = What::Hidden};
    if (outcome.what == What::Done) {
      folders_.push_back({act.back_to, "moved", act.path, {}, {}});
      for (auto& [number, row] : rows_)
        if (row.action != "trashed" && row.path.starts_with(act.path + "/"))
          row.path = act.back_to + row.path.substr(act.path.size());
      return {};
    }
    list(act.path, outcome);
    for (const auto number : act.inside) {
      const bool is_waiting =
          std::any_of(plan_.acts.begin() + static_cast<std::ptrdiff_t>(at) + 1, plan_.acts.end(),
                      [&](const UndoAct& later) {
                        return later.kind != Kind::FolderBack && later.file == number;
                      });
      if (!is_waiting || is_left_[number]) continue;
      if (outcome.what == What::Hidden)
        leave_hidden(number);
      else
        leave(number, {.what = What::Changed,
                       .expected = plan_.files[number].etag,
                       .actual = plan_.files[number].etag,
                       .message = cat("It stays, as `", act.path, "` could not be moved back.")});
    }
    return {};
  }

  void leave(std::size_t number, const UndoOutcome& outcome) {
    is_left_[number] = true;
    const auto row = rows_.find(number);
    list(row == rows_.end() ? plan_.files[number].last_path : row->second.path, outcome);
  }
  void leave_hidden(std::size_t number) {
    is_left_[number] = true;
    ++report_.hidden;
  }

  void list(const std::string& path, const UndoOutcome& outcome) {
    switch (outcome.what) {
      case What::Done:
        return;
      case What::Changed:
        report_.changed_since.push_back({path, outcome.expected, outcome.actual, outcome.message});
        return;
      case What::Missing:
        report_.missing_version.push_back({path, outcome.message});
        return;
      case What::Failed:
        report_.failed.push_back({path, outcome.code, outcome.message});
        return;
      case What::Hidden:
        ++report_.hidden;
        return;
    }
  }

  Context& ctx_;
  UndoPlan plan_;
  std::vector<bool> is_left_;  // by file
  std::map<std::size_t, UndoneView> rows_;
  std::vector<UndoneView> folders_;
  UndoReport report_;
  std::size_t as_before_ = 0;  // left, for they need no undo
  JobProgress progress_;
};

/// Without moves no act needs another.
Status run_on_lanes(Context& ctx, const JobId& job, UndoRun& run) {
  const auto& plan = run.plan();
  std::vector<MapItem> items;
  std::map<std::string, const UndoAct*> by_id;
  for (const auto& act : plan.acts) {
    if (!run.is_wanted(act)) continue;
    const auto& file = plan.files[act.file];
    items.push_back({act.path,
                     {{"path", act.path},
                      {"before", file.before_sha256.value_or("")},
                      {"after", file.etag.value_or("")}}});
    by_id[act.path] = &act;
  }
  std::atomic<std::int64_t> done = 0;
  const auto tell = [&](Context& teller, std::int64_t count, const std::string& path) {
    teller.progress({.done = count,
                     .total = static_cast<std::int64_t>(items.size()),
                     .unit = "files",
                     .phase = "undo",
                     .current = path});
  };
  const auto undo_item = [&](Context& lane, const MapItem& item) -> Result<Json> {
    const UndoAct& act = *by_id.at(item.id);
    const auto outcome = INDX_TRY(restore_file(lane, job, plan.files[act.file], act, "write"));
    tell(lane, ++done, act.path);
    return outcome_json(outcome);
  };
  const auto results =
      INDX_TRY(ctx.map("undo", items, undo_item, {.keeps_results = false, .lanes = kWriteLanes}));
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!results[i].has_value()) return results[i].error();
    run.add(*by_id.at(items[i].id), outcome_from_json(*results[i]));
  }
  tell(ctx, static_cast<std::int64_t>(items.size()), "");  // lanes tell theirs in any order
  return {};
}

}  // namespace

Fields<UndoneView> UndoneView::fields() {
  return {
      field("path", &UndoneView::path, "Where the file is after the undo, or was if trashed."),
      field("action", &UndoneView::action,
            "`restored`, `made_again` after a delete, `trashed` as the job made it, or `moved`.",
            one_of({"restored", "made_again", "trashed", "moved"})),
      field("moved_from", &UndoneView::moved_from, "Where the job had left it."),
      field("etag", &UndoneView::etag, "Its version after the undo."),
      field("diff", &UndoneView::diff, "With `dry_run`: what would change.")};
}
Fields<ChangedSinceView> ChangedSinceView::fields() {
  return {field("path", &ChangedSinceView::path, "The file, left as it is."),
          field("expected", &ChangedSinceView::expected,
                "Version that the job left; none where it left no file."),
          field("actual", &ChangedSinceView::actual, "Version found; none where there is no file."),
          field("message", &ChangedSinceView::message, "What is in the way.")};
}
Fields<MissingVersionView> MissingVersionView::fields() {
  return {field("path", &MissingVersionView::path, "The file, left as it is."),
          field("message", &MissingVersionView::message, "What is missing.")};
}
Fields<UndoReport> UndoReport::fields() {
  return {
      field("job", &UndoReport::job, "Id of the job that is undone."),
      field("dry_run", &UndoReport::dry_run, "True: nothing was written."),
      field("message", &UndoReport::message, "What happened, in a sentence."),
      field("partial", &UndoReport::partial, "True: something was left as it is."),
      field("restored", &UndoReport::restored, "Files that are as they were before the job."),
      field("changed_since", &UndoReport::changed_since,
            "Files that are no longer as the job left them, or whose old name is taken."),
      field("missing_version", &UndoReport::missing_version,
            "Files whose contents before the job are kept no longer."),
      field("failed", &UndoReport::failed, "Files that could not be written."),
      field("hidden", &UndoReport::hidden, "How many files outside of your globs were left."),
      field(
          "diffs_left_out", &UndoReport::diffs_left_out,
          "With `dry_run`: diffs beyond the first 100 or 512 KiB, and of files that are no text.")};
}

Result<UndoReport> run_undo(Context& ctx, const JobId& job, const UndoPlan& plan) {
  UndoRun run(ctx, plan);
  if (plan.has_moves) {
    WritingUndo undoing(ctx, job);
    INDX_TRY(run.run(undoing));
  } else {
    INDX_TRY(run_on_lanes(ctx, job, run));
  }
  return run.finish(job, false);
}

Result<UndoReport> preview_undo(Context& ctx, const JobId& job, const UndoPlan& plan) {
  UndoRun run(ctx, plan);
  UndoPreview undoing(ctx, job);
  INDX_TRY(run.run(undoing));
  auto report = run.finish(job, true);
  report.diffs_left_out = undoing.diffs_left_out();
  return report;
}

}  // namespace indx
