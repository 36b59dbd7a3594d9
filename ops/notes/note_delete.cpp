#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace note_delete_op {

struct Input {
  std::string path, if_match, expected_sha256;
  bool permanent = false, dry_run = false;
};

Result<WriteView> run(Context& ctx, const Input& in) {
  NoteChange change = change_of(NoteChange::Kind::Delete, INDX_TRY(NotePath::parse(in.path)));
  guard(change, in);
  change.permanent = in.permanent;
  const WriteOutcome outcome = INDX_TRY(ctx.notes().write(change));
  return view_write(outcome, in.dry_run);
}

}  // namespace note_delete_op

Operation note_delete() {
  using namespace note_delete_op;
  return define<Input, WriteView>({
      .name = "note_delete",
      .title = "Delete a note",
      .summary = "Delete a note: into the vault's trash, or for good.",
      .guidance = "Only on request of a person. Links to the note stay and become unresolved.",
      .scopes = {Scope::VaultWrite},
      .route = {"DELETE", "/v1/notes/{path}"},
      .cli = "note delete",
      .cli_positional = {"path"},
      .effect = Effect::Destructive,
      .wants_consent = [](const Input& in) { return in.permanent && !in.dry_run; },
      .input = {path_field(&Input::path), if_match_field(&Input::if_match),
                expected_sha256_field(&Input::expected_sha256),
                field("permanent", &Input::permanent,
                      "Unlink it instead of moving it to `.trash/`.", optional),
                field("dry_run", &Input::dry_run, "Only show what would happen.", optional)},
      .output = WriteView::fields(),
      .failures = {{Reason::NotFound, "No note has that path."},
                   {Reason::EtagMismatch,
                    "The note is no longer at `if_match`; details hold expected and actual."},
                   {Reason::Forbidden, "The path is outside your globs, or hidden from indx."}},
      .handler = run,
  });
}

}  // namespace indx
