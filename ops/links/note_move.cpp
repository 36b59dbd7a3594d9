#include "base/text.hpp"
#include "ops/links/link_apply.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

#include <algorithm>

namespace indx {
namespace note_move_op {

struct Input {
  std::string from, to;
  bool update_links = true, dry_run = false;
  std::string if_match, expected_sha256;
};
struct Output {
  std::string from, path;
  bool is_folder = false, changed = false, dry_run = false;
  std::optional<std::string> etag;
  std::size_t moved = 0;
  std::vector<RelinkedView> links;
  std::vector<NotRelinkedView> failed;
  bool partial = false;
  std::vector<std::string> also_mentions, warnings;
};

struct Paths {
  NotePath from, to;
};

/// `to` with a final slash is the folder to move into.
Result<Paths> paths_of(const Input& in) {
  auto from = INDX_TRY(NotePath::parse(in.from));
  const bool into = !in.to.empty() && (in.to.back() == '/' || in.to.back() == '\\');
  auto to = INDX_TRY(NotePath::parse(into ? cat(in.to, from.name()) : in.to));
  return Paths{std::move(from), std::move(to)};
}

NoteChange move_of(const Paths& paths, const Input& in) {
  NoteChange change{.kind = NoteChange::Kind::Move, .path = paths.from};
  change.to = paths.to;
  change.if_match = plain_etag(in.if_match);
  change.expected_sha256 = in.expected_sha256;
  return change;
}

/// How a base would name the file or folder.
std::vector<std::string> mentions_of(const NotePath& from, bool is_folder) {
  if (is_folder) return {cat('"', from.str(), '"'), cat("'", from.str(), "'"), from.str() + "/"};
  std::vector<std::string> texts = {from.str()};
  if (from.is_note()) {
    const auto path = from.str().substr(0, from.str().size() - 3);
    texts.push_back(cat("[[", path));
    texts.push_back(cat("[[", from.stem()));
    texts.push_back(cat('"', path, '"'));
  }
  return texts;
}

/// How the journal of a move is found again.
std::string journal_key(const Paths& paths) {
  return cat("move\n", paths.from.str(), "\n", paths.to.str());
}
Json journal_of(const Paths& paths, const MovePlan& plan) {
  return {{"key", journal_key(paths)},
          {"kind", "note_move"},
          {"input",
           {{"from", paths.from.str()},
            {"to", paths.to.str()},
            {"update_links", true},
            {"dry_run", false}}},
          {"path_globs", plan.path_globs},
          {"plan", to_json(plan)}};
}

Result<Output> run(Context& ctx, const Input& in) {
  const auto paths = INDX_TRY(paths_of(in));
  Output out;
  out.from = paths.from.str();
  out.path = paths.to.str();
  out.dry_run = in.dry_run;
  std::unique_ptr<LinkTurn> turn;
  if (in.dry_run)
    INDX_TRY(ctx.links().wait_for_index());
  else
    turn = INDX_TRY(ctx.links().take_turn());

  // A move of the same names that a crash interrupted behind the rename goes on where it was.
  const Json journal = INDX_TRY(
      ctx.step("journal", Json{{"from", out.from}, {"to", out.path}}, [&]() -> Result<Json> {
        if (in.dry_run) return Json();
        return ctx.links().journal(journal_key(paths));
      }));
  NoteChange change = move_of(paths, in);
  const Json inputs{{"from", out.from}, {"to", out.path}, {"update_links", in.update_links}};
  MovePlan plan;
  if (!journal.is_null()) {
    plan = INDX_TRY(move_plan_from_json(journal));
    out.changed = true;
  } else if (in.dry_run) {
    change.dry_run = true;
    const auto outcome = INDX_TRY(ctx.notes().write(change));
    out.changed = outcome.changed;
    if (!outcome.etag.empty()) out.etag = outcome.etag;
    plan = INDX_TRY(plan_links(ctx, paths.from, paths.to, in.update_links, true));
    for (const auto& source : plan.sources)
      out.links.push_back(view_planned(source, MoveWorld(plan.moves, {}).place_after(source.path)));
  } else {
    plan = INDX_TRY(move_plan_from_json(INDX_TRY(ctx.step("plan", inputs, [&]() -> Result<Json> {
      return to_json(INDX_TRY(plan_links(ctx, paths.from, paths.to, in.update_links, false)));
    }))));
    if (ctx.cancel().is_cancelled())
      return make_error(Reason::Cancelled, "Cancelled before anything was moved.");
    if (!ctx.is_job() && !plan.sources.empty()) change.journal = journal_of(paths, plan);
    const auto outcome = INDX_TRY(ctx.write_step("move", change));
    out.changed = outcome.changed;
    if (!outcome.etag.empty()) out.etag = outcome.etag;
    out.warnings = outcome.warnings;
    if (in.update_links && outcome.changed)
      INDX_TRY(add_late_moves(ctx, paths.from, paths.to, outcome.moved_files, plan));
  }
  out.is_folder = plan.is_folder;
  out.moved = out.changed ? plan.moves.size() : 0;
  out.failed = plan.failed;
  if (!in.dry_run && !plan.sources.empty()) {
    JobProgress progress;
    progress.phase = "links";
    progress.total = static_cast<std::int64_t>(plan.sources.size());
    ctx.progress(progress);
    auto relinked = INDX_TRY(apply_links(ctx, plan));
    out.links = std::move(relinked.changed);
    std::move(relinked.failed.begin(), relinked.failed.end(), std::back_inserter(out.failed));
    progress.done = *progress.total;
    ctx.progress(progress);
    if (!ctx.is_job() || !journal.is_null()) INDX_TRY(ctx.links().end_journal(journal_key(paths)));
    if (!plan.is_folder)  // its own links may have changed with the move
      for (const auto& row : out.links)
        if (row.path == out.path) out.etag = row.etag;
  }
  if (plan.leaves_links()) out.warnings.emplace_back("links_outside_scope");
  out.partial = !out.failed.empty() || plan.leaves_links();
  if (in.update_links && out.changed)
    out.also_mentions = INDX_TRY(files_naming(ctx, mentions_of(paths.from, plan.is_folder)));
  return out;
}

Result<std::size_t> size(Context& ctx, const Input& in) {
  if (in.dry_run || !in.update_links) return std::size_t{0};
  const auto paths = INDX_TRY(paths_of(in));
  INDX_TRY(ctx.links().wait_for_index());
  const Json journal = INDX_TRY(ctx.links().journal(journal_key(paths)));
  if (!journal.is_null()) return journal["sources"].size();
  const auto plan = INDX_TRY(plan_links(ctx, paths.from, paths.to, true, false));
  return plan.sources.size();
}

}  // namespace note_move_op

Operation note_move() {
  using namespace note_move_op;
  return define<Input, Output>({
      .name = "note_move",
      .title = "Move or rename a note or folder",
      .summary =
          "Rename or move a note, an attachment or a folder, and keep every link to it whole.",
      .guidance = "Use it for folders and attachments too. Links, embeds, property links and "
                  "canvases follow: never edit links by hand after a move. Nothing is overwritten. "
                  "Over 20 files with links it runs as a job.",
      .scopes = {Scope::VaultWrite},
      .route = {"POST", "/v1/notes/{from}/move"},
      .cli = "note move",
      .cli_positional = {"from", "to"},
      .example = "Inbox/Plan.md Projects/",
      .execution = Execution::Sized,
      .inline_limit = 20,
      .size = size,
      .effect = Effect::Writes,
      .input = {field("from", &Input::from, "Vault-relative path of the note, file or folder.",
                      vault_path, length(1, 4096)),
                field("to", &Input::to,
                      "Its new path; with a final `/` the folder to move it into.", vault_path,
                      length(1, 4096)),
                field("update_links", &Input::update_links,
                      "Rewrite links that would no longer reach their file.", optional),
                field("dry_run", &Input::dry_run, "Only list what would change.", optional),
                if_match_field(&Input::if_match),
                field("expected_sha256", &Input::expected_sha256,
                      "SHA-256 that the file must still have; else `etag_mismatch`.", optional,
                      length(0, 64))},
      .output =
          {field("from", &Output::from, "The old path."),
           field("path", &Output::path, "The new path."),
           field("etag", &Output::etag, "Version of the moved file; none for a folder."),
           field("is_folder", &Output::is_folder, "Whether a folder was moved."),
           field("changed", &Output::changed, "False: it was there already."),
           field("moved", &Output::moved, "Files that have a new path."),
           field("dry_run", &Output::dry_run, "True: nothing was written."),
           field("links", &Output::links, "Files whose links were rewritten."),
           field("failed", &Output::failed, "Files whose links were left as they are."),
           field("partial", &Output::partial,
                 "True: the move stands, but some links were not rewritten."),
           field(
               "also_mentions", &Output::also_mentions,
               "Bases, and canvases that cannot be read, that may name the old path; they are not "
               "edited."),
           field(
               "warnings", &Output::warnings,
               "Codes: `links_outside_scope`, links from or to files outside your globs were left "
               "as they are; `index_pending`.")},
      .failures = {{Reason::NotFound, "Nothing has that path."},
                   {Reason::Conflict, "The new path is taken, perhaps in another case."},
                   {Reason::ValidationFailed,
                    "A path cannot be used, or a folder would move into itself."},
                   {Reason::EtagMismatch, "The file is not what you read."},
                   {Reason::InProgress,
                    "The index is still being filled, or another change rewrites links."},
                   {Reason::Forbidden, "A path is outside your globs, or hidden from indx."}},
      .handler = run,
  });
}

}  // namespace indx
