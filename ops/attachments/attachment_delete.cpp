#include "ops/attachments/attachment_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace attachment_delete_op {

struct Input {
  std::string path, if_match, expected_sha256;
  bool permanent = false, dry_run = false;
};

Result<WriteView> run(Context& ctx, const Input& in) {
  NoteChange change = change_of(NoteChange::Kind::Delete, INDX_TRY(attachment_path(in.path)));
  guard(change, in);
  change.permanent = in.permanent;
  return view_write(INDX_TRY(ctx.notes().write(change)), in.dry_run);
}

}  // namespace attachment_delete_op

Operation attachment_delete() {
  using namespace attachment_delete_op;
  return define<Input, WriteView>({
      .name = "attachment_delete",
      .summary = "Delete a file that is no note: into the vault's trash, or for good.",
      .guidance = "Only on request of a person. Links to it stay and become unresolved.",
      .scopes = {Scope::VaultWrite},
      .route = {"DELETE", "/v1/files/{path}"},
      .cli_positional = {"path"},
      .example = "attachments/old.png",
      .effect = Effect::Destructive,
      .wants_consent = [](const Input& in) { return in.permanent && !in.dry_run; },
      .tool_group = "vault_manage",
      .input = {path_field(&Input::path), if_match_field(&Input::if_match),
                expected_sha256_field(&Input::expected_sha256),
                field("permanent", &Input::permanent,
                      "Unlink it instead of moving it to `.trash/`.", optional),
                field("dry_run", &Input::dry_run, "Only show what would happen.", optional)},
      .output = WriteView::fields(),
      .failures = {{Reason::NotFound, "No file has that path."},
                   {Reason::ValidationFailed, "The path is that of a note."},
                   {Reason::EtagMismatch, "The file is no longer at `if_match`."},
                   {Reason::Forbidden, "The path is outside your globs, or hidden from indx."}},
      .handler = run,
  });
}

}  // namespace indx
