#include "base/text.hpp"
#include "ops/notes/daily_note.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace daily_append_op {

struct Input {
  std::string markdown, date, if_match, expected_sha256;
  bool dry_run = false;
};

/// What a new daily note begins with.
Result<std::string> beginning(Context& ctx, const DailyNote& daily) {
  const auto& name = daily.settings.template_path;
  if (name.empty()) return std::string();
  const auto path = INDX_TRY(NotePath::parse(name.ends_with(".md") ? name : name + ".md"));
  const NoteFile file = INDX_TRY(ctx.notes().read(path));
  return fill_template(file.bytes, daily.path.stem(), daily.now);
}

NoteChange append_to(const NotePath& path, const Input& in) {
  NoteChange change = change_of(NoteChange::Kind::Patch, path);
  PatchOp op;
  op.kind = PatchKind::AppendBody;
  op.markdown = in.markdown;
  change.ops = {std::move(op)};
  guard(change, in);
  return change;
}

Result<WriteView> run(Context& ctx, const Input& in) {
  if (trim(in.markdown).empty())
    return invalid("`markdown` is empty; there is nothing to add.", Json{{"path", "markdown"}});
  const auto daily = INDX_TRY(find_daily_note(ctx, in.date));
  if (!in.if_match.empty() || !in.expected_sha256.empty() || ctx.notes().exists(daily.path))
    return view_write(INDX_TRY(ctx.notes().write(append_to(daily.path, in))), in.dry_run);
  NoteChange change = change_of(NoteChange::Kind::Write, daily.path);
  change.body = INDX_TRY(append_body(INDX_TRY(beginning(ctx, daily)), in.markdown));
  change.if_not_exists = true;
  change.dry_run = in.dry_run;
  auto created = ctx.notes().write(change);
  if (!created && created.error().reason == Reason::Conflict && ctx.notes().exists(daily.path))
    created = ctx.notes().write(append_to(daily.path, in));  // somebody was faster
  return view_write(INDX_TRY(std::move(created)), in.dry_run);
}

}  // namespace daily_append_op

Operation daily_append() {
  using namespace daily_append_op;
  return define<Input, WriteView>({
      .name = "daily_append",
      .summary = "Add Markdown at the end of the daily note of a date; makes the note if needed.",
      .guidance = "A new note begins with the template of the daily notes. For other places in a "
                  "note use note_patch with the path of daily_path.",
      .scopes = {Scope::VaultWrite},
      .route = {"POST", "/v1/daily/append"},
      .cli_positional = {"markdown"},
      .example = "'- [ ] Call the bank'",
      .effect = Effect::Writes,
      .tool_group = "vault_manage",
      .input = {field("markdown", &Input::markdown, "The text to add.", length(1, 1 << 20)),
                date_field(&Input::date), if_match_field(&Input::if_match),
                expected_sha256_field(&Input::expected_sha256),
                field("dry_run", &Input::dry_run, "Show the change as a diff; write nothing.",
                      optional)},
      .output = WriteView::fields(),
      .failures = {{Reason::ValidationFailed, "The date cannot be read."},
                   {Reason::NotFound, "The template is missing."},
                   {Reason::EtagMismatch, "The note changed since it was read."},
                   {Reason::NotUtf8, "The note is no text."},
                   {Reason::Forbidden, "The path is outside your globs."}},
      .handler = run,
  });
}

}  // namespace indx
