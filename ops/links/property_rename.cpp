#include "vault/property_rename.hpp"

#include "base/text.hpp"
#include "ops/links/bulk_rename.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace property_rename_op {

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
};

/// What is to be renamed, as the stored first step.
Result<Json> plan(Context& ctx, const Input& in) {
  Json notes = Json::array();
  const auto paths = INDX_TRY(ctx.links().notes_with_property(in.from));
  for (const auto& path : paths) {
    const auto file = ctx.notes().read(INDX_TRY(NotePath::parse(path)));
    if (file.has_value()) notes.push_back(planned_note(*file, 1));  // else gone since indexed
  }
  return notes;
}

Result<Output> run(Context& ctx, const Input& in) {
  INDX_TRY(rename_property("", in.from, in.to));  // refuses a name that cannot be one
  std::unique_ptr<LinkTurn> turn;
  if (in.dry_run)
    INDX_TRY(ctx.links().wait_for_index());
  else
    turn = INDX_TRY(ctx.links().take_turn());
  const Json planned =
      INDX_TRY(ctx.step("plan", Json{{"from", in.from}}, [&] { return plan(ctx, in); }));
  auto renamed = INDX_TRY(rename_in_notes(
      ctx, planned, in.dry_run,
      [&](const NotePath& path, const std::string& etag) -> Result<std::optional<NoteChange>> {
        const auto file = INDX_TRY(ctx.notes().read(path));
        NoteChange change{.kind = NoteChange::Kind::Splice, .path = path};
        // In another file than planned the edits would not fit: then only a stored step counts.
        if (file.etag != etag) return std::optional(std::move(change));
        change.edits = INDX_TRY(rename_property(file.bytes, in.from, in.to));
        return change.edits.empty() ? std::nullopt : std::optional(std::move(change));
      }));
  Output out{in.from, in.to, in.dry_run};
  out.changed = std::move(renamed.changed);
  out.failed = std::move(renamed.failed);
  INDX_TRY(add_unreadable(
      ctx, [&](std::string_view block) { return mentions_key(block, in.from); }, out.failed));
  out.partial = !out.failed.empty();
  out.also_mentions = INDX_TRY(also_mentioning(ctx, in.from));
  return out;
}

Result<std::size_t> size(Context& ctx, const Input& in) {
  INDX_TRY(ctx.links().wait_for_index());
  const auto paths = INDX_TRY(ctx.links().notes_with_property(in.from));
  return in.dry_run ? std::size_t{0} : paths.size();
}

}  // namespace property_rename_op

Operation property_rename() {
  using namespace property_rename_op;
  return define<Input, Output>({
      .name = "property_rename",
      .summary = "Rename a property in all notes; values, order and comments stay.",
      .guidance =
          "Try `dry_run` first. A note that has the new name already is listed as failed. Over "
          "20 notes it runs as a job.",
      .scopes = {Scope::VaultWrite},
      .route = {"POST", "/v1/properties/rename"},
      .cli_positional = {"from", "to"},
      .example = "due deadline",
      .execution = Execution::Sized,
      .inline_limit = 20,
      .size = size,
      .effect = Effect::Writes,
      .is_idempotent = true,
      .wants_consent = [](const Input& in) { return !in.dry_run; },
      .tool_group = "vault_manage",
      .input = {field("from", &Input::from, "The name as it is, in any case.", length(1, 256)),
                field("to", &Input::to, "The name as it shall be.", length(1, 256)),
                field("dry_run", &Input::dry_run, "Only list the notes and edits.", optional)},
      .output = {field("from", &Output::from, "The old name."),
                 field("to", &Output::to, "The new name."),
                 field("dry_run", &Output::dry_run, "True: nothing was written."),
                 field("changed", &Output::changed, "Notes changed, in path order."),
                 field(
                     "also_mentions", &Output::also_mentions,
                     "Bases, and notes with a query or base block, that may name it; not edited."),
                 field("failed", &Output::failed, "Notes left as they were."),
                 field("partial", &Output::partial, "True: some notes were left as they were.")},
      .told = tell_renamed,
      .failures = {{Reason::ValidationFailed, "The new name cannot be one of a property."},
                   {Reason::InProgress,
                    "The index is still being filled, or another change rewrites links."}},
      .handler = run,
  });
}

}  // namespace indx
