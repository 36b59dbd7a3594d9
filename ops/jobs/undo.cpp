#include "ops/jobs/undo.hpp"

#include "base/text.hpp"
#include "ops/links.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/versions.hpp"

#include <algorithm>

namespace indx {
namespace {

using What = UndoOutcome::What;

std::optional<std::string> etag_or_none(const std::string& etag) {
  return etag.empty() ? std::nullopt : std::optional(etag);
}

/// What a refused write means for an undo; the Error itself where another try may fare better.
Result<UndoOutcome> outcome_of_refusal(const Error& error, const std::optional<std::string>& etag) {
  UndoOutcome changed{.what = What::Changed, .expected = etag, .message = error.message};
  switch (error.reason) {
    case Reason::EtagMismatch:
      changed.actual = etag_or_none(error.details.value("actual", ""));
      changed.message = "The file was changed since; it was left as it is.";
      return changed;
    case Reason::NotFound:
      changed.message = "The file is gone since.";
      return changed;
    case Reason::Conflict:
      changed.actual = etag;
      return changed;
    case Reason::Cancelled:
    case Reason::StaleLease:
    case Reason::StepKeyReused:
      return error;
    default:
      if (error.is_retryable()) return error;
      return undo_outcome(What::Failed, error);
  }
}

/// Whether the caller may use all that is in the folder, at both of its places.
Result<bool> may_move_folder(Context& ctx, const NotePath& from, const std::string& to) {
  const auto tree = ctx.links().tree(from);
  if (!tree.has_value() && tree.error().reason == Reason::Forbidden) return false;
  // Gone: perhaps it was moved before a restart, which the step of the move knows.
  if (!tree.has_value() && tree.error().reason == Reason::NotFound) return true;
  if (!tree.has_value()) return tree.error();
  return may_use_files(ctx, tree->files, from.str(), to);
}

}  // namespace

UndoOutcome undo_outcome(What what, const Error& error) {
  return {.what = what, .code = std::string(error.name()), .message = error.message};
}

bool may_use_files(Context& ctx, const std::vector<std::string>& files, const std::string& from,
                   const std::string& to) {
  const auto scope = ctx.principal().path_scope();
  return std::all_of(files.begin(), files.end(), [&](const std::string& file) {
    return scope.allows(to + file.substr(from.size()));
  });
}

UndoOutcome name_taken(const std::string& etag, const std::string& name) {
  return {.what = What::Changed,
          .expected = etag_or_none(etag),
          .actual = etag_or_none(etag),
          .message = cat("It cannot get its name back: `", name, "` exists again.")};
}

Result<UndoOutcome> restore_file(Context& ctx, const JobId& job, const UndoFile& file,
                                 const UndoAct& act, const std::string& key) {
  NoteChange change = change_of(NoteChange::Kind::Delete, INDX_TRY(NotePath::parse(act.path)));
  change.if_match = file.etag.value_or("");
  if (file.before_sha256) {
    auto bytes = ctx.versions().before_image(change.path, job, *file.before_sha256);
    if (!bytes.has_value() && bytes.error().is_retryable()) return bytes.error();
    if (!bytes.has_value() && bytes.error().reason != Reason::NotFound)
      return undo_outcome(What::Failed, bytes.error());
    if (!bytes.has_value())
      return UndoOutcome{.what = What::Missing, .message = bytes.error().message};
    change.kind = NoteChange::Kind::Restore;
    change.body = std::move(*bytes);
    change.if_not_exists = !file.etag.has_value();
  }
  const auto written = ctx.write_step(key, change);
  if (written.has_value()) return UndoOutcome();
  auto refused = INDX_TRY(outcome_of_refusal(written.error(), file.etag));
  if (refused.what == What::Changed && !file.etag) {  // something took the name of a deleted file
    const auto there = ctx.notes().read(change.path);
    if (there.has_value()) refused.actual = there->etag;
  }
  return refused;
}

Result<UndoOutcome> WritingUndo::restore(const UndoFile& file, const UndoAct& act) {
  return restore_file(ctx_, job_, file, act, cat("undo/", act.number));
}

Result<UndoOutcome> WritingUndo::move_back(const UndoAct& act, const std::string& etag) {
  NoteChange change = change_of(NoteChange::Kind::Move, INDX_TRY(NotePath::parse(act.path)));
  change.to = INDX_TRY(NotePath::parse(act.back_to));
  change.if_match = etag;
  if (act.kind == UndoAct::Kind::FolderBack &&
      !INDX_TRY(may_move_folder(ctx_, change.path, act.back_to)))
    return UndoOutcome{.what = What::Hidden};
  const auto moved = ctx_.write_step(cat("undo/", act.number), change);
  if (moved.has_value()) return UndoOutcome();
  if (moved.error().reason == Reason::Conflict) return name_taken(etag, act.back_to);
  return outcome_of_refusal(moved.error(), etag_or_none(etag));
}

}  // namespace indx
