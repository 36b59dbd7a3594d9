#include "base/edit_distance.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "ops/links/bulk_rename.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"
#include "vault/property_rename.hpp"

#include <algorithm>

namespace indx {
namespace tag_rename_op {

struct Input {
  std::string from, to;
  bool dry_run = false;
};
struct Output {
  std::string from, to;
  bool dry_run = false;
  std::vector<RelinkedView> changed;
  std::vector<std::string> also_mentions;
  std::vector<NotRelinkedView> failed;
  bool partial = false;
  std::vector<std::string> warnings;
};

Result<std::string> checked_tag(const std::string& text, const char* name) {
  const std::string tag = plain_tag(text);
  if (is_valid_tag(tag)) return tag;
  return invalid(
      cat("`", name, "` is not a tag: letters, digits, `_`, `-` and `/`, and not digits only."),
      Json{{"path", name}, {"expected", "a tag"}, {"actual", text}});
}

/// Uses of the tag or one below it.
int count_uses(const ParsedNote& note, const std::string& folded_tag) {
  return static_cast<int>(std::count_if(note.tags.begin(), note.tags.end(), [&](const TagUse& use) {
    const std::string folded = fold_case(use.tag);
    return folded == folded_tag || folded.starts_with(folded_tag + "/");
  }));
}

/// What is to be renamed, as the stored first step.
Result<Json> plan(Context& ctx, const std::string& from) {
  Json notes = Json::array();
  const std::string folded = fold_case(from);
  const auto paths = INDX_TRY(ctx.index().paths_with_tag(from));
  for (const auto& path : paths) {
    const auto file = ctx.notes().read(INDX_TRY(NotePath::parse(path)));
    if (!file) continue;  // gone since it was indexed
    ParseOptions options;
    options.legacy_properties = ctx.config().legacy_properties;
    const int count = count_uses(parse_note(file->bytes, options), folded);
    if (count > 0) notes.push_back(planned_note(*file, count));
  }
  return notes;
}

/// Said when no note has the tag, with the tag that was probably meant.
Result<std::string> missing_tag(Context& ctx, const std::string& tag) {
  std::string nearest;
  std::size_t best = std::max<std::size_t>(2, tag.size() / 3) + 1;
  for (const auto& known : INDX_TRY(ctx.index().tags())) {
    const auto distance = edit_distance(fold_case(tag.substr(0, 64)), fold_case(known.tag));
    if (distance < best) best = distance, nearest = known.tag;
  }
  return cat("No note has the tag `", tag, "`; nothing was renamed.",
             nearest.empty() ? "" : cat(" Did you mean `", nearest, "`?"));
}

Result<Output> run(Context& ctx, const Input& in) {
  Output out;
  out.from = INDX_TRY(checked_tag(in.from, "from"));
  out.to = INDX_TRY(checked_tag(in.to, "to"));
  out.dry_run = in.dry_run;
  std::unique_ptr<LinkTurn> turn;
  if (in.dry_run)
    INDX_TRY(ctx.links().wait_for_index());
  else
    turn = INDX_TRY(ctx.links().take_turn());
  const Json planned =
      INDX_TRY(ctx.step("plan", Json{{"from", out.from}}, [&] { return plan(ctx, out.from); }));
  auto renamed = INDX_TRY(
      rename_in_notes(ctx, planned, in.dry_run, [&](const NotePath& path, const std::string&) {
        NoteChange change = change_of(NoteChange::Kind::Patch, path);
        change.ops = {PatchOp{.kind = PatchKind::RenameTag, .from = out.from, .to = out.to}};
        return Result<std::optional<NoteChange>>(std::optional(std::move(change)));
      }));
  out.changed = std::move(renamed.changed);
  out.failed = std::move(renamed.failed);
  const auto may_hold = [&](std::string_view block) {
    return (mentions_key(block, "tags") || mentions_key(block, "tag")) &&
           mentions_name(block, out.from);
  };
  INDX_TRY(add_unreadable(ctx, may_hold, out.failed));
  out.partial = !out.failed.empty();
  out.also_mentions = INDX_TRY(also_mentioning(ctx, out.from));
  if (planned.empty() && out.failed.empty())
    out.warnings.push_back(INDX_TRY(missing_tag(ctx, out.from)));
  return out;
}

Result<std::size_t> size(Context& ctx, const Input& in) {
  INDX_TRY(ctx.links().wait_for_index());
  const auto paths = INDX_TRY(ctx.index().paths_with_tag(plain_tag(in.from)));
  return in.dry_run ? std::size_t{0} : paths.size();
}

}  // namespace tag_rename_op

Operation tag_rename() {
  using namespace tag_rename_op;
  return define<Input, Output>({
      .name = "tag_rename",
      .title = "Rename a tag",
      .summary = "Rename a tag, and the tags below it, in all notes.",
      .guidance = "Try `dry_run` first. Renames in text and in the property `tags`, never in code. "
                  "Over 20 notes it runs as a job.",
      .scopes = {Scope::VaultWrite},
      .route = {"POST", "/v1/tags/rename"},
      .cli_positional = {"from", "to"},
      .example = "project work/project",
      .execution = Execution::Sized,
      .inline_limit = 20,
      .size = size,
      .effect = Effect::Writes,
      .is_idempotent = true,
      .wants_consent = [](const Input& in) { return !in.dry_run; },
      .input = {field("from", &Input::from, "The tag as it is.", length(1, 256)),
                field("to", &Input::to, "The tag as it shall be.", length(1, 256)),
                field("dry_run", &Input::dry_run, "Only list the notes and edits.", optional)},
      .output = {field("from", &Output::from, "Without `#`."),
                 field("to", &Output::to, "Without `#`."),
                 field("dry_run", &Output::dry_run, "True: nothing was written."),
                 field("changed", &Output::changed, "Notes changed, in path order."),
                 field(
                     "also_mentions", &Output::also_mentions,
                     "Bases, and notes with a query or base block, that name the tag; not edited."),
                 field("failed", &Output::failed, "Notes left as they were."),
                 field("partial", &Output::partial, "True: some notes were left as they were."),
                 field("warnings", &Output::warnings, "Set when no note has the tag.")},
      .told = tell_renamed,
      .failures = {{Reason::ValidationFailed, "One of the two is not a tag."},
                   {Reason::InProgress,
                    "The index is still being filled, or another change rewrites links."}},
      .handler = run,
  });
}

}  // namespace indx
