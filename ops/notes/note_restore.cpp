#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"
#include "ops/versions.hpp"

namespace indx {
namespace note_restore_op {

struct Input {
  std::string path;
  std::int64_t version = 0;
  std::string if_match, expected_sha256;
  bool if_not_exists = false, dry_run = false;
};

Result<WriteView> run(Context& ctx, const Input& in) {
  NoteChange change = change_of(NoteChange::Kind::Restore, INDX_TRY(NotePath::parse(in.path)));
  KeptVersion kept = INDX_TRY(ctx.versions().read(change.path, in.version));
  change.body = std::move(kept.bytes);
  guard(change, in);
  change.if_not_exists = in.if_not_exists;
  const WriteOutcome outcome = INDX_TRY(ctx.notes().write(change));
  return view_write(outcome, in.dry_run);
}

}  // namespace note_restore_op

Operation note_restore() {
  using namespace note_restore_op;
  return define<Input, WriteView>({
      .name = "note_restore",
      .summary = "Bring back a kept version of a note, byte for byte.",
      .guidance = "note_history lists the versions. What the note holds now is kept as a version "
                  "too, so a restore can be undone. A deleted note comes back at its path.",
      .scopes = {Scope::VaultWrite},
      .route = {"POST", "/v1/notes/{path}/restore"},
      .cli_positional = {"path", "version"},
      .example = "Projects/Plan.md 3",
      .effect = Effect::Writes,
      .is_idempotent = true,
      .tool_group = "vault_manage",
      .input = {path_field(&Input::path),
                field("version", &Input::version, "Number of the version.", at_least(1)),
                if_match_field(&Input::if_match), expected_sha256_field(&Input::expected_sha256),
                field("if_not_exists", &Input::if_not_exists,
                      "Only when the note is deleted; else `conflict`.", optional),
                field("dry_run", &Input::dry_run, "Only show what would change.", optional)},
      .output = WriteView::fields(),
      .failures = {{Reason::NotFound, "The note has no such version."},
                   {Reason::EtagMismatch,
                    "The note is no longer at `if_match`; details hold expected and actual."},
                   {Reason::Conflict, "`if_not_exists` was given and the note exists."},
                   {Reason::Forbidden, "The path is outside your globs, or hidden from indx."}},
      .handler = run,
  });
}

}  // namespace indx
