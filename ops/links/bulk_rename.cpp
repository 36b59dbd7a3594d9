#include "ops/links/bulk_rename.hpp"

#include "base/text.hpp"
#include "vault/frontmatter.hpp"

#include <algorithm>

namespace indx {
namespace {

/// An error, so that a stopping server never takes half of the work for all of it.
Error cancelled_after(const BulkRename& done, const JobProgress& progress) {
  Json changed = Json::array();
  for (const auto& change : done.changed) changed.push_back(change.path);
  const auto total = progress.total.value_or(0);
  return make_error(
      Reason::Cancelled, cat("Cancelled after ", progress.done, " of ", total, " notes."),
      Json{{"partial",
            {{"done", progress.done}, {"total", total}, {"changed", std::move(changed)}}}});
}

/// nullopt: nothing to do.
Result<std::optional<WriteOutcome>> rename_one(Context& ctx, const std::string& path,
                                               const std::string& etag, bool dry_run,
                                               const RenameNote& rename) {
  auto change = INDX_TRY(rename(INDX_TRY(NotePath::parse(path)), etag));
  if (!change) return std::optional<WriteOutcome>();
  change->if_match = etag;
  change->dry_run = dry_run;
  return std::optional(INDX_TRY(dry_run ? ctx.notes().write(*change)
                                        : ctx.write_step(cat("rename/", path), *change)));
}

RelinkedView view_written(const WriteOutcome& outcome, bool dry_run, int count) {
  RelinkedView view;
  view.path = outcome.path.str();
  view.old_etag = outcome.old_etag;
  view.etag = outcome.etag;
  view.old_size = outcome.old_size;
  view.size = outcome.size;
  if (dry_run) view.diff = outcome.diff;
  view.count = count;
  return view;
}

}  // namespace

Json planned_note(const NoteFile& file, int count) {
  return {{"path", file.path.str()}, {"etag", file.etag}, {"count", count}};
}

Status add_unreadable(Context& ctx, const MayHold& may_hold, std::vector<NotRelinkedView>& failed) {
  const auto paths = INDX_TRY(ctx.links().notes_with_invalid_properties());
  for (const auto& path : paths) {
    if (std::any_of(failed.begin(), failed.end(),
                    [&](const auto& item) { return item.path == path; }))
      continue;
    const auto file = ctx.notes().read(INDX_TRY(NotePath::parse(path)));
    if (!file.has_value()) continue;  // gone since it was indexed
    const std::string_view bytes = file->bytes;
    const Frontmatter block = parse_frontmatter(bytes);
    if (!block.error ||
        !may_hold(bytes.substr(block.content_begin, block.content_end - block.content_begin)))
      continue;
    const auto error = make_error(
        Reason::ParseFailed, cat("The property block is invalid at line ", block.error->line, ": ",
                                 block.error->message, " Correct it, and rename again."));
    failed.push_back({path, std::string(error.name()), error.message});
  }
  return {};
}

Result<BulkRename> rename_in_notes(Context& ctx, const Json& planned, bool dry_run,
                                   const RenameNote& rename) {
  BulkRename result;
  JobProgress progress;
  progress.phase = "rename";
  progress.total = static_cast<std::int64_t>(planned.size());
  for (const auto& note : planned) {
    if (ctx.cancel().is_cancelled()) return cancelled_after(result, progress);
    const auto path = note["path"].get<std::string>();
    progress.current = path;
    const auto outcome = rename_one(ctx, path, note["etag"].get<std::string>(), dry_run, rename);
    // One that passes is the error of the job, which is tried again and finds what was done.
    if (!outcome.has_value() && ctx.is_job() && outcome.error().is_retryable())
      return outcome.error();
    if (!outcome.has_value())
      result.failed.push_back({path, std::string(outcome.error().name()), outcome.error().message});
    else if (*outcome && (*outcome)->changed)
      result.changed.push_back(view_written(**outcome, dry_run, note["count"].get<int>()));
    ++progress.done;
    ctx.progress(progress);
  }
  return result;
}

std::string tell_renamed(const Json&, const Json& output) {
  const auto notes = [&](const char* list) {
    const auto found = output.find(list);
    const std::size_t count = found == output.end() ? 0 : found->size();
    return std::pair(count, cat(count, count == 1 ? " note" : " notes"));
  };
  const auto [changed, changed_notes] = notes("changed");
  const auto [failed, failed_notes] = notes("failed");
  const std::string what = cat(output.value("from", ""), " to ", output.value("to", ""));
  std::string line =
      output.value("dry_run", false)
          ? cat("Dry run, nothing was written: ", what, " would change ", changed_notes, '.')
          : cat("Renamed ", what, " in ", changed_notes, '.');
  if (failed > 0) line += cat(' ', failed_notes, " left as before; `failed` says why.");
  const auto mentions = output.find("also_mentions");
  if (mentions != output.end() && !mentions->empty())
    line += " Look at `also_mentions`: those were not edited.";
  return line;
}

}  // namespace indx
